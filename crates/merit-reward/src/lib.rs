//! How good was it, and why? Terms and the reward algebra.
//!
//! In: a [`RewardConfig`], which is an expression over terms, and episodes. Out: for each episode a `Score` with every
//! term, its evidence and what the whole expression came to. [`Scorer::compile`] refuses expressions that cannot work;
//! scoring never fails and never panics: a term that breaks is a recorded outcome. Pure; knows nothing of credit.
//!
//! What a part of an expression can come to, and how it travels upwards:
//!
//! | a part is | in a sum or product | as the `when` of a gate | as the `when` of a veto | at the top |
//! |---|---|---|---|---|
//! | a number | enters | decides | decides | the reward |
//! | not applicable | is left out; if every part is, the whole is | the gate is not applicable | no veto | unscorable |
//! | unscorable | the whole is | the gate is | the veto is | unscorable |
//! | broken | the whole is | the gate is | the veto is | grader failed |
//!
//! A branch that is not taken says nothing, except that a broken term is never hidden: a grader that fails anywhere makes
//! the reward `GraderFailed`. A parse failure stays a `ParseFailure` in the score and enters the expression by the path
//! its term names ([`ParseFailurePath`]). A number that is not finite is a broken grader.
//!
//! A term that looks at turns and stands plainly in the outermost sum is also paid by turn: its weighted value goes to the
//! turns in proportion to what it found there (`Score::turn_rewards`). Everything else is paid at the end.
//!
//! ```
//! use merit_reward::{RewardConfig, Scorer};
//! let config: RewardConfig = toml::from_str(r#"
//!     type = "sum"
//!     of = [
//!         { type = "exact-answer", weight = 2.0 },
//!         { type = "gate", when = "exact-answer", at_least = 1, then = { type = "tool-success", weight = 0.5 } },
//!     ]
//! "#)?;
//! let scorer = Scorer::compile(&config)?;
//! assert_eq!(scorer.term_names(), ["exact-answer", "tool-success"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod broken_terms;
mod check;
mod combinators;
mod compile;
mod condition;
mod config;
pub mod conformance;
mod error;
mod errors;
mod explanation;
mod expression;
mod range;
mod scorer;
mod shipped;
mod state;
mod summary;
pub mod tabular;
mod term;
mod terms;
mod trace;
mod worth;

pub use check::{FindingKind, Severity, Warning, check, check_with};
pub use combinators::*;
pub use condition::Condition;
pub use config::{AWAITED_TERMS, COMBINATORS, Component, RewardConfig, TERMS};
pub use error::{Problem, RewardError};
pub use errors::ErrorRates;
pub use range::Range;
pub use scorer::{ScoreContext, ScoredBatch, Scorer};
pub use shipped::{REWARDS, ShippedReward, shipped};
pub use state::RewardState;
pub use summary::TermSummary;
pub use term::ParseFailurePath;
pub use terms::*;
