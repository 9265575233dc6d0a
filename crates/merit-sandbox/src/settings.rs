//! How a sandbox is set up, as found in a config file.
//!
//! ```
//! let text = r#"
//! servers = 2
//! without = ["cgroup"]
//! limits = { seconds = 2.0, memory_mb = 256 }
//! "#;
//! let settings: merit_sandbox::SandboxSettings = toml::from_str(text).unwrap();
//! settings.validate().unwrap();
//! ```

use crate::{Layer, Limits, SandboxError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The modules imported ahead of time unless others are named.
pub const WARM_MODULES: &[&str] = &[
    "math",
    "json",
    "re",
    "random",
    "itertools",
    "functools",
    "collections",
    "statistics",
    "datetime",
    "fractions",
    "decimal",
    "heapq",
    "bisect",
    "string",
    "io",
    "traceback",
    "ast",
    "contextlib",
];

/// How a sandbox is set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// The interpreter. Absent: `python3` of the PATH.
    pub python: Option<PathBuf>,
    /// Modules imported ahead of time; a program that needs others pays for the import itself.
    pub modules: Vec<String>,
    /// Folders of installed packages that programs may import from, read-only. None by default: the standard library.
    pub packages: Vec<PathBuf>,
    /// Fork servers. 0: one per core, at most four.
    pub servers: usize,
    /// Workers that each server keeps fenced and waiting. 0: every call forks.
    pub spare: usize,
    /// Programs that run at once; further calls wait.
    pub max_running: usize,
    /// Layers to run without where this kernel lacks them, and not to use where it has them.
    pub without: Vec<Layer>,
    /// The limits spare workers are made for, and the widest that cost no fork.
    pub limits: Limits,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            python: None,
            modules: WARM_MODULES.iter().map(|&name| name.to_owned()).collect(),
            packages: Vec::new(),
            servers: 0,
            spare: 2,
            max_running: 64,
            without: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl SandboxSettings {
    /// Refuses what cannot work, saying what would.
    pub fn validate(&self) -> Result<(), SandboxError> {
        self.limits.validate()?;
        let refuse = |text: String| Err(SandboxError::Settings(text));
        if self.servers > 64 {
            return refuse(format!("`servers` = {}: at most 64", self.servers));
        }
        if self.spare > 64 {
            return refuse(format!("`spare` = {}: at most 64 for each server", self.spare));
        }
        if !(1..=4096).contains(&self.max_running) {
            return refuse(format!("`max_running` = {}: it must lie between 1 and 4096", self.max_running));
        }
        if let Some(odd) = self.modules.iter().find(|name| !is_module_name(name)) {
            return refuse(format!("`modules`: {odd:?} is not the name of a module"));
        }
        if let Some(path) = self.packages.iter().find(|path| !path.is_absolute() || !path.is_dir()) {
            return refuse(format!("`packages`: {} is not the absolute path of a folder", path.display()));
        }
        Ok(())
    }

    /// How many servers there will be.
    pub(crate) fn server_count(&self) -> usize {
        match self.servers {
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4)),
            count => count,
        }
    }
}

fn is_module_name(name: &str) -> bool {
    let good_part = |part: &str| {
        part.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    name.len() <= 200 && name.split('.').all(good_part)
}
