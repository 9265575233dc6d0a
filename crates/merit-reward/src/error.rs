//! Why a reward cannot be compiled: where in the expression, what is wrong, what to do.

use merit_core::registry::UnknownName;

/// A reward expression that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("reward, at `{at}`: {problem}")]
pub struct RewardError {
    /// Place in the expression, e.g. `reward.of[1].then`.
    pub at: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What can be wrong with a reward expression.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// Two terms of one name.
    #[error("there are two terms called `{name}`; give one of them another `name`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A term without a name.
    #[error("`name` is empty; leave it out to use the term's type")]
    EmptyName,
    /// A combinator with nothing to combine.
    #[error("`{combinator}` has no parts; list at least one in `of`")]
    Empty {
        /// The combinator.
        combinator: &'static str,
    },
    /// A term named that is nowhere in the expression.
    #[error(transparent)]
    UnknownTerm(#[from] UnknownName),
    /// A number that is infinite or not a number.
    #[error("`{field}` is {value}; it must be finite")]
    NotFinite {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A number that must not be negative.
    #[error("`{field}` is {value}; it must be at least 0, since the term already takes it away")]
    Negative {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// Bounds the wrong way round.
    #[error("`low` is {low}, above `high`, {high}; swap them")]
    Bounds {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// Steps the wrong way round.
    #[error("`start_step` is {start}, after `end_step`, {end}; swap them and `from` and `to`")]
    Steps {
        /// First step of the slope.
        start: u64,
        /// Last step of the slope.
        end: u64,
    },
    /// A veto that does not say when it falls.
    #[error("a veto needs exactly one of `below`, `at_most`, `above`, `at_least`; {given} are given")]
    Threshold {
        /// How many were given.
        given: usize,
    },
    /// A cap that leaves nothing to count.
    #[error("`max_calls` is 0, so that no call could ever count; leave it out or give at least 1")]
    NoCalls,
    /// `solved-by` inside something else.
    #[error("`solved-by` speaks for the whole reward; put it outermost")]
    SolvedByInside,
}
