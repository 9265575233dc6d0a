//! Loss aggregation: how the losses of tokens become the loss of a batch, by one scale per sample.
//!
//! With `w` the weight of a sample, `n` its trained tokens and `l` the loss of a token, every aggregation is a choice of the
//! scale `s` in `L = sum_i s_i sum_t l_it`. Only samples that count are seen here, so what was left out is in no denominator.
//! An objective that has one loss per sequence, pair or group is averaged over these instead (see
//! [`Average`](crate::Average)).

use merit_core::entry;
use merit_core::registry::{About, Component, Entry, Kind, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A choice of the scale of each sample.
pub trait LossAgg: Send + Sync {
    /// The scale of each sample, from its trained tokens (at least 1) and its weight (above 0).
    fn scales(&self, samples: &[(usize, f64)]) -> Vec<f64>;

    /// The most tokens an update trains. Samples are taken in random order, and the one that goes over is cut; credit was
    /// assigned before, to whole samples. Absent: all.
    fn budget(&self) -> Option<usize> {
        None
    }
}

impl Kind for dyn LossAgg {
    const KIND: &'static str = "loss aggregation";
}

pub static LOSS_AGGS: &[Entry<dyn LossAgg>] = &[
    entry!(TokenMean as dyn LossAgg),
    entry!(SequenceMean as dyn LossAgg),
    entry!(ConstantLength as dyn LossAgg),
    entry!(TokenBudget as dyn LossAgg),
];

/// Every trained token counts the same, so long samples weigh more: `s_i = w_i / sum_j w_j n_j`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenMean {}

impl Component for TokenMean {
    const ABOUT: About = About {
        name: "token",
        summary: "mean over all trained tokens of the batch",
        paper: "DAPO, arXiv:2503.14476",
    };
}

impl LossAgg for TokenMean {
    fn scales(&self, samples: &[(usize, f64)]) -> Vec<f64> {
        let tokens: f64 = samples.iter().map(|&(n, weight)| n as f64 * weight).sum();
        samples.iter().map(|(_, weight)| weight / tokens).collect()
    }
}

/// Every sample counts the same, so tokens of long samples weigh less: `s_i = w_i / (n_i sum_j w_j)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequenceMean {}

impl Component for SequenceMean {
    const ABOUT: About = About {
        name: "sequence",
        summary: "mean over the tokens of each sample, then over samples",
        paper: "GRPO, arXiv:2402.03300",
    };
}

impl LossAgg for SequenceMean {
    fn scales(&self, samples: &[(usize, f64)]) -> Vec<f64> {
        let total = total_weight(samples);
        samples.iter().map(|&(n, weight)| weight / (n as f64 * total)).collect()
    }
}

/// A constant in place of the length, so that no length is favoured: `s_i = w_i / (length sum_j w_j)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantLength {
    /// What every sample is divided by, in tokens: usually the most tokens a policy may sample in an episode.
    pub length: u32,
}

impl Component for ConstantLength {
    const ABOUT: About = About {
        name: "constant",
        summary: "sum over tokens divided by a constant length, then mean over samples",
        paper: "Dr. GRPO, arXiv:2503.20783",
    };
    const EXAMPLE: &'static str = "length = 64";

    fn check(&self) -> Result<(), Refusal> {
        let want = "at least 1: the most tokens a policy may sample in an episode";
        Refusal::unless(self.length > 0, "length", self.length, want)
    }
}

impl LossAgg for ConstantLength {
    fn scales(&self, samples: &[(usize, f64)]) -> Vec<f64> {
        let total = total_weight(samples);
        samples.iter().map(|(_, weight)| weight / (f64::from(self.length) * total)).collect()
    }
}

/// The same number of tokens in every update, and that number as the divisor: `s_i = w_i / tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBudget {
    /// Tokens that an update trains; what is sampled beyond them is left out.
    pub tokens: u32,
}

impl Component for TokenBudget {
    const ABOUT: About = About {
        name: "token-budget",
        summary: "every update trains the same number of tokens, in random order, and divides by it",
        paper: "Ring-lite (C3PO), arXiv:2506.14731",
    };
    const EXAMPLE: &'static str = "tokens = 4096";

    fn check(&self) -> Result<(), Refusal> {
        let want = "at least 1: about half the tokens that a step samples";
        Refusal::unless(self.tokens > 0, "tokens", self.tokens, want)
    }
}

impl LossAgg for TokenBudget {
    fn scales(&self, samples: &[(usize, f64)]) -> Vec<f64> {
        samples.iter().map(|(_, weight)| weight / f64::from(self.tokens)).collect()
    }

    fn budget(&self) -> Option<usize> {
        Some(self.tokens as usize)
    }
}

/// The sum of the weights: how many samples the batch counts as.
fn total_weight(samples: &[(usize, f64)]) -> f64 {
    samples.iter().map(|(_, weight)| weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two samples of 1 and 3 tokens with weights 1 and 2.
    fn check(loss_agg: &dyn LossAgg, want: [f64; 2]) {
        assert_eq!(loss_agg.scales(&[(1, 1.0), (3, 2.0)]), want);
    }

    #[test]
    fn token_divides_by_the_weighted_tokens() {
        // 1*1 + 2*3 = 7 tokens.
        check(&TokenMean {}, [1.0 / 7.0, 2.0 / 7.0]);
    }

    #[test]
    fn sequence_divides_by_own_length_then_by_the_weights() {
        check(&SequenceMean {}, [1.0 / 3.0, 2.0 / 9.0]);
    }

    #[test]
    fn a_token_budget_divides_by_itself() {
        check(&TokenBudget { tokens: 10 }, [0.1, 0.2]);
    }

    #[test]
    fn constant_divides_by_weights_times_length() {
        check(&ConstantLength { length: 10 }, [1.0 / 30.0, 2.0 / 30.0]);
    }
}
