//! What another implementation computed, and how far ours is from it.

use merit_core::TokenId;
use merit_model::*;
use serde::Deserialize;
use std::path::Path;

/// One line of a reference file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) ids: Vec<u32>,
    /// Of each id after the first.
    pub(crate) logprobs: Vec<f32>,
    /// At the last position, as `top`.
    pub(crate) logsumexp: f64,
    pub(crate) top: Vec<(usize, f32)>,
}

impl Expected {
    pub(crate) fn read(path: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The largest distance of log-probabilities and of the last logits.
    pub(crate) fn distance(&self, ready: &PackedWeights) -> f64 {
        let tokens: Vec<TokenId> = self.ids.iter().map(|&id| TokenId(id)).collect();
        let needed: Vec<bool> = (0..tokens.len()).map(|t| t > 0).collect();
        let workers = Workers::single();
        let sequence = TrainSequence { tokens: &tokens, needed: &needed };
        let scores = score_packed(ready, &[sequence], 1.0, &workers).unwrap().remove(0);
        let logits = next_logits(ready, &tokens, &workers).unwrap();
        let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|&x| f64::from(x - most).exp()).sum();
        let logprobs = scores.logprobs[1..].iter().zip(&self.logprobs).map(|(a, b)| f64::from((a - b).abs()));
        let top = self.top.iter().map(|&(id, logit)| f64::from((logits[id] - logit).abs()));
        let rest = [(f64::from(most) + sum.ln() - self.logsumexp).abs()];
        logprobs.chain(top).chain(rest).fold(0.0, f64::max)
    }
}
