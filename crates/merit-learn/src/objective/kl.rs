//! Estimators of `KL(policy || reference)` from one token sampled by the policy (Schulman, "Approximating KL divergence").
//!
//! With `d = logprob - reference`: `k1 = d`, `k2 = d^2 / 2`, `k3 = exp(-d) + d - 1`. All are 0 when the policies agree.

use merit_core::registry::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The estimators by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// `d`: unbiased as a number, but its gradient is 0 on average, so as a loss it adds noise and no pull.
    K1,
    /// `d^2 / 2`: biased as a number; its gradient is that of the KL when samples are on-policy.
    K2,
    /// `exp(-d) + d - 1`: unbiased as a number and never negative. Its gradient is that of the reverse divergence.
    K3,
}

impl Estimator {
    /// The estimate.
    ///
    /// ```
    /// use merit_learn::Estimator;
    /// assert_eq!(Estimator::K1.estimate(-1.0, -1.5), 0.5);
    /// assert_eq!(Estimator::K2.estimate(-1.0, -1.5), 0.125);
    /// assert_eq!(Estimator::K3.estimate(-1.0, -1.0), 0.0);
    /// ```
    pub fn estimate(self, logprob: f64, reference: f64) -> f64 {
        let d = logprob - reference;
        match self {
            Self::K1 => d,
            Self::K2 => 0.5 * d * d,
            // `exp_m1` keeps the digits that matter while the policies are close.
            Self::K3 => (-d).exp_m1() + d,
        }
    }

    /// The derivative of the estimate in `logprob`.
    pub fn derivative(self, logprob: f64, reference: f64) -> f64 {
        let d = logprob - reference;
        match self {
            Self::K1 => 1.0,
            Self::K2 => d,
            Self::K3 => -(-d).exp_m1(),
        }
    }
}

/// A pull towards a reference policy, as part of the loss.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KlPenalty {
    /// How much the estimate counts.
    pub coefficient: f64,
    /// How it is estimated.
    #[serde(default = "KlPenalty::default_estimator")]
    pub estimator: Estimator,
}

impl KlPenalty {
    fn default_estimator() -> Estimator {
        Estimator::K3
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let c = self.coefficient;
        let want = "positive (leave `kl` out to have no penalty)";
        Refusal::unless(c.is_finite() && c > 0.0, "kl.coefficient", c, want)
    }
}
