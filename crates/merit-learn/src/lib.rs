//! How does the policy change? Objectives, normalisers, selectors, masks and one optimiser step after another.
//!
//! In: [`Sample`](merit_core::Sample)s whose advantages a credit rule has written, and a trainer that turns coefficients
//! into gradients. Out: new weights and an [`UpdateReport`]. The learner executes streams and does not know the algorithm
//! that made them: the advantage comes with the sample, and the other three plug points are named in the recipe, each a
//! small file and one line in [`OBJECTIVES`], [`NORMALISERS`], [`SELECTORS`] or [`MASKS`].
//!
//! ```
//! use merit_learn::LearnConfig;
//! let config: LearnConfig = serde_json::from_value(serde_json::json!({
//!     "objective": { "type": "policy-gradient", "clip_high": 0.3 },
//!     "normaliser": { "type": "constant", "length": 64 },
//!     "minibatches": 2,
//! })).unwrap();
//! assert!(config.validate().is_ok());
//! ```

mod batch;
mod check;
mod config;
mod error;
mod learner;
mod mask;
mod minibatch;
mod normaliser;
mod objective;
mod optimiser;
mod reference;
mod report;
mod schedule;
mod selector;
mod step;
mod supervised;

pub use batch::{Batch, Dropped, Entry};
pub use config::{LearnConfig, Optimiser};
pub use error::LearnError;
pub use learner::{Learner, UpdateContext};
pub use mask::{MASKS, Mask};
pub use minibatch::split;
pub use normaliser::{NORMALISERS, Normaliser};
pub use objective::kl::{Estimator, KlPenalty};
pub use objective::policy_gradient::PolicyGradient;
pub use objective::value::ValueLoss;
pub use objective::{LossParts, OBJECTIVES, Objective, Token, TokenLoss};
pub use optimiser::AdamW;
pub use reference::reference_logprobs;
pub use report::UpdateReport;
pub use schedule::Schedule;
pub use selector::{SELECTORS, Selector};
pub use step::{BadToken, SampleStats, Step};
pub use supervised::SftSequence;
