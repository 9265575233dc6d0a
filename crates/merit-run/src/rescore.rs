//! Scoring recorded episodes again, with another reward or the same one: batch by batch, as training would have.
//!
//! A batch is the episodes of one phase and step. What a reward keeps between steps is carried along the steps of a training
//! phase; an evaluation reads what its arm had kept by then; everything else starts empty.

use crate::kept_state::with_kept_state;
use merit_core::{Annotations, Episode, Phase, PolicyVersion, ScoredEpisode, Seed};
use merit_reward::{RewardState, ScoreContext, ScoredTogether, Scorer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What scoring depends on besides reward and episodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rescoring {
    /// The run's seed, for error rates.
    pub seed: u64,
    /// The learner's discount, for shaping.
    pub discount: f64,
}

/// Episodes that were scored together, and all that is needed to explain one of them.
#[derive(Debug, Clone)]
pub struct RescoredBatch {
    /// The step and what else the reward could see.
    pub context: ScoreContext,
    /// What the reward had kept by then.
    pub state: RewardState,
    /// What was said of the episodes when they were recorded.
    pub annotations: Arc<Annotations>,
    /// The episodes with their new scores.
    pub scored: Vec<ScoredEpisode>,
}

impl RescoredBatch {
    /// The batch as the reward's summary takes it.
    pub fn together(&self) -> ScoredTogether<'_> {
        ScoredTogether { context: &self.context, state: &self.state, scored: self.scored.iter().collect() }
    }

    /// The explanation of the `at`-th episode.
    pub fn explain(&self, scorer: &Scorer, at: usize) -> String {
        let episodes: Vec<Arc<Episode>> = self.scored.iter().map(|s| Arc::clone(&s.episode)).collect();
        scorer.explain_annotated(&episodes, at, &self.annotations, &self.context, &self.state)
    }
}

/// The context of a step of a run with this seed.
pub(crate) fn context(seed: &Seed, step: u64, discount: f64) -> ScoreContext {
    ScoreContext { step, version: PolicyVersion(step), seed: seed.child("reward", 0).as_u64(), discount }
}

/// Scores `episodes`, whatever their order; batches come in the order of phase and step. No judge is asked again: `annotations` are
/// those that were recorded.
///
/// ```
/// use merit_core::{Action, Annotations, End, Episode, EpisodeId, Task, Turn};
/// use merit_reward::{RewardConfig, Scorer};
/// use merit_run::{Rescoring, rescore};
/// let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
/// let turn = Turn::new(0, Action::Answer { text: "42".into() });
/// let episode = Episode::new(id, Task::new("quiz", "quiz/1").with_answer("42"), End::Answered).with_turns(vec![turn]);
/// let scorer = Scorer::compile(&RewardConfig::from_toml("type = \"exact-answer\"")?)?;
/// let how = Rescoring { seed: 1, discount: 1.0 };
/// let batches = rescore(&scorer, &[episode.into()], Annotations::new(), &how);
/// assert_eq!(batches[0].scored[0].reward(), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rescore(
    scorer: &Scorer,
    episodes: &[Arc<Episode>],
    annotations: Annotations,
    how: &Rescoring,
) -> Vec<RescoredBatch> {
    let annotations = Arc::new(annotations);
    let mut batches: BTreeMap<(&Phase, u64), Vec<Arc<Episode>>> = BTreeMap::new();
    for episode in episodes {
        let key = (&episode.id.phase, episode.id.step);
        batches.entry(key).or_default().push(Arc::clone(episode));
    }
    let seed = Seed::root(how.seed);
    let mut kept: BTreeMap<&Phase, RewardState> = BTreeMap::new();
    let mut rescored = Vec::with_capacity(batches.len());
    for ((phase, step), episodes) in batches {
        let state = kept.get(phase).cloned().unwrap_or_default();
        let context = context(&seed, step, how.discount);
        let batch = scorer.score_annotated(&episodes, &annotations, &context, &state);
        if phase.is_train() {
            kept.insert(phase, batch.state);
        }
        let annotations = Arc::clone(&annotations);
        rescored.push(RescoredBatch { context, state, annotations, scored: batch.episodes });
    }
    with_kept_state(scorer, &mut rescored);
    rescored
}
