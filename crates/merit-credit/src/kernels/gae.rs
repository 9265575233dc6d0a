//! Generalized advantage estimation (Schulman et al., arXiv:1506.02438), backwards over trainable entries:
//!   delta_t = r_t + gamma · V_{t+1} − V_t
//!   adv_t   = delta_t + gamma · lambda · adv_{t+1}
//! where t + 1 is the next trainable entry: what the policy did not choose is skipped as if it were not there. After the last
//! trainable entry V is the row's last value: 0 for a real end, the bootstrap for a truncated row.

use super::{Rows, same_len};
use crate::CreditError;
use std::ops::Range;

/// The two factors of the estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discount {
    /// How much the next token's value counts.
    pub gamma: f64,
    /// How far the sum looks ahead: 0 is one step, 1 is to the end.
    pub lambda: f64,
}

/// Rows that go through the recursion side by side: each step of one row waits for the step before, so that one row alone
/// leaves the processor idle.
const SIDE_BY_SIDE: usize = 8;

/// Writes advantages (in `f64`, before whitening) and returns (advantage + value), with 0 on entries that are not trainable.
/// `rewards` and `values` have one entry per stream entry, `last_values` one per row.
pub fn gae<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    rewards: &[R],
    values: &[f32],
    last_values: &[f64],
    discount: Discount,
    advantages: &mut [f64],
    returns: &mut [f32],
) -> Result<(), CreditError> {
    let want = rows.mask().len();
    same_len("rewards", rewards.len(), want)?;
    same_len("values", values.len(), want)?;
    same_len("last_values", last_values.len(), rows.len())?;
    same_len("advantages", advantages.len(), want)?;
    same_len("returns", returns.len(), want)?;
    advantages.fill(0.0);
    returns.fill(0.0);
    let mut streams = Streams { mask: rows.mask(), rewards, values, discount, advantages, returns };
    let blocks = rows.len() / SIDE_BY_SIDE * SIDE_BY_SIDE;
    for first in (0..blocks).step_by(SIDE_BY_SIDE) {
        streams.walk::<SIDE_BY_SIDE>(rows, first, last_values);
    }
    for row in blocks..rows.len() {
        streams.walk::<1>(rows, row, last_values);
    }
    Ok(())
}

struct Streams<'a, R> {
    mask: &'a [bool],
    rewards: &'a [R],
    values: &'a [f32],
    discount: Discount,
    advantages: &'a mut [f64],
    returns: &'a mut [f32],
}

impl<R: Copy + Into<f64>> Streams<'_, R> {
    /// `N` rows from `first` on, side by side from their last trainable entries for as long as all of them last.
    fn walk<const N: usize>(&mut self, rows: &Rows<'_>, first: usize, last_values: &[f64]) {
        let spans: [Range<usize>; N] = std::array::from_fn(|lane| rows.trainable_span(first + lane));
        let shared = spans.iter().map(Range::len).min().unwrap_or(0);
        let mut next: [f64; N] = std::array::from_fn(|lane| last_values[first + lane]);
        let mut carry = [0.0; N];
        let Self { mask, rewards, values, discount: Discount { gamma, lambda }, .. } = *self;
        let (advantages, returns) = (&mut *self.advantages, &mut *self.returns);
        let decay = gamma * lambda;
        let mut step = |at: usize, next: &mut f64, carry: &mut f64| {
            if !mask[at] {
                return;
            }
            let value = f64::from(values[at]);
            let delta = rewards[at].into() + gamma * *next - value;
            *carry = delta + decay * *carry;
            *next = value;
            advantages[at] = *carry;
            returns[at] = (*carry + value) as f32;
        };
        for back in 1..=shared {
            for lane in 0..N {
                step(spans[lane].end - back, &mut next[lane], &mut carry[lane]);
            }
        }
        for lane in 0..N {
            for at in (spans[lane].start..spans[lane].end - shared).rev() {
                step(at, &mut next[lane], &mut carry[lane]);
            }
        }
    }
}
