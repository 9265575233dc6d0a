//! An arm: settings laid over the experiment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One arm of a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Name in tables and claims.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// What the arm changes, in one line.
    pub about: String,
    /// What differs from the experiment.
    #[serde(default)]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub set: toml::Table,
    /// Laid over this arm alone for a smoke.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub smoke: toml::Table,
    /// Whether its budget must be equal to the others'. Not for scripted policies and oracles.
    #[serde(default = "yes")]
    pub equal: bool,
    /// Whether every run has it; otherwise only `--extended` runs it, and no required claim or premise may rest on it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub core: bool,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
fn is_yes(value: &bool) -> bool {
    *value
}

/// What an arm is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What the paper proposes.
    Method,
    /// What it is compared with.
    Baseline,
    /// What must not work, or not matter.
    Control,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Baseline => "baseline",
            Self::Control => "control",
        }
    }
}
