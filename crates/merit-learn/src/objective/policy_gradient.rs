//! Clipped policy gradient with optional KL penalty, entropy bonus and value loss.
//!
//!   `l = surrogate + kl.coefficient * k(logprob, reference) - entropy * H + value.coefficient * value loss`.
//!
//! The ratio is taken to the log-probability recorded when the token was chosen. Which baseline, which level and which
//! discount made the advantage is not known here.

use super::surrogate::surrogate;
use super::{LossParts, Token, TokenLoss};
use crate::config::require;
use crate::{KlPenalty, LearnError, ValueLoss};
use merit_core::About;
use serde::{Deserialize, Serialize};

pub(super) const ABOUT: About = About {
    name: "policy-gradient",
    summary: "clipped policy gradient over the advantages of the samples, with optional KL, entropy and value parts",
    paper: "PPO, arXiv:1707.06347",
};

/// Settings of the policy gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyGradient {
    /// How far below 1 the ratio may go before the gradient of a bad token is cut.
    pub clip_low: f64,
    /// How far above 1 the ratio may go before the gradient of a good token is cut.
    pub clip_high: f64,
    /// A pull towards a reference policy. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kl: Option<KlPenalty>,
    /// How much entropy counts as a bonus.
    pub entropy: f64,
    /// A value loss. Absent: values are not trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueLoss>,
}

impl Default for PolicyGradient {
    fn default() -> Self {
        Self { clip_low: 0.2, clip_high: 0.28, kl: None, entropy: 0.0, value: None }
    }
}

impl PolicyGradient {
    pub(super) fn validate(&self) -> Result<(), LearnError> {
        let Self { clip_low, clip_high, entropy, .. } = *self;
        require(clip_low > 0.0 && clip_low <= 1.0, "objective.clip_low", || {
            format!("is {clip_low}; it must be above 0 and at most 1 (1 never clips)")
        })?;
        require(clip_high.is_finite() && clip_high > 0.0, "objective.clip_high", || {
            format!("is {clip_high}; it must be a positive number (a large one never clips)")
        })?;
        require(entropy.is_finite() && entropy >= 0.0, "objective.entropy", || {
            format!("is {entropy}; it must be at least 0, where 0 means no bonus")
        })?;
        self.kl.as_ref().map_or(Ok(()), KlPenalty::validate)?;
        self.value.as_ref().map_or(Ok(()), ValueLoss::validate)
    }

    pub(super) fn token(&self, token: &Token) -> TokenLoss {
        let (policy, mut d_logprob, clipped) =
            surrogate(token.logprob, token.old_logprob, token.advantage, self.clip_low, self.clip_high);
        let mut parts = LossParts { policy, ..LossParts::default() };
        if let Some(KlPenalty { coefficient, estimator }) = self.kl {
            parts.kl = coefficient * estimator.estimate(token.logprob, token.reference);
            d_logprob += coefficient * estimator.derivative(token.logprob, token.reference);
        }
        let mut d_entropy = 0.0;
        if self.entropy > 0.0 {
            parts.entropy = -self.entropy * token.entropy;
            d_entropy = -self.entropy;
        }
        let mut d_value = 0.0;
        if let Some(value) = &self.value {
            let (loss, derivative) = value.at(token.value, token.old_value, token.value_target);
            parts.value = value.coefficient * loss;
            d_value = value.coefficient * derivative;
        }
        TokenLoss { parts, d_logprob, d_entropy, d_value, clipped }
    }
}
