//! What one program may use. Plain data, checked by [`Limits::validate`] before anything runs.

use crate::SandboxError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one program may use at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Wall-clock seconds from the moment the program starts; it is stopped at this deadline.
    pub seconds: f64,
    /// Memory beyond the warm interpreter's own, in MiB: the address space of each process, and the private memory of all that
    /// the program starts together.
    pub memory_mb: u64,
    /// Standard output and error together, in bytes; also the longest `__result__`.
    pub output_bytes: usize,
    /// The private folder, in MiB: files, standard input and whatever the program writes.
    pub disk_mb: u64,
    /// Processes the program may start. With 0, forking is refused by the kernel.
    pub processes: u32,
    /// Threads besides the main one.
    pub threads: u32,
    /// Open descriptors.
    pub open_files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            seconds: 5.0,
            memory_mb: 512,
            output_bytes: 256 * 1024,
            disk_mb: 16,
            processes: 0,
            threads: 16,
            open_files: 64,
        }
    }
}

impl Limits {
    /// Refuses limits under which no program could run or that the kernel cannot express.
    pub fn validate(&self) -> Result<(), SandboxError> {
        check_seconds(self.seconds)?;
        within("memory_mb", self.memory_mb, 8, 1 << 20)?;
        within("output_bytes", self.output_bytes as u64, 1, 1 << 30)?;
        within("disk_mb", self.disk_mb, 1, 1 << 16)?;
        within("processes", self.processes.into(), 0, 4096)?;
        within("threads", self.threads.into(), 0, 4096)?;
        within("open_files", self.open_files.into(), 16, 4096)
    }

    /// Whether a worker made for `self` can serve a program under `asked`: everything is either the same or can be lowered
    /// from inside. The private folder's size and the kind of system call filter cannot.
    pub(crate) fn can_serve(&self, asked: &Limits) -> bool {
        asked.disk_mb == self.disk_mb
            && asked.processes == self.processes
            && asked.memory_mb <= self.memory_mb
            && asked.threads <= self.threads
            && asked.open_files <= self.open_files
    }
}

/// Refuses a deadline that is not a positive, finite number of at most a day.
pub(crate) fn check_seconds(seconds: f64) -> Result<(), SandboxError> {
    if seconds.is_finite() && (0.001..=86_400.0).contains(&seconds) {
        return Ok(());
    }
    Err(SandboxError::Settings(format!("`seconds` = {seconds}: it must lie between 0.001 and 86400")))
}

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<(), SandboxError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(SandboxError::Settings(format!("`{name}` = {value}: it must lie between {least} and {most}")))
}
