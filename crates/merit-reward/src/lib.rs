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
//! Means, tiers, stages and ensembles treat their parts as a sum does; each combinator's file says where it departs.
//!
//! A branch that is not taken says nothing, except that a broken term is never hidden: a grader that fails anywhere makes
//! the reward `GraderFailed`. A parse failure stays a `ParseFailure` in the score and enters the expression by the path
//! its term names ([`ParseFailurePath`]). A number that is not finite is a broken grader.
//!
//! Part of a reward may be paid by turn (`Score::turn_rewards`); the rest is paid at the end. A term that looks at turns has
//! its weighted value go to the turns in proportion to what it found there. `sum`, `lexicographic`, `staged`, `router`,
//! `schedule`, `blend`, `pareto`, `gain`, `team` and an `ensemble` by mean hand on what their parts pay by turn; `per-turn`,
//! `shaping` and a `checklist` with `payout = "turn"` pay by turn themselves; what stands inside any other combinator is paid
//! at the end. Where an outcome decides whether there is a reward at all, it was not known at the turn.
//!
//! A batch is scored together ([`Scorer::score_batch`]): parts may compare the members of a group or the whole batch, and
//! may keep numbers from step to step in a [`RewardState`], which scoring reads and hands back renewed. [`check()`] looks for
//! what is wrong with a reward before anybody learns from it.
//!
//! Terms and combinators are settings structs in the open lists [`TERMS`] and [`COMBINATORS`]; [`prelude`] has what a new one
//! is written with, here or in any other crate. This crate is light: terms that need a verifier are in merit-graders.
//!
//! ```
//! use merit_reward::{RewardConfig, Scorer};
//! let config: RewardConfig = RewardConfig::from_toml(r#"
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

mod check;
pub mod combinators;
mod compile;
mod condition;
mod config;
pub mod conformance;
mod error;
mod error_rates;
mod explanation;
mod expression;
mod learning_speed;
pub mod prelude;
mod range;
mod run_term;
mod scorer;
mod shipped;
mod state;
mod summary;
mod term;
pub mod terms;
mod trace;
mod value;

pub use check::{Severity, Warning, WarningKind, check, check_with};
pub use combinators::COMBINATORS;
pub use condition::Condition;
pub use config::{RewardConfig, register};
pub use error::{Problem, RewardError};
pub use error_rates::ErrorRates;
pub use learning_speed::SpeedWeights;
pub use range::Range;
pub use scorer::{ScoreContext, ScoredBatch, Scorer};
pub use shipped::{REWARDS, ShippedReward, shipped};
pub use state::RewardState;
pub use summary::{ScoredTogether, TermSummary};
pub use term::{AnnotationNeed, CommonSettings, ParseFailurePath, Term, TermKind};
pub use terms::TERMS;
