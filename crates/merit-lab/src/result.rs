//! What is recorded of a system: every seed, curves, costs, verdict, hash, version, machine, date.

use crate::scoreboard::number;
use crate::{Arm, Cell, Cells, Look, LookTime, Role, Ruling, System};
use merit_studies::{CellRecord, Point};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemResult {
    pub system: String,
    /// Hash of the resolved file; a result whose hash is not its file's is of another experiment.
    pub hash: String,
    pub about: String,
    pub paper: String,
    pub scope: String,
    pub confidence: String,
    pub ruling: Ruling,
    pub look: Look,
    pub arms: Vec<ArmLine>,
    /// Wall seconds of all cells together.
    pub cell_seconds: f64,
    /// How long each look took, the first one first. Empty: it was recorded before looks were timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub look_times: Vec<LookTime>,
    pub version: String,
    pub machine: Machine,
    /// When the result was made, in Unix milliseconds.
    pub date_ms: u64,
    pub cells: Vec<Cell>,
}

/// An arm as a reader knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmLine {
    pub part: String,
    pub name: String,
    pub role: Role,
    pub about: String,
}

/// The machine that the cells ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
}

impl Machine {
    /// The machine that this program runs on.
    pub fn here() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model =
            info.lines().find_map(|line| Some(line.strip_prefix("model name")?.split_once(':')?.1.trim()));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { cpu: model.unwrap_or(std::env::consts::ARCH).to_owned(), cores }
    }
}

/// Points of a curve that are kept.
const MOST_POINTS: usize = 24;

impl SystemResult {
    pub fn new(system: &System, cells: &Cells, ruling: Ruling, look: Look) -> Self {
        let line = |part: &str, arm: &Arm| ArmLine {
            part: part.to_owned(),
            name: arm.name.clone(),
            role: arm.role,
            about: arm.about.clone(),
        };
        let arms =
            system.parts.iter().flat_map(|part| part.arms.iter().map(|arm| line(&part.name, arm))).collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        Self {
            system: system.name.clone(),
            hash: system.hash(),
            about: system.about.clone(),
            paper: system.paper.clone(),
            scope: system.scope.clone(),
            confidence: system.confidence.clone(),
            ruling,
            look,
            arms,
            cell_seconds: short(cells.0.iter().map(|cell| cell.seconds).sum()),
            look_times: Vec::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: Machine::here(),
            date_ms: now,
            cells: cells.0.iter().map(kept).collect(),
        }
    }

    /// The same, which says how long its looks took.
    #[must_use]
    pub fn with_look_times(mut self, times: &[LookTime]) -> Self {
        self.look_times =
            times.iter().map(|time| LookTime { seconds: short(time.seconds), ..*time }).collect();
        self
    }

    /// How long it took, in words: the seconds of its cells and, where they are known, of its looks.
    pub fn time_words(&self) -> String {
        let mut words = format!("{} s of cells", number(self.cell_seconds));
        for (time, look) in self.look_times.iter().zip(["first", "second"]) {
            let by = time.workers.map_or_else(
                || "on a cluster".to_owned(),
                |workers| format!("by {workers} worker{}", if workers == 1 { "" } else { "s" }),
            );
            words.push_str(&format!(
                "; {look} look: {} cells in {} s {by}",
                time.cells,
                number(time.seconds)
            ));
        }
        words
    }

    /// The verdict with its scope, in a line.
    pub fn line(&self) -> String {
        let why = if self.ruling.why.is_empty() { String::new() } else { format!(": {}", self.ruling.why) };
        format!("{} {}{why} ({}; {})", self.system, self.ruling.verdict.words(), self.scope, self.confidence)
    }

    /// How many seeds its cells have.
    pub fn seeds(&self) -> usize {
        let mut seeds: Vec<u64> = self.cells.iter().map(|cell| cell.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.len()
    }
}

/// A cell as it is recorded: fewer points, fewer digits, no values by task.
fn kept(cell: &Cell) -> Cell {
    let record = cell.record.as_ref().map(|record| CellRecord {
        costs: record.costs.iter().map(|(axis, cost)| (axis.clone(), short(*cost))).collect(),
        measures: record.measures.iter().map(|(name, value)| (name.clone(), short(*value))).collect(),
        curves: record.curves.iter().map(|(name, points)| (name.clone(), thinned(points))).collect(),
        paired: std::collections::BTreeMap::new(),
        notes: record.notes.clone(),
    });
    Cell { record, seconds: short(cell.seconds), ..cell.clone() }
}

fn thinned(points: &[Point]) -> Vec<Point> {
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let keep = |at: usize| at.is_multiple_of(every) || at + 1 == points.len();
    let kept = points.iter().enumerate().filter(|(at, _)| keep(*at));
    kept.map(|(_, point)| Point {
        costs: point.costs.iter().map(|(axis, cost)| (axis.clone(), short(*cost))).collect(),
        value: short(point.value),
    })
    .collect()
}

/// Five digits.
fn short(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
