//! A cell: one arm with one seed, finished, on disk.

use crate::LabError;
use crate::experiment::Experiment;
use merit_studies::CellRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A finished cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub part: String,
    pub arm: String,
    pub seed: u64,
    pub seconds: f64,
    /// What it found. Absent: it broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<CellRecord>,
    /// The error of a cell that broke. Absent: it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Whether it broke because whoever ran it was lost: an infrastructure failure, after which nobody knows what was done outside. A
    /// cell's own file never says so: the mark of a cell that was begun elsewhere does, until it is known what came of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

/// The finished cells of a system.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells(pub Vec<Cell>);

/// What names a cell on disk: its settings, budget and seed, and the program that ran it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellKey(String);

impl CellKey {
    pub(crate) fn new(experiment: &Experiment, budget: &BTreeMap<String, f64>, seed: u64) -> Self {
        Self::by(experiment, budget, seed, &PROGRAM)
    }

    /// What names it whichever program runs it.
    pub(crate) fn of_any_program(experiment: &Experiment, budget: &BTreeMap<String, f64>, seed: u64) -> Self {
        Self::by(experiment, budget, seed, "")
    }

    fn by(experiment: &Experiment, budget: &BTreeMap<String, f64>, seed: u64, program: &str) -> Self {
        let text = serde_json::to_string(&(&experiment.settings, budget, seed, program)).unwrap_or_default();
        Self(merit_core::hex(&Sha256::digest(text.as_bytes()))[..20].to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hash of the program: a cell that another program ran is run again.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let read = loaded_from().and_then(std::fs::read);
    read.map_or_else(
        |_| env!("CARGO_PKG_VERSION").to_owned(),
        |bytes| merit_core::hex(&Sha256::digest(bytes)),
    )
});

/// The file that this code was loaded from: the program, or a module of somebody else's (Python's package has the command in one).
fn loaded_from() -> std::io::Result<PathBuf> {
    let here = loaded_from as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let holds = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |digits| usize::from_str_radix(digits, 16).ok();
        let inside = (number(start)?..number(end)?).contains(&here);
        rest.find('/').filter(|_| inside).map(|at| PathBuf::from(&rest[at..]))
    };
    maps.lines().find_map(holds).map_or_else(std::env::current_exe, Ok)
}

impl Cell {
    /// The cell that a file holds. Absent: there is none, or it is damaged and is done again.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    /// Writes it, whole or not at all.
    pub(crate) fn save(&self, path: &Path) -> Result<(), LabError> {
        put(path, &serde_json::to_vec(self).unwrap_or_default())
    }
}

/// Writes a file so that it is there whole or not at all.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let beside = path.with_extension("tmp");
    std::fs::write(&beside, bytes).map_err(LabError::file("write", &beside))?;
    std::fs::rename(&beside, path).map_err(LabError::file("write", path))
}

impl Cells {
    /// The records of an arm by seed.
    pub(crate) fn of<'a>(
        &'a self,
        part: &'a str,
        arm: &'a str,
    ) -> impl Iterator<Item = (u64, &'a CellRecord)> {
        let own = self.0.iter().filter(move |cell| cell.part == part && cell.arm == arm);
        own.filter_map(|cell| Some((cell.seed, cell.record.as_ref()?)))
    }

    /// The records of all arms of a part at a seed.
    pub(crate) fn at<'a>(&'a self, part: &str, seed: u64) -> Vec<(&'a str, &'a CellRecord)> {
        let own = self.0.iter().filter(|cell| cell.part == part && cell.seed == seed);
        own.filter_map(|cell| Some((cell.arm.as_str(), cell.record.as_ref()?))).collect()
    }
}
