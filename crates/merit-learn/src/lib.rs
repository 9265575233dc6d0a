//! How does the policy change? Objectives, loss aggregation, selectors, masks and one optimiser step after another.
//!
//! In: [`Sample`](merit_core::Sample)s with what the objective needs (advantages of a credit rule, rewards, a reference policy),
//! and a [`Trainer`](merit_api::trainer::Trainer) that turns coefficients into gradients. Out: new weights and an
//! [`UpdateReport`]. The learner executes streams and does not know the algorithm that made them. Four kinds of component are
//! named in the recipe: [`OBJECTIVES`], [`LOSS_AGGS`], [`SELECTORS`] and [`MASKS`]; a caller may add its own.
//!
//! ```
//! use merit_core::registry::Components;
//! let components = merit_learn::register(Components::default());
//! let text = r#"
//!     objective = { type = "policy-gradient", clip_high = 0.3 }
//!     loss_agg = { type = "constant", length = 64 }
//!     minibatches = 2
//! "#;
//! let config: merit_learn::LearnConfig = components.reading(|| toml::from_str(text))?;
//! assert!(config.validate().is_ok());
//! # Ok::<(), toml::de::Error>(())
//! ```

mod batch;
mod check;
mod coefficients;
mod config;
mod error;
mod learner;
mod loss_agg;
mod mask;
mod minibatch;
mod mismatched;
mod objective;
mod observed;
mod optimiser;
mod report;
mod rescored;
mod schedule;
mod selector;
mod step;
mod supervised;
mod windowed;

pub use batch::{Batch, Dropped, Entry};
pub use coefficients::{BatchLoss, coefficients};
pub use config::{LearnConfig, Optimiser};
pub use error::LearnError;
pub use learner::{Learner, UpdateContext};
pub use loss_agg::{ConstantLength, LOSS_AGGS, LossAgg, SequenceMean, TokenBudget, TokenMean};
pub use mask::{DropTruncated, LastTurn, MASKS, Mask, NoRefusedTurns, PolicyTokens, TrainOnObservations};
pub use minibatch::split;
pub use objective::entropy::{Against, EntropyBand};
pub use objective::kl::{Estimator, KlPenalty};
pub use objective::mixed_policy::{MixedPolicy, Shift};
pub use objective::value::ValueLoss;
pub use objective::{
    Average, Dpo, Gspo, Kto, LossParts, Member, Needs, OBJECTIVES, Objective, PolicyGradient, Recorded,
    Scope, SequenceLoss, Sft, TokenLoss, Undeclared, Unit,
};
pub use optimiser::AdamW;
pub use report::UpdateReport;
pub use schedule::Schedule;
pub use selector::{All, Candidate, DropConstantGroups, PositiveCredit, SELECTORS, Selector};
pub use step::{BadToken, SampleStats};
pub use supervised::SftSequence;

/// Adds every objective, loss aggregation, selector and mask to `components`.
pub fn register(components: merit_core::registry::Components) -> merit_core::registry::Components {
    components.with_all(OBJECTIVES).with_all(LOSS_AGGS).with_all(SELECTORS).with_all(MASKS)
}
