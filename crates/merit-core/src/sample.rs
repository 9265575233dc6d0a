//! What the learner sees of one episode: tokens in order, with streams aligned to them.

use crate::{
    CallEnd, End, EpisodeId, InSight, Outcome, PolicyVersion, Provenance, Role, ScoredEpisode, Segment,
    TokenId, Turn, Window,
};
use std::ops::Range;

/// One episode as the learner sees it. Streams have one entry per token.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The episode that it was made of.
    pub episode: EpisodeId,
    /// The policy that chose the tokens.
    pub policy_version: PolicyVersion,
    /// Whether all trainable tokens were sampled by that policy, so that an on-policy loss is right.
    pub on_policy: bool,
    /// Whether a limit of ours cut the episode; masks may leave such samples out.
    pub truncated: bool,
    /// Position of the group in the batch.
    pub group: usize,
    /// All tokens of the episode in order: prompt, answers of tools and world, and what the policy said.
    pub tokens: Vec<TokenId>,
    /// True where the policy chose the token; only these may be trained. False on what was repeated from another episode,
    /// and everywhere when the outcome does not count, or is one of a branch that was left and the rule compares no turns.
    pub mask: Vec<bool>,
    /// True where a tool or the world answered the policy. Only an ablation trains these tokens.
    pub observed: Vec<bool>,
    /// Log-probability of each token under the policy version that chose it; 0 outside the mask.
    pub logprobs: Vec<f32>,
    /// Value before each token was chosen; empty when the policy has no value head.
    pub values: Vec<f32>,
    /// Trainable tokens of each turn, as ranges over `tokens`.
    pub turns: Vec<Range<usize>>,
    /// For each turn whether it made calls and all of them were refused.
    pub refused: Vec<bool>,
    /// Trainable tokens that were put where they stand after they were sampled elsewhere. Their log-probabilities are of another
    /// context until they are scored again.
    pub spliced: Vec<Range<usize>>,
    /// Absent until a credit rule has run; the learner rejects a sample without it.
    pub advantages: Option<Vec<f32>>,
    /// Targets of the value head. Absent: the credit rule fits no values.
    pub returns: Option<Vec<f32>>,
    /// The reward of the episode. Absent: the outcome does not count.
    pub reward: Option<f64>,
    /// What the policy had in sight in each turn. Absent: everything before it.
    pub window: Option<Window>,
    /// How much the sample counts in the loss; 1 unless a selector changed it, 0 leaves it out.
    pub weight: f32,
}

/// Why an episode has no sample.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SampleError {
    /// The record lacks what training needs, and nothing may be made up for it.
    #[error(
        "episode {episode} cannot be trained on: its record has no {missing}; it can be scored and shown, but to learn from its task run it again here"
    )]
    Incomplete { episode: EpisodeId, missing: &'static str },
}

impl Sample {
    /// The sample of a scored episode, before credit. Refuses an episode whose record is not complete.
    ///
    /// ```
    /// use merit_core::{End, Episode, EpisodeId, Known, PolicyVersion, Provenance, Reward, Role, Sample, Score, ScoredEpisode, Segment, Task, TokenId, Transcript};
    /// let of = |role, token| Segment { tokens: vec![TokenId(token)], known: Known::Full, ..Segment::of_text(role, Provenance::Sampled, 0, "") };
    /// let mut transcript = Transcript::default();
    /// transcript.append(of(Role::User, 5))?;
    /// transcript.append(Segment { logprobs: vec![-0.5], policy_version: Some(PolicyVersion(0)), ..of(Role::Policy, 7) })?;
    /// let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
    /// let episode = Episode::new(id, Task::new("quiz", "quiz/1"), End::Answered).with_transcript(transcript);
    /// let score = Some(Score::new(Reward::Value { value: 1.0 }).with_solved(Some(true)));
    /// let sample = Sample::of(&ScoredEpisode { episode: episode.into(), score }, 0)?;
    /// assert_eq!((sample.tokens, sample.mask), (vec![TokenId(5), TokenId(7)], vec![false, true]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(scored: &ScoredEpisode, group: usize) -> Result<Self, SampleError> {
        Self::made(scored, group, scored.outcome().is_valid())
    }

    /// The same for rules that compare turns: a branch that was left is trained too.
    pub fn of_turns(scored: &ScoredEpisode, group: usize) -> Result<Self, SampleError> {
        let outcome = scored.outcome();
        Self::made(scored, group, outcome.is_valid() || outcome == Outcome::Left)
    }

    fn made(scored: &ScoredEpisode, group: usize, counts: bool) -> Result<Self, SampleError> {
        let episode = &scored.episode;
        let transcript = &episode.transcript;
        if let Some(missing) = transcript.missing() {
            return Err(SampleError::Incomplete { episode: episode.id.clone(), missing });
        }
        // What a fork keeps of its trunk is trained with the trunk: a shared prefix counts once.
        let own = |s: &Segment| s.role.trainable() && s.provenance != Provenance::Replayed;
        let mask: Vec<bool> = transcript
            .segments()
            .iter()
            .flat_map(|s| std::iter::repeat_n(own(s) && counts, s.tokens.len()))
            .collect();
        let sampled_now =
            |s: &Segment| s.provenance.on_policy() && s.policy_version == Some(episode.policy_version);
        let has_values = transcript.segments().iter().any(|s| !s.values.is_empty());
        Ok(Self {
            episode: episode.id.clone(),
            policy_version: episode.policy_version,
            on_policy: transcript.segments().iter().all(|s| !own(s) || sampled_now(s)),
            truncated: matches!(episode.end, End::Truncated { .. }),
            group,
            tokens: transcript.tokens(),
            logprobs: transcript.logprobs(),
            values: if has_values { transcript.values() } else { Vec::new() },
            turns: turn_ranges(scored, |_| true),
            refused: refused(scored),
            spliced: turn_ranges(scored, |s| counts && s.provenance == Provenance::Spliced),
            observed: observed(transcript.segments()),
            mask,
            advantages: None,
            returns: None,
            reward: scored.reward(),
            window: episode.window,
            weight: 1.0,
        })
    }

    /// Its turns one by one, each as a sample of its own with what it was sampled from. Empty: it was sampled from everything before.
    pub fn turns_in_sight(&self) -> Vec<(Self, InSight)> {
        let cut = self.window.map(|window| window.cut(&self.turns)).unwrap_or_default();
        let turn = |sight: InSight| {
            let piece = Self {
                tokens: sight.of(&self.tokens),
                mask: sight.own_mask(&self.mask),
                observed: sight.of(&self.observed),
                logprobs: sight.of(&self.logprobs),
                values: sight.of(&self.values),
                turns: std::iter::once(sight.own.clone()).collect(),
                refused: Vec::new(),
                spliced: Vec::new(),
                advantages: self.advantages.as_ref().map(|stream| sight.of(stream)),
                returns: self.returns.as_ref().map(|stream| sight.of(stream)),
                ..self.clone()
            };
            (piece, sight)
        };
        cut.into_iter().map(turn).collect()
    }

    /// How many tokens may be trained.
    pub fn trainable(&self) -> usize {
        self.mask.iter().filter(|&&m| m).count()
    }
}

/// What tools and the world said after the policy's first token.
fn observed(segments: &[Segment]) -> Vec<bool> {
    let opening = segments.iter().position(|s| s.role.trainable()).unwrap_or(segments.len());
    let answers = |(at, s): (usize, &Segment)| {
        let answer = at > opening && matches!(s.role, Role::Tool | Role::Environment);
        std::iter::repeat_n(answer, s.tokens.len())
    };
    segments.iter().enumerate().flat_map(answers).collect()
}

/// Turns whose calls were all refused.
fn refused(scored: &ScoredEpisode) -> Vec<bool> {
    let refused =
        |turn: &Turn| !turn.calls.is_empty() && turn.calls.iter().all(|call| call.end == CallEnd::Refused);
    scored.episode.turns.iter().map(refused).collect()
}

/// The ranges of the policy's segments that `wanted` takes.
fn turn_ranges(scored: &ScoredEpisode, wanted: impl Fn(&Segment) -> bool) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut ranges = Vec::new();
    for segment in scored.episode.transcript.segments() {
        let end = start + segment.tokens.len();
        if segment.role.trainable() && wanted(segment) {
            ranges.push(start..end);
        }
        start = end;
    }
    ranges
}
