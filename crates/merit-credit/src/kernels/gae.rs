//! Generalized advantage estimation (Schulman et al., arXiv:1506.02438), backwards over trainable entries:
//!   delta_t = r_t + gamma · V_{t+1} − V_t
//!   adv_t   = delta_t + gamma · lambda · adv_{t+1}
//! where t + 1 is the next trainable entry: what the policy did not choose is skipped as if it were not there. After the last
//! trainable entry V is the row's last value: 0 for a real end, the bootstrap for a truncated row.

use super::dense::{Runs, discounted_sums};
use super::{Moments, Rows, same_len};
use crate::CreditError;

/// The two factors of the estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discount {
    /// How much the next token's value counts.
    pub gamma: f64,
    /// How far the sum looks ahead: 0 is one step, 1 is to the end.
    pub lambda: f64,
}

/// What advantages are estimated from.
#[derive(Debug, Clone, Copy)]
pub struct Valued<'a, R> {
    /// The reward of each entry of the stream.
    pub rewards: &'a [R],
    /// The value before each entry of the stream.
    pub values: &'a [f32],
    /// The value after each row.
    pub last_values: &'a [f64],
}

/// Writes advantages and returns (advantage + value), with 0 on entries that are not trainable.
pub fn gae<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    input: Valued<'_, R>,
    discount: Discount,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<(), CreditError> {
    check(rows, &input, advantages, returns)?;
    let runs = Runs::of(rows);
    let mut row_buffers = Buffers::default();
    for row in 0..rows.len() {
        let estimates = row_buffers.estimate(&runs, row, &input, discount);
        runs.unpack(row, estimates, advantages, |x| x as f32);
        row_buffers.write_returns(&runs, row, returns);
    }
    Ok(())
}

/// The same with the advantages whitened over all trainable entries; returns stay as earned. The moments are those of the
/// advantages before whitening.
pub fn gae_whitened<R: Copy + Into<f64>>(
    rows: &Rows<'_>,
    input: Valued<'_, R>,
    discount: Discount,
    advantages: &mut [f32],
    returns: &mut [f32],
) -> Result<Moments, CreditError> {
    check(rows, &input, advantages, returns)?;
    let runs = Runs::of(rows);
    let mut row_buffers = Buffers::default();
    let mut moments = Moments::default();
    let mut all = Vec::with_capacity(runs.entries());
    let mut ends = Vec::with_capacity(rows.len());
    for row in 0..rows.len() {
        let estimates = row_buffers.estimate(&runs, row, &input, discount);
        moments = moments.merge(Moments::of(estimates));
        all.extend_from_slice(estimates);
        ends.push(all.len());
        row_buffers.write_returns(&runs, row, returns);
    }
    let whitener = moments.whitener();
    let mut start = 0;
    for (row, end) in ends.into_iter().enumerate() {
        runs.unpack(row, &all[start..end], advantages, |x| whitener.of(x));
        start = end;
    }
    Ok(moments)
}

fn check<R>(
    rows: &Rows<'_>,
    input: &Valued<'_, R>,
    advantages: &[f32],
    returns: &[f32],
) -> Result<(), CreditError> {
    let want = rows.mask().len();
    same_len("rewards", input.rewards.len(), want)?;
    same_len("values", input.values.len(), want)?;
    same_len("last_values", input.last_values.len(), rows.len())?;
    same_len("advantages", advantages.len(), want)?;
    same_len("returns", returns.len(), want)
}

/// One row, packed.
#[derive(Default)]
struct Buffers {
    /// Advantages, which begin as rewards.
    estimates: Vec<f64>,
    /// Values, with the one after the row at the end.
    values: Vec<f64>,
}

impl Buffers {
    fn estimate<R: Copy + Into<f64>>(
        &mut self,
        runs: &Runs<'_>,
        row: usize,
        input: &Valued<'_, R>,
        Discount { gamma, lambda }: Discount,
    ) -> &[f64] {
        self.estimates.clear();
        self.values.clear();
        runs.pack(row, input.rewards, &mut self.estimates);
        runs.pack(row, input.values, &mut self.values);
        self.values.push(input.last_values[row]);
        for (reward, value) in self.estimates.iter_mut().zip(self.values.windows(2)) {
            *reward += gamma * value[1] - value[0];
        }
        discounted_sums(&mut self.estimates, gamma * lambda);
        &self.estimates
    }

    /// Turns the estimates into returns and writes them.
    fn write_returns(&mut self, runs: &Runs<'_>, row: usize, returns: &mut [f32]) {
        self.estimates.iter_mut().zip(&self.values).for_each(|(estimate, value)| *estimate += value);
        runs.unpack(row, &self.estimates, returns, |x| x as f32);
    }
}
