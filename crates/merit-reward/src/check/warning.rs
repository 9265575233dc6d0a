//! A finding about a reward: where, how bad, what, why, and what to do.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// A policy that learns from this reward learns the wrong thing.
    Error,
    /// Something in it does not do what it seems to.
    Warning,
    /// Worth knowing; nothing has to be changed.
    Hint,
}

/// What kind of finding it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// A gate that can never open.
    NeverOpens,
    /// A gate that is always open.
    AlwaysOpen,
    /// A veto that can never fall.
    NeverVetoes,
    /// A veto that always falls.
    AlwaysVetoes,
    /// A tier, stage, route or item that can never be reached or passed.
    Unreachable,
    /// A part made of terms that comes to the same value whatever they say.
    Flat,
    /// A term that nothing looks at.
    IdleTerm,
    /// Parts added together of which one can move the sum far more than another.
    ScaleMismatch,
    /// A part without bounds beside bounded ones.
    Unbounded,
    /// A sum over turns that more turns make larger.
    Farmable,
    /// Doing nothing is paid.
    PaysNothing,
    /// What looks like work and is none is paid: a mere call, length, any JSON.
    PaysForShow,
    /// Trying and failing is paid less than not trying.
    PaysToStop,
    /// A term that cannot judge some of the sample episodes, whatever was done in them.
    CannotJudge,
    /// A term that says the same of every sample episode, or nothing of any.
    NeverMoves,
    /// A reward that gives every sample episode the same.
    NoSignal,
}

/// One finding about a reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Place in the expression, e.g. `reward.of[1].then`.
    pub at: String,
    pub severity: Severity,
    /// What kind of finding it is.
    pub kind: WarningKind,
    pub what: String,
    /// The reason, with the numbers it rests on.
    pub why: String,
    /// What to do about it.
    pub advice: String,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Hint => "hint",
        })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, severity, what, why, advice, .. } = self;
        write!(f, "{severity}, at `{at}`: {what} ({why}); {advice}")
    }
}
