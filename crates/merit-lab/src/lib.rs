//! The laboratory: does a published claim hold here?
//!
//! A [`System`] is one TOML file: an experiment, the arms that are laid over it, the budget that must be equal, premises, claims
//! and seeds. [`Grid`] runs its cells (an arm with a seed) and keeps each on disk; [`judge`] turns the cells into a verdict by one
//! rule for all; [`SystemResult`] is what is recorded, drawn and listed. What an arm runs is a recipe (through merit-run) or a
//! study (merit-studies); nothing after `experiment` knows which.
//!
//! ```
//! let system = merit_lab::load("nanorobot-q", &[])?;
//! let part = &system.parts[0];
//! let arms: Vec<&str> = part.arms.iter().map(|arm| arm.name.as_str()).collect();
//! assert!(arms.len() > 1 && !part.claims.is_empty());
//! assert!(part.claims.iter().all(|claim| arms.contains(&claim.arm.as_str())));
//! # Ok::<(), merit_lab::LabError>(())
//! ```

mod arm;
mod cell;
mod changes;
mod claim;
mod experiment;
mod grid;
mod measure;
mod page;
mod plot;
mod range;
mod recipe;
mod result;
mod scoreboard;
mod seeds;
mod shipped;
mod system;
mod verdict;

pub use arm::{Arm, Role};
pub use cell::{Cell, CellKey, Cells};
pub use changes::{Change, changes};
pub use claim::{Bound, Claim, Test};
pub use grid::{CellEvent, CellRunner, Grid, GridOptions, LookTime, OpenCell, Progress};
pub use measure::{Measure, Reading};
pub use merit_studies::STUDIES;
pub use page::{index_page, system_page};
pub use result::{Machine, SystemResult};
pub use scoreboard::{markdown, table};
pub use seeds::seeds_page;
pub use shipped::{load, reading_of, readings, result_of, results, systems};
pub use system::{Part, System, SystemFile};
pub use verdict::{Judged, Look, Ruling, Verdict, judge, judge_again};

/// Why a system has no result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The file cannot be used.
    #[error(transparent)]
    Located(#[from] merit_run::toml_error::Located),
    #[error("{file}: {why}")]
    System { file: String, why: String },
    #[error(transparent)]
    Unknown(#[from] merit_core::registry::UnknownName),
    #[error(transparent)]
    Recipe(#[from] merit_run::RecipeError),
    #[error("cannot {doing} {path}: {why}")]
    File { doing: &'static str, path: String, why: std::io::Error },
    /// Others were to run the cells, and did not.
    #[error("running cells elsewhere: {0}")]
    Elsewhere(String),
    /// Somebody asked it to stop; the finished cells are kept.
    #[error("stopped; the cells that are finished are kept, and the same command goes on from them")]
    Stopped,
}

impl LabError {
    pub(crate) fn file(doing: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |why| Self::File { doing, path, why }
    }
}
