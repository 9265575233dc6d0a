//! Kahneman-Tversky optimisation: single samples, each desirable or not, against a KL baseline.
//!
//! With `r(y) = sum_t (logprob_t - reference_t)` over the trained tokens of a sample and `z` the baseline:
//!   `l = lambda_d (1 - sigmoid(beta (r - z)))` of a desirable sample,
//!   `l = lambda_u (1 - sigmoid(beta (z - r)))` of an undesirable one,
//!   `dl/dlogprob_t = -+ lambda beta sigmoid (1 - sigmoid)`; no gradient goes through `z`.
//!
//! `z` estimates `KL(policy || reference)` as the paper does: `max(0, mean_i r(y_i'))`, where `y_i'` answers another prompt than
//! the one it is put behind. Here each sample of the minibatch gives its prompt, and the next sample of another group what is
//! said; all are scored by both policies before the step. The paper shifts answers by one place, which inside groups of one
//! prompt would not mismatch them. A batch of one group has no mismatched pairs; then `z` is 0.

use super::dpo::sigmoid;
use super::{Average, LossParts, Needs, Objective, Recorded, SequenceLoss, Undeclared, Unit};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of KTO.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Kto {
    /// How fast the value of a sample saturates as policy and reference part.
    pub beta: f64,
    /// How much desirable samples count.
    pub lambda_desirable: f64,
    /// How much undesirable samples count.
    pub lambda_undesirable: f64,
    /// A sample is desirable when its reward is above this, undesirable when below. Absent: the mean reward of its group. A
    /// reward equal to it leaves the sample out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

impl Default for Kto {
    fn default() -> Self {
        Self { beta: 0.1, lambda_desirable: 1.0, lambda_undesirable: 1.0, threshold: None }
    }
}

impl Component for Kto {
    const ABOUT: About = About {
        name: "kto",
        summary: "samples above their group's mean reward are desirable, those below are not, relative to a reference policy",
        paper: "KTO, arXiv:2402.01306",
    };
    const EXAMPLE: &'static str = "beta = 0.2\nthreshold = 0.5";

    fn check(&self) -> Result<(), Refusal> {
        let positive = |key, value: f64| {
            Refusal::unless(value.is_finite() && value > 0.0, key, value, "a positive number")
        };
        positive("beta", self.beta)?;
        positive("lambda_desirable", self.lambda_desirable)?;
        positive("lambda_undesirable", self.lambda_undesirable)?;
        let threshold = self.threshold.unwrap_or(0.0);
        Refusal::unless(threshold.is_finite(), "threshold", threshold, "a finite number")
    }
}

/// Rewards this close are equal: what rounding leaves of a mean.
const TIE: f64 = 1e-9;

impl Kto {
    /// How far the reward is above what divides desirable from undesirable.
    fn above(&self, sample: &Recorded<'_>) -> Result<f64, Undeclared> {
        Ok(sample.reward()? - self.threshold.map_or_else(|| sample.group_reward(), Ok)?)
    }
}

/// `max(0, mean)`; 0 of nothing.
fn baseline(mismatched: &[f64]) -> f64 {
    (mismatched.iter().sum::<f64>() / mismatched.len().max(1) as f64).max(0.0)
}

impl Objective for Kto {
    fn needs(&self) -> Needs {
        let group_reward = self.threshold.is_none();
        Needs { reward: true, group_reward, reference: true, mismatched: true, ..Needs::default() }
    }

    fn average(&self) -> Average {
        Average::Units
    }

    fn units(&self, batch: &[Recorded<'_>]) -> Result<Vec<Vec<usize>>, Undeclared> {
        let mut units = Vec::new();
        for (at, sample) in batch.iter().enumerate() {
            if self.above(sample)?.abs() > TIE {
                units.push(vec![at]);
            }
        }
        Ok(units)
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        let z = baseline(unit.mismatched()?);
        for (member, out) in unit.members.iter().zip(out) {
            let (sign, lambda) = if self.above(member)? > 0.0 {
                (1.0, self.lambda_desirable)
            } else {
                (-1.0, self.lambda_undesirable)
            };
            let value = sigmoid(sign * self.beta * (member.log_ratio_to_reference()? - z));
            let slope = -sign * lambda * self.beta * value * (1.0 - value);
            out.whole(LossParts::of_policy(lambda * (1.0 - value)), slope, false);
        }
        Ok(())
    }
}
