//! Whitening over the trainable entries of a whole batch: mean 0, variance 1.

use super::same_len;
use crate::CreditError;

/// Added to the variance before the root.
pub const VARIANCE_EPSILON: f64 = 1e-8;

/// Mean and spread of the trainable entries of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    /// Trainable entries.
    pub count: usize,
    /// Their mean; 0 when there is none.
    pub mean: f64,
    /// Their unbiased variance (divisor n − 1); 0 below two.
    pub variance: f64,
    /// Whether there is nothing to compare: fewer than two, or all equal up to float noise.
    pub constant: bool,
}

impl Moments {
    /// Of the entries of `stream` where `mask` holds. Two passes: the second sums squares around the mean of the first.
    pub fn of(stream: &[f64], mask: &[bool]) -> Result<Self, CreditError> {
        same_len("mask", mask.len(), stream.len())?;
        let count = mask.iter().filter(|&&m| m).count();
        let mean = masked_sum(stream, mask, |x| x) / count.max(1) as f64;
        let squares = masked_sum(stream, mask, |x| (x - mean) * (x - mean));
        let variance = squares / count.saturating_sub(1).max(1) as f64;
        let constant = count < 2 || variance.sqrt() <= 1e-9 * mean.abs().max(1.0);
        Ok(Self { count, mean, variance, constant })
    }

    /// The divisor of whitening: the standard deviation, kept from 0.
    pub fn scale(&self) -> f64 {
        (self.variance + VARIANCE_EPSILON).sqrt()
    }
}

/// The sum of `f(x)` where `mask` holds, in eight running sums so that the additions do not wait for each other.
fn masked_sum(stream: &[f64], mask: &[bool], f: impl Fn(f64) -> f64) -> f64 {
    // A mask of bits instead of a choice: the loop stays free of branches, and what is masked may be anything.
    let kept = |x: f64, m: bool| f64::from_bits(f(x).to_bits() & u64::from(m).wrapping_neg());
    let mut sums = [0.0_f64; 8];
    let (xs, ms) = (stream.chunks_exact(sums.len()), mask.chunks_exact(sums.len()));
    let tail: f64 = xs.remainder().iter().zip(ms.remainder()).map(|(&x, &m)| kept(x, m)).sum();
    for (x, m) in xs.zip(ms) {
        for ((sum, &x), &m) in sums.iter_mut().zip(x).zip(m) {
            *sum += kept(x, m);
        }
    }
    sums.iter().sum::<f64>() + tail
}

/// Writes the whitened stream, `(x − mean) / sqrt(variance + 1e-8)` where `mask` holds and 0 elsewhere. A stream without
/// variance becomes exactly 0.
pub fn whiten(stream: &[f64], mask: &[bool], out: &mut [f32]) -> Result<Moments, CreditError> {
    same_len("out", out.len(), stream.len())?;
    let moments = Moments::of(stream, mask)?;
    let inverse = if moments.constant { 0.0 } else { 1.0 / moments.scale() };
    for ((o, &x), &m) in out.iter_mut().zip(stream).zip(mask) {
        let white = ((x - moments.mean) * inverse) as f32;
        *o = if m { white } else { 0.0 };
    }
    Ok(moments)
}
