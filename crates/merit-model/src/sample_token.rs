//! One token out of a row of logits.
//!
//! The choice is the inverse of the cumulative distribution in vocabulary order, from one uniform number; it depends on the
//! row, the parameters, what a constraint allows and that number alone.

use crate::top_k_p::CutSpace;
use merit_api::sampler::SamplingParams;
use merit_api::sampler::TokenMask;
use merit_api::sampler::{SamplerError, TokenLogprob};
use merit_core::TokenId;
use merit_kernels::Isa;
use merit_kernels::loss::{RowStats, row_stats, row_weights};
use merit_kernels::math::{fold, padded};

const CHUNK: usize = merit_kernels::math::WIDTH;

/// Scratch of a choice.
#[derive(Debug, Default)]
pub(crate) struct ChoiceSpace {
    weights: Vec<f32>,
    /// Logits after biases and masks.
    changed: Vec<f32>,
    cuts: CutSpace,
    sums: Vec<f64>,
}

/// Sums of a row of logits at the temperature that log-probabilities are reported at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    isa: Isa,
    logits: &'a [f32],
    inverse_temperature: f32,
    stats: RowStats,
}

impl<'a> Row<'a> {
    /// A `temperature` of 0 reports at temperature 1.
    pub(crate) fn new(isa: Isa, logits: &'a [f32], temperature: f32) -> Result<Self, SamplerError> {
        let inverse_temperature = if temperature == 0.0 { 1.0 } else { 1.0 / temperature };
        let stats = row_stats(isa, logits, inverse_temperature);
        if !(stats.most.is_finite() && stats.sum.is_finite()) {
            return Err(SamplerError::NonFinite);
        }
        Ok(Self { isa, logits, inverse_temperature, stats })
    }

    /// Chooses by `unit` in `[0, 1)`; a temperature of 0 takes the largest logit, the first of equals.
    pub(crate) fn choose(
        &self,
        params: &SamplingParams,
        mask: Option<&TokenMask>,
        unit: f64,
        space: &mut ChoiceSpace,
    ) -> Result<TokenLogprob, SamplerError> {
        let ChoiceSpace { weights, changed, cuts, sums } = space;
        let (logits, most) = if params.changes_logits() || mask.is_some() {
            change(self.logits, params, mask, changed);
            let most = changed.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            if most == f32::NEG_INFINITY {
                return Err(SamplerError::NothingAllowed);
            }
            (&changed[..], most)
        } else {
            (self.logits, self.stats.most)
        };
        if params.temperature == 0.0 {
            let index = logits.iter().position(|&x| x == most).ok_or(SamplerError::NonFinite)?;
            return Ok(self.entry(index));
        }
        weights.resize(logits.len(), 0.0);
        row_weights(self.isa, logits, most, self.inverse_temperature, weights);
        cut(params, weights, cuts);
        Ok(self.entry(invert(weights, unit, sums)))
    }

    /// The `count` likeliest tokens, likeliest first; of equals the first.
    pub(crate) fn likeliest(&self, count: usize) -> Vec<TokenLogprob> {
        let mut best: Vec<usize> = Vec::with_capacity(count + 1);
        for (index, &logit) in self.logits.iter().enumerate() {
            if best.len() < count || best.last().is_some_and(|&last| logit > self.logits[last]) {
                let place = best.partition_point(|&other| self.logits[other] >= logit);
                best.insert(place, index);
                best.truncate(count);
            }
        }
        best.into_iter().map(|index| self.entry(index)).collect()
    }

    fn entry(&self, index: usize) -> TokenLogprob {
        let logprob = self.stats.logprob(self.logits[index], self.inverse_temperature);
        TokenLogprob { token: TokenId(index as u32), logprob }
    }
}

/// Copies the logits, with biases added and everything that may not be drawn at minus infinity.
fn change(logits: &[f32], params: &SamplingParams, mask: Option<&TokenMask>, changed: &mut Vec<f32>) {
    changed.clear();
    if params.allowed.is_empty() {
        changed.extend_from_slice(logits);
    } else {
        changed.resize(logits.len(), f32::NEG_INFINITY);
        for token in &params.allowed {
            changed[token.0 as usize] = logits[token.0 as usize];
        }
    }
    for (token, bias) in &params.logit_bias {
        changed[token.0 as usize] += bias;
    }
    for token in &params.banned {
        changed[token.0 as usize] = f32::NEG_INFINITY;
    }
    if let Some(mask) = mask {
        for (word, logits) in mask.words().iter().zip(changed.chunks_mut(64)) {
            if *word == 0 {
                logits.fill(f32::NEG_INFINITY);
            } else if *word != u64::MAX {
                let allowed = |bit: usize| word >> bit & 1 == 1;
                let barred = logits.iter_mut().enumerate().filter(|(bit, _)| !allowed(*bit));
                barred.for_each(|(_, logit)| *logit = f32::NEG_INFINITY);
            }
        }
    }
}

/// Zeroes what the cuts take away; the largest weight is 1.
fn cut(params: &SamplingParams, weights: &mut [f32], space: &mut CutSpace) {
    if params.top_k > 0 && params.top_k < weights.len() {
        space.keep_count(weights, params.top_k);
    }
    if params.top_p < 1.0 {
        space.keep_mass(weights, params.top_p);
    }
    if params.min_p > 0.0 {
        for weight in weights.iter_mut().filter(|weight| **weight < params.min_p) {
            *weight = 0.0;
        }
    }
}

/// The first index at which the running sum passes `unit` of the total; sums go by chunks of sixteen, kept in `sums`.
fn invert(weights: &[f32], unit: f64, sums: &mut Vec<f64>) -> usize {
    let (chunks, tail) = weights.as_chunks::<CHUNK>();
    sums.clear();
    sums.extend(chunks.iter().map(|chunk| f64::from(fold(*chunk))));
    if !tail.is_empty() {
        sums.push(f64::from(fold(padded(tail, 0.0))));
    }
    let goal = unit * sums.iter().sum::<f64>();
    // Rounding may leave the goal just behind the end: then the last token of any weight is it.
    let (mut before, mut running, mut last) = (0.0, 0.0, 0);
    for (c, &sum) in sums.iter().enumerate() {
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

    fn pick_with(logits: &[f32], params: &SamplingParams, unit: f64) -> TokenLogprob {
        let row = Row::new(Isa::best(), logits, params.temperature).unwrap();
        row.choose(params, None, unit, &mut ChoiceSpace::default()).unwrap()
    }

    fn pick(logits: &[f32], temperature: f32, top_p: f32, unit: f64) -> TokenLogprob {
        pick_with(logits, &SamplingParams { temperature, top_p, ..SamplingParams::default() }, unit)
    }

    /// The tokens that can come of a row.
    fn drawable(logits: &[f32], params: &SamplingParams) -> Vec<u32> {
        let mut drawn: Vec<u32> =
            (0..2000).map(|i| pick_with(logits, params, f64::from(i) / 2000.0).token.0).collect();
        drawn.dedup();
        drawn
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
        assert_eq!(Row::new(Isa::best(), &[f32::NAN; 3], 1.0).unwrap_err(), SamplerError::NonFinite);
    }

    #[test]
    fn cuts_come_after_masks_and_one_after_the_other() {
        // Probabilities 0.4, 0.3, 0.15, 0.1, 0.05.
        let logits: Vec<f32> = [0.1_f32, 0.4, 0.05, 0.3, 0.15].iter().map(|p| p.ln()).collect();
        let plain = SamplingParams::default();
        assert_eq!(drawable(&logits, &plain), [0, 1, 2, 3, 4]);
        assert_eq!(drawable(&logits, &SamplingParams { top_k: 2, ..plain.clone() }), [1, 3]);
        assert_eq!(drawable(&logits, &SamplingParams { top_k: 99, ..plain.clone() }), [0, 1, 2, 3, 4]);
        // A third of 0.4 is 0.133.
        assert_eq!(drawable(&logits, &SamplingParams { min_p: 0.3334, ..plain.clone() }), [1, 3, 4]);
        // Of the three kept, 0.4 + 0.3 are 0.82 of the mass; of all five they are 0.7.
        assert_eq!(drawable(&logits, &SamplingParams { top_k: 3, top_p: 0.8, ..plain.clone() }), [1, 3]);
        assert_eq!(drawable(&logits, &SamplingParams { top_p: 0.8, ..plain.clone() }), [1, 3, 4]);
        // Without token 1, two likeliest are 3 and 4.
        let banned = vec![TokenId(1)];
        assert_eq!(drawable(&logits, &SamplingParams { top_k: 2, banned, ..plain.clone() }), [3, 4]);
        let allowed = vec![TokenId(2), TokenId(0)];
        assert_eq!(drawable(&logits, &SamplingParams { allowed: allowed.clone(), ..plain.clone() }), [0, 2]);
        let logit_bias = vec![(TokenId(2), 5.0)];
        let biased = SamplingParams { temperature: 0.0, logit_bias, allowed, ..plain };
        assert_eq!(drawable(&logits, &biased), [2]);
    }

    #[test]
    fn logprobs_are_those_of_the_full_softmax_whatever_was_barred() {
        let logits: Vec<f32> = [0.2_f32, 0.5, 0.3].iter().map(|p| p.ln()).collect();
        let (banned, logit_bias) = (vec![TokenId(1)], vec![(TokenId(2), 1.0)]);
        let choice =
            pick_with(&logits, &SamplingParams { banned, logit_bias, ..SamplingParams::default() }, 0.9);
        assert_eq!(choice.token, TokenId(2));
        assert!((choice.logprob - 0.3_f32.ln()).abs() < 1e-6);
    }

    #[test]
    fn an_unlikely_token_can_be_drawn_when_nothing_else_is_allowed() {
        let allowed = vec![TokenId(0)];
        let params = SamplingParams { allowed, ..SamplingParams::default() };
        assert_eq!(pick_with(&[-500.0, 0.0, 1.0], &params, 0.5).token, TokenId(0));
        let row = Row::new(Isa::best(), &[0.0, 1.0], 1.0).unwrap();
        let nothing = row.choose(
            &SamplingParams::default(),
            Some(&TokenMask::none(2)),
            0.5,
            &mut ChoiceSpace::default(),
        );
        assert_eq!(nothing, Err(SamplerError::NothingAllowed));
    }

    #[test]
    fn the_likeliest_come_in_order_and_equals_by_number() {
        let row = Row::new(Isa::best(), &[1.0, 3.0, 2.0, 3.0, -1.0], 1.0).unwrap();
        let tokens = |count| row.likeliest(count).iter().map(|entry| entry.token.0).collect::<Vec<_>>();
        assert!(tokens(0).is_empty());
        assert_eq!(tokens(3), [1, 3, 2]);
        assert_eq!(tokens(5), [1, 3, 2, 0, 4]);
        let sum: f32 = row.likeliest(5).iter().map(|entry| entry.logprob.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
}
