//! Discounted returns `G_t = r_t + gamma · G_{t+1}` over trainable entries, whitened over the batch.

use super::backwards::Backwards;
use super::{Moments, Rows, same_len};
use crate::CreditError;

/// Writes the whitened return of each trainable entry, and 0 on the others. `rewards` has one entry per stream entry. The
/// moments are those of the returns before whitening.
pub fn whitened_returns<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    rewards: &[R],
    gamma: f64,
    out: &mut [f32],
) -> Result<Moments, CreditError> {
    same_len("rewards", rewards.len(), rows.mask().len())?;
    same_len("out", out.len(), rows.mask().len())?;
    out.fill(0.0);
    let reward = |at: usize| rewards[at].into();
    let recursion = Backwards { rows, reward, value: |_| 0.0, last_value: |_| 0.0, gamma, lambda: 1.0 };
    let moments = recursion.moments(|_, _, _| {});
    let whitener = moments.whitener();
    recursion.each(|at, here, _| out[at] = whitener.of(here));
    Ok(moments)
}
