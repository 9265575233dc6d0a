//! Why a segment cannot join a transcript.

use crate::Provenance;

/// Why a segment cannot be appended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TranscriptError {
    /// A policy segment without one log-probability per token.
    #[error("policy segment of turn {turn} has {tokens} tokens but {logprobs} log-probabilities")]
    LogprobCount {
        /// Turn of the segment.
        turn: u32,
        /// Tokens in it.
        tokens: usize,
        /// Log-probabilities in it.
        logprobs: usize,
    },
    /// A log-probability that is positive or not a number.
    #[error(
        "token {at} of the policy segment of turn {turn} has log-probability {value}; it must be finite and at most 0"
    )]
    BadLogprob {
        /// Turn of the segment.
        turn: u32,
        /// Position within the segment.
        at: usize,
        /// The offending number.
        value: f32,
    },
    /// Log-probabilities or values on tokens the policy did not choose.
    #[error(
        "a {role} segment of turn {turn} carries log-probabilities, values or a policy version; only policy segments may"
    )]
    NotPolicy {
        /// Role of the segment.
        role: &'static str,
        /// Turn of the segment.
        turn: u32,
    },
    /// Values that do not match the tokens.
    #[error(
        "policy segment of turn {turn} has {tokens} tokens but {values} values; there must be one each, or none"
    )]
    ValueCount {
        /// Turn of the segment.
        turn: u32,
        /// Tokens in it.
        tokens: usize,
        /// Values in it.
        values: usize,
    },
    /// A turn number below the last one.
    #[error("a segment of turn {got} cannot follow one of turn {last}: turns only go forward")]
    TurnOrder {
        /// Turn of the last segment.
        last: u32,
        /// Turn of the new one.
        got: u32,
    },
    /// A segment of ours that lacks what we always record.
    #[error(
        "the {provenance:?} segment of turn {turn} lacks its {missing}; only imported or synthetic segments may"
    )]
    Absent {
        /// Turn of the segment.
        turn: u32,
        /// What it lacks.
        missing: &'static str,
        /// How it came to be.
        provenance: Provenance,
    },
    /// A segment that carries what it says it lacks.
    #[error("the segment of turn {turn} is marked as having no {missing}, but carries some")]
    NotAbsent {
        /// Turn of the segment.
        turn: u32,
        /// What it says it lacks.
        missing: &'static str,
    },
}
