//! Discounted returns, backwards over trainable entries: `G_t = r_t + gamma · G_{t+1}`, skipping what the policy did not
//! choose.

use super::{Rows, same_len};
use crate::CreditError;

/// Writes the return of each trainable entry, and 0 on the others. `rewards` has one entry per stream entry.
pub fn discounted_returns<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    rewards: &[R],
    gamma: f64,
    out: &mut [f64],
) -> Result<(), CreditError> {
    same_len("rewards", rewards.len(), rows.mask().len())?;
    same_len("out", out.len(), rows.mask().len())?;
    out.fill(0.0);
    for row in 0..rows.len() {
        let mut next = 0.0;
        for at in rows.trainable_span(row).rev().filter(|&at| rows.mask()[at]) {
            next = rewards[at].into() + gamma * next;
            out[at] = next;
        }
    }
    Ok(())
}
