//! The credit rule as data, and the list of all rules.

use crate::error::CreditError;
use crate::rule::Rule;
use crate::rules::{DrGrpoConfig, GaeConfig, GrpoConfig, ReinforcePlusPlusConfig, RlooConfig};
use crate::rules::{dr_grpo, gae, grpo, reinforce_plus_plus, rloo};
use merit_core::About;
use serde::{Deserialize, Serialize};

/// Which rule, with its settings. `type` chooses the variant; [`RULES`] describes each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum CreditConfig {
    /// Against the group, scaled.
    Grpo(GrpoConfig),
    /// Against the group, unscaled.
    DrGrpo(DrGrpoConfig),
    /// Against the others of the group.
    Rloo(RlooConfig),
    /// Against the batch.
    ReinforcePlusPlus(ReinforcePlusPlusConfig),
    /// Against the value head.
    Gae(GaeConfig),
}

/// What a registered rule says of itself.
#[derive(Debug, Clone, Copy)]
pub struct RuleEntry {
    /// Name (its `type`), one line of help, paper.
    pub about: About,
    /// The config in TOML.
    pub example: &'static str,
    /// The config with its defaults.
    pub default: fn() -> CreditConfig,
}

/// Every credit rule.
pub const RULES: &[RuleEntry] =
    &[grpo::GRPO, dr_grpo::DR_GRPO, rloo::RLOO, reinforce_plus_plus::REINFORCE_PLUS_PLUS, gae::GAE];

impl CreditConfig {
    /// The rule, after its settings are checked.
    pub fn rule(&self) -> Result<Box<dyn Rule>, CreditError> {
        Ok(match self.clone() {
            Self::Grpo(config) => Box::new(config),
            Self::DrGrpo(config) => Box::new(config),
            Self::Rloo(config) => Box::new(config),
            Self::ReinforcePlusPlus(config) => {
                unit_interval("reinforce-plus-plus", "gamma", config.gamma)?;
                Box::new(config)
            }
            Self::Gae(config) => {
                unit_interval("gae", "gamma", config.gamma)?;
                unit_interval("gae", "lambda", config.lambda)?;
                Box::new(config)
            }
        })
    }
}

fn unit_interval(rule: &'static str, field: &'static str, value: f64) -> Result<(), CreditError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(CreditError::Setting { rule, field, value, want: "between 0 and 1" })
}
