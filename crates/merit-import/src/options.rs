//! What a person may decide about an import.

use crate::ImportError;
use merit_core::Split;

/// How to read a file. The defaults lose nothing and claim nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportOptions {
    /// Name of the tasks' world, after `imported/`. Absent: the format names it.
    pub world: Option<String>,
    /// The split of the tasks. Held out by default: what has no tokens cannot be learned from.
    pub split: Split,
    /// Whether entries that cannot be read may be left out; otherwise they fail the import.
    pub allow_skipped: bool,
    /// A tool's answer that begins so is an error, and every other is not. Empty: the format's own convention; where it has
    /// none, only answers marked as errors are taken for such, and how the others ended stays unknown.
    pub error_prefixes: Vec<String>,
    /// The reported reward from which on a task counts as solved. Absent: the format's own; where it has none, it is
    /// unknown before scoring whether a task was solved.
    pub solved_at: Option<f64>,
    pub limits: ImportLimits,
}

/// Limits on size, so that a wrong file fails instead of filling the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportLimits {
    pub file_bytes: u64,
    /// Bytes of one entry; a larger one is skipped.
    pub entry_bytes: usize,
    /// Messages of one entry; a longer one is skipped.
    pub messages: usize,
    /// Calls of one entry; one with more is skipped.
    pub calls: usize,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            world: None,
            split: Split::HeldOut,
            allow_skipped: false,
            error_prefixes: Vec::new(),
            solved_at: None,
            limits: ImportLimits::default(),
        }
    }
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self { file_bytes: 1 << 30, entry_bytes: 64 << 20, messages: 10_000, calls: 10_000 }
    }
}

impl ImportOptions {
    pub(crate) fn check(&self) -> Result<(), ImportError> {
        let refuse = |what: &str| Err(ImportError::Setting { what: what.to_owned() });
        if self.solved_at.is_some_and(|reward| !reward.is_finite()) {
            return refuse("the reward from which on a task counts as solved must be a finite number");
        }
        if self.error_prefixes.iter().any(String::is_empty) {
            return refuse("an empty error prefix would make every answer of a tool an error");
        }
        let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.world.as_ref().is_some_and(|name| name.is_empty() || !name.chars().all(named)) {
            return refuse("the name of a world is made of letters, digits, `-`, `_` and `.`");
        }
        Ok(())
    }
}
