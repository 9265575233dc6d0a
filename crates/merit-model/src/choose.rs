//! One token out of a row of logits.
//!
//! The choice is the inverse of the cumulative distribution in vocabulary order, from one uniform number; it depends on the
//! row, the parameters and that number alone.

use crate::kernels::Isa;
use crate::kernels::loss::{row_stats, row_weights};
use merit_core::TokenId;

const CHUNK: usize = 16;

/// A chosen token and its log-probability under the full softmax at the sampling temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub(crate) token: TokenId,
    pub(crate) logprob: f32,
}

/// Scratch of a choice.
#[derive(Debug, Default)]
pub(crate) struct ChoiceSpace {
    weights: Vec<f32>,
    order: Vec<u32>,
}

/// Chooses by `unit` in `[0, 1)`; a `temperature` of 0 takes the largest logit (the first of equals) and gives its
/// log-probability at temperature 1. `None` when the logits are not finite.
pub(crate) fn choose(
    isa: Isa,
    logits: &[f32],
    (temperature, top_p): (f32, f32),
    unit: f64,
    space: &mut ChoiceSpace,
) -> Option<Choice> {
    let inverse = if temperature == 0.0 { 1.0 } else { 1.0 / temperature };
    let stats = row_stats(isa, logits, inverse);
    if !(stats.most.is_finite() && stats.sum.is_finite()) {
        return None;
    }
    let index = if temperature == 0.0 {
        logits.iter().position(|&x| x == stats.most)?
    } else {
        space.weights.resize(logits.len(), 0.0);
        row_weights(isa, logits, stats.most, inverse, &mut space.weights);
        if top_p < 1.0 {
            keep_nucleus(space, top_p);
        }
        invert(&space.weights, unit)
    };
    Some(Choice { token: TokenId(index as u32), logprob: stats.logprob(logits[index], inverse) })
}

/// Zeroes everything outside the smallest set of likeliest tokens whose weight reaches `top_p` of the whole.
fn keep_nucleus(space: &mut ChoiceSpace, top_p: f32) {
    let weights = &mut space.weights;
    space.order.clear();
    space.order.extend(0..weights.len() as u32);
    space
        .order
        .sort_unstable_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]).then(a.cmp(&b)));
    let total: f64 = weights.iter().map(|&x| f64::from(x)).sum();
    let mut mass = 0.0;
    let kept = space.order.iter().position(|&i| {
        mass += f64::from(weights[i as usize]);
        mass >= total * f64::from(top_p)
    });
    for &i in space.order.iter().skip(kept.map_or(usize::MAX, |kept| kept + 1)) {
        weights[i as usize] = 0.0;
    }
}

/// The first index at which the running sum passes `unit` of the total; sums go by chunks of sixteen.
fn invert(weights: &[f32], unit: f64) -> usize {
    let chunk_sum = |chunk: &[f32]| {
        let mut lanes = [0.0_f32; CHUNK];
        lanes[..chunk.len()].copy_from_slice(chunk);
        f64::from(crate::kernels::math::fold(lanes))
    };
    let total: f64 = weights.chunks(CHUNK).map(chunk_sum).sum();
    let goal = unit * total;
    // Rounding may leave the goal just behind the end: then the last token of any weight is it.
    let (mut before, mut running, mut last) = (0.0, 0.0, 0);
    for (c, chunk) in weights.chunks(CHUNK).enumerate() {
        let sum = chunk_sum(chunk);
        if sum > 0.0 {
            (last, running) = (c, before);
        }
        before += sum;
        if before > goal {
            break;
        }
    }
    let mut chosen = last * CHUNK;
    for (i, &weight) in weights[last * CHUNK..].iter().take(CHUNK).enumerate() {
        if weight > 0.0 {
            chosen = last * CHUNK + i;
            running += f64::from(weight);
            if running > goal {
                break;
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Seed;

    fn pick(logits: &[f32], temperature: f32, top_p: f32, unit: f64) -> Choice {
        choose(Isa::best(), logits, (temperature, top_p), unit, &mut ChoiceSpace::default()).unwrap()
    }

    #[test]
    fn choices_follow_the_distribution() {
        let logits: Vec<f32> = (0..37).map(|i| ((i * 7) % 11) as f32 * 0.3).collect();
        let total: f64 = logits.iter().map(|&x| f64::from(x / 0.8).exp()).sum();
        let (mut counts, mut stream) = (vec![0.0; 37], Seed::root(3).stream());
        let draws = 60_000;
        for _ in 0..draws {
            let choice = pick(&logits, 0.8, 1.0, stream.unit());
            counts[choice.token.0 as usize] += 1.0;
            let want = f64::from(logits[choice.token.0 as usize] / 0.8) - total.ln();
            assert!((f64::from(choice.logprob) - want).abs() < 1e-5);
        }
        for (count, logit) in counts.iter().zip(&logits) {
            let p = f64::from(logit / 0.8).exp() / total;
            let spread = (p * (1.0 - p) / f64::from(draws)).sqrt();
            assert!((count / f64::from(draws) - p).abs() < 5.0 * spread, "{count} of {draws} for p {p}");
        }
    }

    #[test]
    fn the_nucleus_is_the_smallest_likely_set_and_logprobs_stay_those_of_the_full_softmax() {
        // Probabilities 0.5, 0.3, 0.2; half or less keeps one token, 0.6 keeps two.
        let logits: Vec<f32> = [0.3_f32, 0.5, 0.2].iter().map(|p| p.ln()).collect();
        for i in 0..100 {
            let unit = f64::from(i) / 100.0;
            assert_eq!(pick(&logits, 1.0, 0.45, unit).token, TokenId(1));
            let two = pick(&logits, 1.0, 0.6, unit);
            assert_eq!(two.token, TokenId(u32::from(unit >= 0.375)));
            let full = [0.3_f32, 0.5][two.token.0 as usize].ln();
            assert!((two.logprob - full).abs() < 1e-6);
        }
    }

    #[test]
    fn temperature_zero_takes_the_first_of_the_largest() {
        let choice = pick(&[0.0, 2.0, 2.0], 0.0, 1.0, 0.99);
        assert_eq!(choice.token, TokenId(1));
        assert!((choice.logprob - (1.0 / (2.0 + (-2.0_f32).exp())).ln()).abs() < 1e-6);
    }

    #[test]
    fn the_ends_of_the_unit_interval_are_safe() {
        let mut logits = vec![f32::MIN; 40];
        (logits[3], logits[20]) = (0.0, 0.0);
        assert_eq!(pick(&logits, 1.0, 1.0, 0.0).token, TokenId(3));
        assert_eq!(pick(&logits, 1.0, 1.0, 1.0 - f64::EPSILON).token, TokenId(20));
        assert_eq!(pick(&logits, 1.0, 1.0, 1.0).token, TokenId(20));
        assert!(choose(Isa::best(), &[f32::NAN; 3], (1.0, 1.0), 0.5, &mut ChoiceSpace::default()).is_none());
    }
}
