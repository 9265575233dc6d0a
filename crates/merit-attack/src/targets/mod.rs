//! The targets: what can be audited.

mod reward;

pub use reward::RewardTarget;
