//! What the store gives back: plain rows.

use merit_core::{EpisodeId, Outcome, Phase, PolicyVersion, ScoredEpisode};

/// An episode as it was recorded, with its score and credit.
#[derive(Debug, Clone)]
pub struct StoredEpisode {
    /// The episode and what the reward said of it.
    pub scored: ScoredEpisode,
    /// Absent: no credit rule has seen it.
    pub credit: Option<CreditRow>,
}

/// What a credit rule gave to one episode.
#[derive(Debug, Clone, PartialEq)]
pub struct CreditRow {
    pub episode: EpisodeId,
    /// One per token of the transcript; 0 where the policy did not choose.
    pub advantages: Vec<f32>,
    /// How it came about, for people; may be empty.
    pub note: String,
}

/// The head of an episode, cheap to read by the thousand.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRow {
    pub id: EpisodeId,
    /// The policy that acted.
    pub policy_version: PolicyVersion,
    pub task_id: String,
    pub size: u32,
    pub outcome: Outcome,
    /// The reward to learn from. Absent: the outcome does not count.
    pub reward: Option<f64>,
    /// Whether the task was solved. Absent: the reward cannot tell.
    pub solved: Option<bool>,
    /// How it ended, in words.
    pub end: String,
    pub turns: u32,
    pub tool_calls: u64,
    /// Tokens the policy sampled. Absent: they were not counted.
    pub policy_tokens: Option<u64>,
}

/// One term of one score.
#[derive(Debug, Clone, PartialEq)]
pub struct TermRow {
    pub episode: EpisodeId,
    pub term: String,
    /// Absent: the term gave no number.
    pub value: Option<f64>,
    /// `value`, `not-applicable`, `parse-failure` or `grader-failed`.
    pub outcome: String,
    /// The weight it entered with.
    pub weight: f64,
}

/// A number measured at one step of one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// `train`, `warm`, `eval-after`…
    pub phase: Phase,
    pub step: u64,
    /// Name of the metric, as `success`.
    pub name: String,
    /// The number; NaN when what was measured was not one.
    pub value: f64,
}

impl Metric {
    /// Whether it was read off a clock: then it differs from run to run, and nothing that is computed depends on it.
    pub fn by_clock(&self) -> bool {
        self.name == "tokens_per_s" || self.name.starts_with("seconds/")
    }
}

/// Something that happened to the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Unix time in milliseconds.
    pub time_ms: u64,
    /// A short word: `started`, `resumed`, `stopped`, `damaged-checkpoint`…
    pub kind: String,
    pub text: String,
}

/// Which episodes to read; an absent field means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    pub phase: Option<Phase>,
    pub step: Option<u64>,
    pub group: Option<u32>,
    pub task_id: Option<String>,
}

impl EpisodeFilter {
    pub fn phase(phase: impl Into<Phase>) -> Self {
        Self { phase: Some(phase.into()), ..Self::default() }
    }

    /// All episodes of one step of a phase.
    pub fn step(phase: impl Into<Phase>, step: u64) -> Self {
        Self { step: Some(step), ..Self::phase(phase) }
    }

    /// All members of one group.
    pub fn group(phase: impl Into<Phase>, step: u64, group: u32) -> Self {
        Self { group: Some(group), ..Self::step(phase, step) }
    }
}
