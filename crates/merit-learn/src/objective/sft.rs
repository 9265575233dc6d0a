//! Supervised fine-tuning: `l = -logprob`. Samples count by their weight; credit is not looked at.

use super::{LossParts, Needs, Objective, SequenceLoss, TokenLoss, Undeclared, Unit};
use merit_core::registry::{About, Component};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `l = -logprob` of every trained token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sft {}

impl Component for Sft {
    const ABOUT: About =
        About { name: "sft", summary: "make the tokens likely, whoever chose them", paper: "" };
}

impl Objective for Sft {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        for (member, out) in unit.members.iter().zip(out) {
            for at in member.positions() {
                let parts = LossParts::of_policy(-f64::from(member.logprobs()[at]));
                out.token(at, &TokenLoss { parts, d_logprob: -1.0, ..TokenLoss::default() });
            }
        }
        Ok(())
    }
}
