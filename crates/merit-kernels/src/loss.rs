//! One row of logits: normaliser, log-probability, entropy, and the gradient of the last two.

// The macro calls functions compiled for detected CPU features.
#![allow(unsafe_code)]

use super::isa::per_isa;
use super::math::{WIDTH, exp, fold, largest, padded};

/// What a row of logits `z` (already divided by the temperature) sums to.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowStats {
    /// The largest logit, undivided.
    pub most: f32,
    /// `Σ e^(z - max z)`
    pub sum: f32,
    /// `Σ e^(z - max z) (z - max z)`
    pub moment: f32,
}

impl RowStats {
    /// `log p` of an entry whose logit is `logit`.
    pub fn logprob(&self, logit: f32, inverse_temperature: f32) -> f32 {
        (logit - self.most) * inverse_temperature - log(self.sum)
    }

    /// `H = log Σ - moment / Σ`, in nats.
    pub fn entropy(&self) -> f32 {
        log(self.sum) - self.moment / self.sum
    }
}

fn log(x: f32) -> f32 {
    f64::from(x).ln() as f32
}

#[inline(always)]
fn tally(
    chunk: &mut [f32; WIDTH],
    most: f32,
    inverse: f32,
    sums: &mut [f32; WIDTH],
    moments: &mut [f32; WIDTH],
) {
    for i in 0..WIDTH {
        let z = (chunk[i] - most) * inverse;
        let weight = exp(z);
        sums[i] += weight;
        moments[i] = weight.mul_add(if weight > 0.0 { z } else { 0.0 }, moments[i]);
        chunk[i] = weight;
    }
}

per_isa! {
    /// The sums of a row; the row stays as it is.
    pub fn row_stats(logits: &[f32], inverse_temperature: f32) -> RowStats {
        let most = largest(logits);
        let (mut sums, mut moments) = ([0.0_f32; WIDTH], [0.0_f32; WIDTH]);
        let (chunks, tail) = logits.as_chunks::<WIDTH>();
        for chunk in chunks {
            tally(&mut { *chunk }, most, inverse_temperature, &mut sums, &mut moments);
        }
        if !tail.is_empty() {
            let mut chunk = padded(tail, f32::NEG_INFINITY);
            tally(&mut chunk, most, inverse_temperature, &mut sums, &mut moments);
        }
        RowStats { most, sum: fold(sums), moment: fold(moments) }
    }
}

per_isa! {
    /// `weights = e^(z - max z)`, unnormalised probabilities in vocabulary order.
    pub fn row_weights(logits: &[f32], most: f32, inverse_temperature: f32, weights: &mut [f32]) {
        let ((from, from_tail), (to, to_tail)) = (logits.as_chunks::<WIDTH>(), weights.as_chunks_mut::<WIDTH>());
        for (x, y) in from.iter().zip(to) {
            for i in 0..WIDTH {
                y[i] = exp((x[i] - most) * inverse_temperature);
            }
        }
        for (x, y) in from_tail.iter().zip(to_tail) {
            *y = exp((x - most) * inverse_temperature);
        }
    }
}

per_isa! {
    /// In place: logits become the gradient of `on_logprob · log p(target) + on_entropy · H`:
    ///   `dz_j = c (1{j = target} - p_j) - e p_j (log p_j + H)`, times the inverse temperature.
    pub fn row_backward(
        logits: &mut [f32], target: usize, stats: RowStats, inverse_temperature: f32, on_logprob: f32, on_entropy: f32,
    ) {
        let (normaliser, inverse_sum) = (log(stats.sum), 1.0 / stats.sum);
        // log p_j + H = z_j - max z - log Σ + H
        let lift = stats.entropy() - normaliser;
        for x in logits.iter_mut() {
            let z = (*x - stats.most) * inverse_temperature;
            let p = exp(z) * inverse_sum;
            let pull = on_entropy.mul_add(z + lift, on_logprob);
            *x = if p > 0.0 { -(p * pull) * inverse_temperature } else { 0.0 };
        }
        logits[target] += on_logprob * inverse_temperature;
    }
}
