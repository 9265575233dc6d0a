//! Every world by name. A new world is one file, one variant of [`EnvConfig`] and one line in [`ENVS`].

use crate::ledger::{self, Ledger, LedgerConfig};
use crate::tasks::{self, Tasks, TasksConfig};
use crate::vault::{self, Vault, VaultConfig};
use crate::{Env, EnvError};
use merit_core::About;
use merit_core::registry::{UnknownName, find};
use merit_tools::Toolbox;
use serde::{Deserialize, Serialize};

/// A registered world.
#[derive(Debug, Clone, Copy)]
pub struct EnvEntry {
    /// Name, one line of help, paper.
    pub about: About,
    /// The settings it has when a recipe gives only its name.
    pub default: fn() -> EnvConfig,
}

/// All worlds.
pub const ENVS: &[EnvEntry] = &[
    EnvEntry { about: ledger::ABOUT, default: || EnvConfig::Ledger(LedgerConfig::default()) },
    EnvEntry { about: vault::ABOUT, default: || EnvConfig::Vault(VaultConfig::default()) },
    EnvEntry { about: tasks::ABOUT, default: || EnvConfig::Tasks(TasksConfig::default()) },
];

/// The world called `name`, or an error that names the nearest.
///
/// ```
/// let ledger = (merit_env::env("ledger").unwrap().default)().build().unwrap();
/// assert_eq!(ledger.about().name, "ledger");
/// assert!(merit_env::env("leger").unwrap_err().to_string().contains("did you mean `ledger`?"));
/// ```
pub fn env(name: &str) -> Result<&'static EnvEntry, UnknownName> {
    find("world", ENVS, |entry| entry.about, name)
}

/// A world in a recipe, chosen by `name`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum EnvConfig {
    /// [`Ledger`].
    Ledger(LedgerConfig),
    /// [`Vault`].
    Vault(VaultConfig),
    /// [`Tasks`].
    Tasks(TasksConfig),
}

impl EnvConfig {
    /// Checks the settings without building anything.
    pub fn validate(&self) -> Result<(), EnvError> {
        match self {
            Self::Ledger(config) => config.validate(),
            Self::Vault(config) => config.validate(),
            Self::Tasks(config) => config.validate(),
        }
    }

    /// The world it describes, with its tools at work.
    pub fn build(&self) -> Result<Box<dyn Env>, EnvError> {
        self.build_with(&Toolbox::Live)
    }

    /// The world it describes, whose calls are answered as `toolbox` says.
    pub fn build_with(&self, toolbox: &Toolbox) -> Result<Box<dyn Env>, EnvError> {
        Ok(match self {
            Self::Ledger(config) => Box::new(Ledger::with_toolbox(config.clone(), toolbox)?),
            Self::Vault(config) => Box::new(Vault::new(config.clone())?),
            Self::Tasks(config) => Box::new(Tasks::with_toolbox(config, toolbox)?),
        })
    }
}
