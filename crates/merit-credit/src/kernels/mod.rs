//! The arithmetic of credit over flat arrays: no episodes, no allocation of outputs, sums in `f64`.
//!
//! Rows lie one after another in flat streams; [`Rows`] says where each begins and which entries may carry credit. A padded
//! rectangle is the case of equal bounds. Rules call these, and so may anybody who has arrays and wants advantages.

mod dense;
mod gae;
mod group;
mod moments;
mod returns;
mod rows;

pub use gae::{Discount, Valued, gae, gae_whitened};
pub use group::{Compared, GroupStats, STD_EPSILON, group_advantages, leave_one_out, mean, mean_std};
pub use moments::{Moments, VARIANCE_EPSILON, Whitener};
pub use returns::whitened_returns;
pub use rows::{Rows, spread};

/// Fails unless `got` is `want`.
pub(crate) fn same_len(what: &'static str, got: usize, want: usize) -> Result<(), crate::CreditError> {
    if got == want { Ok(()) } else { Err(crate::CreditError::Shape { what, got, want }) }
}
