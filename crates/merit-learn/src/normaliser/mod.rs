//! How the losses of tokens become the loss of a batch: one scale per sample.
//!
//! With `w` the weight of a sample, `n` its trained tokens and `l` the loss of a token, every normaliser is a choice of the
//! scale `s` in `L = sum_i s_i sum_t l_it`. Only samples that count are seen here, so what was left out is in no denominator.

mod constant;
mod sequence;
mod token;

use crate::LearnError;
use crate::config::require;
use merit_core::About;
use serde::{Deserialize, Serialize};

/// Every normaliser.
pub const NORMALISERS: &[About] = &[token::ABOUT, sequence::ABOUT, constant::ABOUT];

/// The normalisers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Normaliser {
    /// Mean over all trained tokens.
    Token {},
    /// Mean over the tokens of a sample, then over samples.
    Sequence {},
    /// Sum over tokens divided by a constant length, then mean over samples.
    Constant {
        /// What every sample is divided by, in tokens: usually the longest allowed.
        length: u32,
    },
}

impl Default for Normaliser {
    fn default() -> Self {
        Self::Token {}
    }
}

impl Normaliser {
    pub(crate) fn validate(&self) -> Result<(), LearnError> {
        require(!matches!(self, Self::Constant { length: 0 }), "normaliser.length", || {
            "is 0; write the most tokens a policy may sample in an episode".into()
        })
    }

    /// What it says of itself.
    pub fn about(&self) -> About {
        match self {
            Self::Token {} => token::ABOUT,
            Self::Sequence {} => sequence::ABOUT,
            Self::Constant { .. } => constant::ABOUT,
        }
    }

    /// The scale of each sample, from its trained tokens (at least 1) and its weight (above 0).
    pub fn scales(&self, samples: &[(usize, f64)]) -> Vec<f64> {
        match *self {
            Self::Token {} => token::scales(samples),
            Self::Sequence {} => sequence::scales(samples),
            Self::Constant { length } => constant::scales(samples, length),
        }
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
    fn check(normaliser: Normaliser, want: [f64; 2]) {
        assert_eq!(normaliser.scales(&[(1, 1.0), (3, 2.0)]), want);
    }

    #[test]
    fn token_divides_by_the_weighted_tokens() {
        // 1*1 + 2*3 = 7 tokens.
        check(Normaliser::Token {}, [1.0 / 7.0, 2.0 / 7.0]);
    }

    #[test]
    fn sequence_divides_by_own_length_then_by_the_weights() {
        check(Normaliser::Sequence {}, [1.0 / 3.0, 2.0 / 9.0]);
    }

    #[test]
    fn constant_divides_by_weights_times_length() {
        check(Normaliser::Constant { length: 10 }, [1.0 / 30.0, 2.0 / 30.0]);
    }
}
