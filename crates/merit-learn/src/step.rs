//! One optimiser step's worth of samples: from what the policy says now to the coefficients of its gradient.
//!
//! In: entries of a batch. Out, for each and from its own numbers alone: `dL/dlogprob`, `dL/dentropy`, `dL/dvalue` per token
//! and its share of the statistics. Pure, so it may run on any thread; sums over samples are taken elsewhere, in order.

use crate::objective::kl::Estimator;
use crate::{Batch, Entry, LossParts, Normaliser, Objective, Token};
use merit_model::{Coefficients, SequenceOutputs};

/// Samples that are normalised together, and what each token of theirs is scaled with.
#[derive(Debug)]
pub struct Step<'a> {
    objective: &'a Objective,
    entries: Vec<&'a Entry<'a>>,
    scales: Vec<f64>,
}

/// A sample's share of the statistics: sums over its trained tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleStats {
    /// Trained tokens.
    pub tokens: usize,
    /// Its share of the loss.
    pub loss: LossParts,
    /// Tokens with a recorded log-probability.
    pub sampled: usize,
    /// Ratios of new to old probability.
    pub ratio: f64,
    /// Tokens whose gradient the clip cut.
    pub clipped: usize,
    /// k3 estimates of `KL(old || new)`.
    pub kl_old: f64,
    /// Tokens with a reference.
    pub referred: usize,
    /// k3 estimates of `KL(new || reference)`.
    pub kl_reference: f64,
    /// Entropies.
    pub entropy: f64,
    /// Largest difference between new and recorded log-probability.
    pub gap: f64,
    /// Largest derivative in a log-probability.
    pub largest: f64,
}

/// A token whose loss is no number.
#[derive(Debug, Clone, PartialEq)]
pub struct BadToken {
    /// Its position.
    pub at: usize,
    /// The numbers that went in.
    pub why: String,
}

impl<'a> Step<'a> {
    /// The entries of `batch` at `positions`, normalised together.
    pub fn new(
        batch: &'a Batch<'a>,
        positions: &[usize],
        objective: &'a Objective,
        normaliser: &Normaliser,
    ) -> Self {
        let entries: Vec<&Entry<'_>> = positions.iter().map(|&at| &batch.entries[at]).collect();
        let sizes: Vec<(usize, f64)> = entries.iter().map(|e| (e.trained(), e.weight)).collect();
        Self { objective, scales: normaliser.scales(&sizes), entries }
    }

    /// The samples.
    pub fn entries(&self) -> &[&'a Entry<'a>] {
        &self.entries
    }

    /// Coefficients and statistics of one sample, from what the policy says of its tokens. Streams that the objective does
    /// not push on stay empty.
    pub fn coefficients(
        &self,
        outputs: &SequenceOutputs<'_>,
    ) -> Result<(Coefficients, SampleStats), BadToken> {
        let (entry, scale) = (self.entries[outputs.index], self.scales[outputs.index]);
        let stream = |used: bool| vec![0.0; if used { entry.tokens.len() } else { 0 }];
        let (entropy, value) = (self.objective.pushes_entropy(), self.objective.pushes_value());
        let mut out = Coefficients { logprob: stream(true), entropy: stream(entropy), value: stream(value) };
        let mut stats = SampleStats::default();
        for at in (0..entry.tokens.len()).filter(|&at| entry.mask[at]) {
            let token = token(entry, at, outputs);
            let loss = self.objective.token(&token);
            let [d_logprob, d_entropy, d_value] =
                [loss.d_logprob, loss.d_entropy, loss.d_value].map(|d| (scale * d) as f32);
            let numbers = [d_logprob, d_entropy, d_value, loss.parts.total() as f32];
            if !numbers.iter().all(|x| x.is_finite()) {
                return Err(BadToken { at, why: format!("{token:?}") });
            }
            out.logprob[at] = d_logprob;
            if entropy {
                out.entropy[at] = d_entropy;
            }
            if value {
                out.value[at] = d_value;
            }
            stats.loss.add_scaled(&loss.parts, scale);
            stats.clipped += usize::from(loss.clipped);
            stats.add(entry, &token, d_logprob);
        }
        Ok((out, stats))
    }
}

fn token(entry: &Entry<'_>, at: usize, outputs: &SequenceOutputs<'_>) -> Token {
    let recorded = |stream: Option<&[f32]>| stream.map_or(0.0, |s| f64::from(s[at]));
    let current = |stream: &[f32]| stream.get(at).map_or(0.0, |&x| f64::from(x));
    Token {
        logprob: current(outputs.logprobs),
        old_logprob: recorded(entry.old_logprobs),
        reference: recorded(entry.reference),
        advantage: recorded(entry.advantages),
        entropy: current(outputs.entropy),
        value: current(outputs.values),
        old_value: recorded(entry.old_values),
        value_target: recorded(entry.value_targets),
    }
}

impl SampleStats {
    fn add(&mut self, entry: &Entry<'_>, token: &Token, derivative: f32) {
        self.tokens += 1;
        self.entropy += token.entropy;
        self.largest = self.largest.max(f64::from(derivative.abs()));
        if entry.old_logprobs.is_some() {
            self.sampled += 1;
            self.ratio += (token.logprob - token.old_logprob).exp();
            self.kl_old += Estimator::K3.estimate(token.old_logprob, token.logprob);
            self.gap = self.gap.max((token.logprob - token.old_logprob).abs());
        }
        if entry.reference.is_some() {
            self.referred += 1;
            self.kl_reference += Estimator::K3.estimate(token.logprob, token.reference);
        }
    }
}
