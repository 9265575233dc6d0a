//! Why a reward cannot be compiled: where in the expression, what is wrong, what to do.

use merit_core::registry::nearest;

/// A reward expression that cannot work.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("reward, at `{at}`: {problem}")]
pub struct RewardError {
    /// Place in the expression, e.g. `reward.of[1].then`.
    pub at: String,
    pub problem: Problem,
}

/// What can be wrong with a reward expression.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    #[error("there are two terms called `{name}`; give one of them another `name`")]
    DuplicateName { name: String },
    #[error("`name` is empty; leave it out to use the term's type")]
    EmptyName,
    /// A combinator with nothing to combine.
    #[error("`{combinator}` has no parts; list at least one in `of`")]
    Empty { combinator: &'static str },
    /// Something named that is nowhere in the reward: a term, an item, an axis.
    #[error("there is no {kind} `{name}` in this reward{}", hint(.nearest))]
    NoSuch {
        kind: &'static str,
        name: String,
        /// The most similar known name, when one is similar at all.
        nearest: Option<String>,
    },
    /// A number that is infinite or not a number.
    #[error("`{field}` is {value}; it must be finite")]
    NotFinite { field: &'static str, value: f64 },
    /// Bounds the wrong way round.
    #[error("`low` is {low}, above `high`, {high}; swap them")]
    Bounds { low: f64, high: f64 },
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
    Threshold { given: usize },
    /// Error rates on a term that gives no verdict.
    #[error("`errors` makes verdicts wrong now and then, and `{term}` gives none; remove it")]
    NoVerdict { term: &'static str },
    /// A parse-failure path on a term that parses nothing.
    #[error(
        "`on_parse_failure` is for terms that read what the policy wrote, and `{term}` cannot fail to; remove it"
    )]
    NoParse { term: &'static str },
    /// A number that is no share or probability.
    #[error("`{field}` is {value}; it must be between 0 and 1")]
    NotAShare { field: &'static str, value: f64 },
    /// A number that must be positive.
    #[error("`{field}` is {value}; it must be above 0")]
    NotPositive { field: &'static str, value: f64 },
    /// A part that compares episodes, inside one that looks at single turns.
    #[error("`{combinator}` looks at whole episodes; it cannot stand inside `per-turn`")]
    InsideTurns { combinator: &'static str },
    /// A list that must be as long as another.
    #[error("`{field}` has {got} entries for {want} parts; give one for each")]
    Count { field: &'static str, got: usize, want: usize },
    /// Anything a single component refuses, in its own words.
    #[error("{0}")]
    Setting(String),
    /// `solved-by` inside something else.
    #[error("`solved-by` speaks for the whole reward; put it outermost")]
    SolvedByInside,
}

impl Problem {
    /// `name` is none of `known`.
    pub fn no_such<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self::NoSuch { kind, name: name.to_owned(), nearest: nearest(name, known) }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
