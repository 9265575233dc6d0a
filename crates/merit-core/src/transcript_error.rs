//! Why a segment cannot join a transcript.

use crate::Provenance;

/// Why a segment cannot be appended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TranscriptError {
    /// A policy segment without one log-probability per token.
    #[error("policy segment of turn {turn} has {tokens} tokens but {logprobs} log-probabilities")]
    LogprobCount { turn: u32, tokens: usize, logprobs: usize },
    /// A log-probability that is positive or not a number.
    #[error(
        "token {at} of the policy segment of turn {turn} has log-probability {value}; it must be finite and at most 0"
    )]
    BadLogprob { turn: u32, at: usize, value: f32 },
    /// Log-probabilities or values on tokens the policy did not choose.
    #[error(
        "a {role} segment of turn {turn} carries log-probabilities, values or a policy version; only policy segments may"
    )]
    NotPolicy { role: &'static str, turn: u32 },
    /// Values that do not match the tokens.
    #[error(
        "policy segment of turn {turn} has {tokens} tokens but {values} values; there must be one each, or none"
    )]
    ValueCount { turn: u32, tokens: usize, values: usize },
    /// A turn number below the last one.
    #[error("a segment of turn {got} cannot follow one of turn {last}: turns only go forward")]
    TurnOrder { last: u32, got: u32 },
    /// A segment of ours that lacks what we always record.
    #[error(
        "the {provenance:?} segment of turn {turn} lacks its {missing}; only imported or synthetic segments may"
    )]
    Absent { turn: u32, missing: &'static str, provenance: Provenance },
    /// A segment that carries what it says it lacks.
    #[error("the segment of turn {turn} is marked as having no {missing}, but carries some")]
    NotAbsent { turn: u32, missing: &'static str },
}
