//! What an import gives back: episodes, and everything that did not become part of one.

use crate::ItemError;
use merit_core::{EpisodeId, ScoredEpisode};
use std::collections::BTreeMap;
use std::fmt;

/// What was read of a file.
#[derive(Debug, Clone)]
pub struct Imported {
    /// What the file turned out to be.
    pub found: Found,
    /// The episodes, in the order of the file. A score is present only where the file holds one of merit's own.
    pub episodes: Vec<ScoredEpisode>,
    /// Entries of the file that did not become episodes.
    pub skipped: Vec<Skipped>,
    /// What was odd about entries that did.
    pub remarks: Vec<Remark>,
    /// Fields that have no place in the record, with the number of entries that have them.
    pub left_out: BTreeMap<String, usize>,
}

/// What a file turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub format: &'static str,
    /// How its entries lie in it.
    pub layout: Layout,
    /// Whether the format was detected rather than named.
    pub detected: bool,
    /// Entries in the file.
    pub entries: usize,
    /// Bytes in the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The world the tasks were given.
    pub world: String,
    /// The reported reward from which on a task counts as solved. Absent: it is unknown.
    pub solved_at: Option<f64>,
}

/// How entries lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One JSON array of them.
    Array,
    /// One JSON value per line.
    Lines,
    /// One JSON value in all.
    Single,
}

/// An entry that did not become an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Skipped {
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its position in the file, from 0.
    pub item: usize,
    pub why: ItemError,
}

/// Something odd about an entry that did become an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The line it begins on, from 1.
    pub line: usize,
    pub episode: EpisodeId,
    /// What was odd about the item, in words.
    pub what: String,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = match self.layout {
            Layout::Array => "a JSON array",
            Layout::Lines => "JSON lines",
            Layout::Single => "one JSON value",
        };
        let how = if self.detected { "detected" } else { "named" };
        write!(f, "{} ({how}), {layout}, {} entries, world {}", self.format, self.entries, self.world)
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (item {}): {}", self.line, self.item, self.why)
    }
}

/// The first few, one to a line.
pub(crate) fn list(skipped: &[Skipped]) -> String {
    const SHOWN: usize = 10;
    let mut lines: Vec<String> = skipped.iter().take(SHOWN).map(|s| format!("  {s}")).collect();
    if skipped.len() > SHOWN {
        lines.push(format!("  … and {} more", skipped.len() - SHOWN));
    }
    lines.join("\n")
}
