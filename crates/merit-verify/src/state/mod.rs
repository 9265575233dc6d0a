//! State: did the world end where it should, and what else was touched on the way?
//!
//! In: JSON states (initial, reached, goal) and a [`StateConfig`]. Out: a canonical form and its hash, a typed
//! [`StateDiff`], and a [`StateVerdict`] that counts the goal's changes achieved and the collateral changes apart, so that
//! doing nothing and trashing everything are both visible. Pure and thread-safe; sizes are bounded by
//! [`Limits`](crate::json::Limits).

mod canonical;
mod config;
mod diff;
mod record;
mod verify;

pub use canonical::StateHash;
pub use config::{GoalKind, StateConfig, StateError, StateScore, Which};
pub use diff::{Change, ChangeKind, StateDiff};
pub use record::StateRecord;
pub use verify::{StateDetail, StateVerdict, StateVerifier};
