//! The settings of `simulated`.

use super::command::CommandPlayer;
use super::declaration::{self, Declaration};
use super::examples::ExamplesPlayer;
use super::player::ToolPlayer;
use super::schema::SchemaPlayer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// `simulated`: tools and the role that plays them. Either `tools` or `file` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedConfig {
    /// Who answers what was not recorded.
    pub role: RoleConfig,
    /// A JSON file of tools, also as chat interfaces list functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The tools themselves. Absent: they are in `file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Declaration>>,
}

/// What answers the calls in place of real tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoleConfig {
    /// Draws an output that fits `returns`, the same for the same call.
    Schema {
        /// Decides what is drawn.
        #[serde(default)]
        seed: u64,
    },
    /// Refuses what was not recorded.
    Examples {},
    /// A program that answers JSON lines: `{"tool", "arguments", "history"}` by `{"output": …}` or `{"refused": "…"}`.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Seconds for one answer.
        #[serde(default = "thirty", alias = "deadline_s")]
        timeout_s: f64,
    },
}

fn thirty() -> f64 {
    30.0
}

impl SimulatedConfig {
    /// Exactly one of `tools` and `file` is given.
    pub(super) fn check_source(&self) -> Result<(), String> {
        match (&self.tools, &self.file) {
            (Some(_), Some(_)) => Err("`tools` and `file` are both given; keep one".to_owned()),
            (None, None) => Err("there are neither `tools` nor a `file` of them".to_owned()),
            (Some(_), None) | (None, Some(_)) => Ok(()),
        }
    }

    pub(super) fn declarations(&self) -> Result<Vec<Declaration>, String> {
        self.check_source()?;
        match (&self.tools, &self.file) {
            (_, Some(path)) => {
                declaration::read_file(path).map_err(|why| format!("`file` {}: {why}", path.display()))
            }
            (tools, None) => Ok(tools.clone().unwrap_or_default()),
        }
    }
}

impl RoleConfig {
    /// Whether the role can play; starts nothing.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self::Command { command, timeout_s } = self else { return Ok(()) };
        if command.first().is_none_or(String::is_empty) {
            return Err("`role.command` names no program".to_owned());
        }
        if !(0.001..=3600.0).contains(timeout_s) {
            return Err(format!("`role.timeout_s` is {timeout_s}; give 0.001 to 3600"));
        }
        Ok(())
    }

    pub(super) fn player(&self, declarations: &[Declaration]) -> Result<Arc<dyn ToolPlayer>, String> {
        self.check()?;
        match self {
            Self::Schema { seed } => Ok(Arc::new(SchemaPlayer::new(*seed, declarations)?)),
            Self::Examples {} => Ok(Arc::new(ExamplesPlayer)),
            Self::Command { command, timeout_s } => {
                Ok(Arc::new(CommandPlayer::new(command.clone(), Duration::from_secs_f64(*timeout_s))))
            }
        }
    }
}
