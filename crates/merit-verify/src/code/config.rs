//! Where the program stands in a response, and what it may use.

use super::CodeError;
use merit_sandbox::{Limits, SandboxSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A code verifier. Every setting has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeConfig {
    /// What the program is written in.
    pub language: Language,
    /// Where in a response the program stands.
    pub extract: CodeExtract,
    /// Put before every program, e.g. the imports its task promises.
    pub prelude: String,
    /// What tests with `check(candidate)` check where they do not say it themselves: `f`, or `Solution().f`.
    pub entry_point: Option<String>,
    /// What the program may use; `seconds` is for loading it, and for each test.
    pub limits: Limits,
    /// Longest time for all tests together; those that come too late count as out of time.
    pub total_seconds: f64,
    /// How often the program is started anew for the remaining tests after it ended or hung.
    pub restarts: u32,
    /// Seed of Python's `random`, in the program and in the tests.
    pub seed: u64,
    /// What holds the program in.
    pub sandbox: SandboxSettings,
}

impl Default for CodeConfig {
    fn default() -> Self {
        Self {
            language: Language::Python,
            extract: CodeExtract::Whole,
            prelude: String::new(),
            entry_point: None,
            limits: Limits::default(),
            total_seconds: 60.0,
            restarts: 8,
            seed: 0,
            sandbox: SandboxSettings::default(),
        }
    }
}

impl CodeConfig {
    pub(super) fn check(&self) -> Result<(), CodeError> {
        self.limits.validate().map_err(|why| CodeError::Config(why.to_string()))?;
        self.sandbox.validate().map_err(|why| CodeError::Config(why.to_string()))?;
        let refuse = |text: String| Err(CodeError::Config(text));
        if !(self.total_seconds.is_finite() && self.total_seconds >= self.limits.seconds) {
            return refuse(format!(
                "`total_seconds` = {}: it must be at least `limits.seconds` = {}",
                self.total_seconds, self.limits.seconds
            ));
        }
        if self.total_seconds > 3600.0 {
            return refuse(format!("`total_seconds` = {}: at most 3600", self.total_seconds));
        }
        if self.restarts > 1000 {
            return refuse(format!("`restarts` = {}: at most 1000", self.restarts));
        }
        if self.sandbox.max_running < 2 {
            return refuse(
                "`sandbox.max_running` = 1: a program and its tests run at once, so give at least 2"
                    .to_owned(),
            );
        }
        match &self.entry_point {
            Some(path) => super::test::check_path("entry_point", path).map_err(CodeError::Config),
            None => Ok(()),
        }
    }
}

/// What programs are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// Programs in Python 3.
    #[default]
    Python,
}

/// Where in a response the program stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodeExtract {
    /// It is the response.
    #[default]
    Whole,
    /// In its last block between lines of three backticks that is marked as Python or not at all.
    LastFence,
}
