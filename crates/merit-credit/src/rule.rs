//! The seam of a credit rule.

use crate::{Credit, CreditBatch, CreditError, Properties};
use merit_core::registry::Kind;

/// What a rule needs besides scored groups. The driver provides it, and a batch that lacks it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// The values of a value head, for which the rule writes targets.
    pub values: bool,
    /// This many continuations from every turn of every valid episode, in [`CreditBatch::probes`]. 0: none.
    pub probes_per_turn: u32,
    /// What somebody must have been asked of every valid episode, in [`CreditBatch::annotations`].
    pub annotations: Vec<AnnotationNeed>,
    /// Infos of turns by which it compares them.
    pub infos: Vec<String>,
}

impl Needs {
    /// What arrays of tokens, rewards and groups cannot hold of it, in words. Values they can.
    pub fn beyond_arrays(&self) -> Vec<String> {
        let probes = (self.probes_per_turn > 0).then(|| "continuations from every turn".to_owned());
        let annotations = self.annotations.iter().map(|need| format!("the annotation `{}`", need.name));
        let infos = self.infos.iter().map(|info| format!("the info `{info}` of turns"));
        probes.into_iter().chain(annotations).chain(infos).collect()
    }
}

/// An annotation that a rule reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotationNeed {
    pub name: String,
    /// It reads what is said of each turn; else what is said of the whole episode.
    pub per_turn: bool,
}

/// Turns scored groups into samples with advantages. The driver calls `assign` once per batch; pure.
pub trait CreditRule: Send + Sync {
    /// What holds for the credit it writes. Conformance holds it to that, and recipes that cannot work with it are refused by it.
    fn properties(&self) -> Properties;

    /// What it needs besides scored groups.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The discount of its returns, per token; 1 where the rule discounts nothing.
    fn discount(&self) -> f64 {
        1.0
    }

    /// Whether it learns from branches that were left: it holds turns against turns, and what theirs was paid is known.
    fn trains_left(&self) -> bool {
        false
    }

    /// One sample per episode, in the order of the groups and of their members.
    ///
    /// ```
    /// # use merit_core::{End, Episode, EpisodeId, Known, PolicyVersion, Provenance, Reward, Role, Score, ScoredEpisode, Segment, Task, TokenId, Transcript};
    /// use merit_core::{Chosen, Components, Group};
    /// use merit_credit::{CreditBatch, CreditRule};
    /// # let member = |member, value| {
    /// #     let said = Segment::of_text(Role::Policy, Provenance::Sampled, 0, "");
    /// #     let said = Segment { tokens: vec![TokenId(7)], logprobs: vec![-0.5], policy_version: Some(PolicyVersion(0)), known: Known::Full, ..said };
    /// #     let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member, branch: 0 };
    /// #     let transcript = Transcript::try_from(vec![said]).expect("one segment");
    /// #     let episode = Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_transcript(transcript).into();
    /// #     ScoredEpisode { episode, score: Some(Score::new(Reward::Value { value }).with_solved(Some(value == 1.0))) }
    /// # };
    /// let components = merit_credit::register(Components::default());
    /// let rule: Chosen<dyn CreditRule> = components.reading(|| toml::from_str("type = \"grpo\"\nscale_by_std = false"))?;
    /// // Two episodes of one token each, with the rewards 1 and 0.
    /// let group = Group::assemble(vec![member(0, 1.0), member(1, 0.0)])?;
    /// let credit = rule.assign(&CreditBatch::new(&[group]))?;
    /// assert_eq!(credit.samples[0].advantages, Some(vec![0.5]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn assign(&self, batch: &CreditBatch<'_>) -> Result<Credit, CreditError>;
}

impl Kind for dyn CreditRule {
    const KIND: &'static str = "credit rule";
}
