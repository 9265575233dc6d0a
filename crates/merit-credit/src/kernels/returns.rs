//! Discounted returns `G_t = r_t + gamma · G_{t+1}` over trainable entries, whitened over the batch.

use super::dense::{Runs, discounted_sums};
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
    let runs = Runs::of(rows);
    let mut moments = Moments::default();
    let mut all = Vec::with_capacity(runs.entries());
    let mut ends = Vec::with_capacity(rows.len());
    for row in 0..rows.len() {
        let start = all.len();
        runs.pack(row, rewards, &mut all);
        discounted_sums(&mut all[start..], gamma);
        moments = moments.merge(Moments::of(&all[start..]));
        ends.push(all.len());
    }
    let whitener = moments.whitener();
    let mut start = 0;
    for (row, end) in ends.into_iter().enumerate() {
        runs.unpack(row, &all[start..end], out, |x| whitener.of(x));
        start = end;
    }
    Ok(moments)
}
