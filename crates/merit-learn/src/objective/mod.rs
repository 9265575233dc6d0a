//! The loss of one token and its derivatives. What a batch makes of it is the normaliser's business.
//!
//! In: one [`Token`] as the current policy sees it, beside what was recorded when it was chosen. Out: the parts of its loss
//! and `dl/dlogprob`, `dl/dentropy`, `dl/dvalue`. Pure, in double precision.

pub(crate) mod kl;
pub(crate) mod policy_gradient;
mod sft;
mod surrogate;
pub(crate) mod value;

use crate::{LearnError, PolicyGradient};
use merit_core::About;
use serde::{Deserialize, Serialize};

/// Every objective.
pub const OBJECTIVES: &[About] = &[policy_gradient::ABOUT, sft::ABOUT];

/// The objectives by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Objective {
    /// Clipped policy gradient over the advantages of the samples.
    PolicyGradient(PolicyGradient),
    /// Make the tokens likely, whoever chose them.
    Sft {},
}

impl Default for Objective {
    fn default() -> Self {
        Self::PolicyGradient(PolicyGradient::default())
    }
}

/// One trained token. A number that the objective does not ask for may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Token {
    /// Log-probability under the current policy.
    pub logprob: f64,
    /// Log-probability when it was chosen.
    pub old_logprob: f64,
    /// Log-probability under the reference policy.
    pub reference: f64,
    /// Its credit.
    pub advantage: f64,
    /// Entropy of the current policy where it was chosen, in nats.
    pub entropy: f64,
    /// What the value head says now.
    pub value: f64,
    /// What the value head said when the token was chosen.
    pub old_value: f64,
    /// What the value head should say.
    pub value_target: f64,
}

/// The parts of a loss, signed as they enter it: the loss is their sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LossParts {
    /// The surrogate, or the negative log-likelihood of `sft`.
    pub policy: f64,
    /// The KL penalty.
    pub kl: f64,
    /// The entropy bonus, at most 0.
    pub entropy: f64,
    /// The value loss.
    pub value: f64,
}

impl LossParts {
    /// The loss.
    pub fn total(&self) -> f64 {
        self.policy + self.kl + self.entropy + self.value
    }

    pub(crate) fn add_scaled(&mut self, other: &Self, scale: f64) {
        self.policy += scale * other.policy;
        self.kl += scale * other.kl;
        self.entropy += scale * other.entropy;
        self.value += scale * other.value;
    }
}

/// What an objective says of one token.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TokenLoss {
    /// The loss.
    pub parts: LossParts,
    /// Its derivative in the log-probability.
    pub d_logprob: f64,
    /// Its derivative in the entropy.
    pub d_entropy: f64,
    /// Its derivative in the value.
    pub d_value: f64,
    /// Whether the clip of the ratio cut the gradient of the surrogate.
    pub clipped: bool,
}

impl Objective {
    pub(crate) fn validate(&self) -> Result<(), LearnError> {
        match self {
            Self::PolicyGradient(config) => config.validate(),
            Self::Sft {} => Ok(()),
        }
    }

    /// What it says of itself.
    pub fn about(&self) -> About {
        match self {
            Self::PolicyGradient(_) => policy_gradient::ABOUT,
            Self::Sft {} => sft::ABOUT,
        }
    }

    /// Whether the loss depends on the entropy.
    pub fn pushes_entropy(&self) -> bool {
        matches!(self, Self::PolicyGradient(config) if config.entropy > 0.0)
    }

    /// Whether the loss depends on the value head.
    pub fn pushes_value(&self) -> bool {
        matches!(self, Self::PolicyGradient(config) if config.value.is_some())
    }

    /// The loss of one token.
    pub fn token(&self, token: &Token) -> TokenLoss {
        match self {
            Self::PolicyGradient(config) => config.token(token),
            Self::Sft {} => sft::token(token),
        }
    }
}
