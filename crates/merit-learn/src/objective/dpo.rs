//! Direct preference optimisation on the best and the worst of each group.
//!
//! With `r(y) = sum_t (logprob_t - reference_t)` over the trained tokens of a sequence, `+` the member of a group with the
//! highest reward and `-` the one with the lowest: `l = -log sigmoid(beta (r(+) - r(-)))`,
//! `dl/dlogprob_t = -beta sigmoid(-beta (r(+) - r(-)))` on the tokens of `+`, and the opposite on those of `-`. A group of equal
//! rewards has no pair. The loss of a batch is the mean over pairs.

use super::{Average, LossParts, Needs, Objective, Scope, SequenceLoss, Undeclared, Unit};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of DPO.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dpo {
    /// How strongly the policy is held to its reference: the larger, the less a pair moves it.
    pub beta: f64,
}

impl Default for Dpo {
    fn default() -> Self {
        Self { beta: 0.1 }
    }
}

impl Component for Dpo {
    const ABOUT: About = About {
        name: "dpo",
        summary: "the best of a group is preferred to the worst, relative to a reference policy",
        paper: "DPO, arXiv:2305.18290",
    };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.beta.is_finite() && self.beta > 0.0, "beta", self.beta, "a positive number")
    }
}

impl Objective for Dpo {
    fn needs(&self) -> Needs {
        Needs { reward: true, reference: true, ..Needs::default() }
    }

    fn scope(&self) -> Scope {
        Scope::Pair
    }

    fn average(&self) -> Average {
        Average::Units
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        let ([chosen, rejected], [of_chosen, of_rejected]) = (unit.members.as_slice(), out) else {
            unreachable!("`Scope::Pair` makes units of two")
        };
        let margin = self.beta * (chosen.log_ratio_to_reference()? - rejected.log_ratio_to_reference()?);
        let slope = self.beta * sigmoid(-margin);
        // The loss of a pair is counted once.
        of_chosen.whole(LossParts::of_policy(-log_sigmoid(margin)), -slope, false);
        of_rejected.whole(LossParts::default(), slope, false);
        Ok(())
    }
}

/// `1 / (1 + e^-x)`.
pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `log sigmoid(x)`, without overflow.
fn log_sigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}
