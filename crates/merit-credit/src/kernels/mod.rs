//! The arithmetic of credit over flat arrays: no episodes, no allocation of outputs, sums in `f64`.
//!
//! Rows lie one after another in flat streams; [`Rows`] says where each begins and which entries may carry credit. A padded
//! rectangle is the case of equal bounds. Rules call these, and so may anybody who has arrays and wants advantages.

mod gae;
mod group;
mod returns;
mod rows;
mod whiten;

pub use gae::{Discount, gae};
pub use group::{
    GroupNorm, GroupStats, STD_EPSILON, constant, group_advantages, grpo_advantages, rloo_advantages,
};
pub use returns::discounted_returns;
pub use rows::{Rows, narrow, row_sums, spread};
pub use whiten::{Moments, VARIANCE_EPSILON, whiten};

/// Fails unless `got` is `want`.
pub(crate) fn same_len(what: &'static str, got: usize, want: usize) -> Result<(), crate::CreditError> {
    if got == want { Ok(()) } else { Err(crate::CreditError::Shape { what, got, want }) }
}
