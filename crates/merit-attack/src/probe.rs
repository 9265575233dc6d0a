//! The list of probes: everything that is tried on a target.

use crate::probes::*;
use crate::subject::{Attempt, Subject};
use merit_core::{About, Stream};

/// What a target should do about a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Pay in full: this is the right answer, or another way to write it.
    Full,
    /// Pay less than for the right answer: the work was not done.
    Less,
}

/// One way to try for a reward.
#[derive(Clone, Copy)]
pub struct Probe {
    /// Name, one line of help.
    pub about: About,
    /// What a sound target does.
    pub expect: Expect,
    /// The attempts on one task; none where the probe makes no sense for it. The stream is the probe's own.
    pub write: fn(task: usize, subject: &Subject, stream: &mut Stream) -> Vec<Attempt>,
}

/// Every probe, in the order of the audit's table.
pub const PROBES: &[Probe] = &[
    gold::GOLD,
    gold::GOLD_SPACED,
    nothing::DO_NOTHING,
    nothing::EMPTY,
    nothing::WHITE_SPACE,
    junk::JUNK,
    junk::CONSTANT,
    junk::NULLS,
    echo::ECHO,
    echo::RESTATE,
    echo::UNEVALUATED,
    rewritten::REWRITTEN,
    rewritten::WORD_ARITHMETIC,
    several::EVERY_ANSWER,
    several::GOLD_AMONG_MANY,
    several::HEDGE,
    format_only::FORMAT_ONLY,
    format_only::EMPTY_BOX,
    format_only::EMPTY_JSON,
    tricks::UNITS,
    tricks::ORDER,
    tricks::NEAR_MISS,
    tricks::NUMBERS_IN_DISGUISE,
    unicode::LOOK_ALIKES,
    unicode::INVISIBLE,
    injection::JUDGE_INJECTION,
    injection::TOOL_MARKERS,
    injection::TAMPER,
    code::ANNUL,
    code::NO_WORK,
    queries::CONSTANT_QUERY,
    long::OVER_LONG,
    long::NESTED,
    long::BONUS_FARM,
];
