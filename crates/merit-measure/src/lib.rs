//! Is it true? Statistics and the self-contained report.
//!
//! In: a run on disk. Out: a [`RunSummary`] of what it shows with intervals and controls, one HTML file that a person can
//! read anywhere ([`write_report`]), and tables over several seeds ([`compare_runs`]). Reads the record and nothing else:
//! what is not recorded is absent here, and never a zero.
//!
//! ```
//! use merit_core::{Phase, When};
//! use merit_measure::RunSummary;
//! use merit_store::{RunFolder, RunInfo};
//! let home = tempfile::tempdir()?;
//! let info = RunInfo { recipe: "ledger".into(), recipe_hash: "ab12".into(), seed: 7, version: "0.1.0".into(), started_ms: 0 };
//! let run = RunFolder::create(&home.path().join("run"), "", &info)?;
//! run.record_metrics(Phase::eval(When::After), 8, &[("success", 0.75), ("count", 40.0)])?;
//! let after = RunSummary::read(&run)?.evaluation(When::After).map(|held_out| held_out.all);
//! assert_eq!(after.map(|rate| (rate.success, rate.count)), Some((0.75, Some(40))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod browse;
mod chart;
mod compare;
mod curve;
mod episode_view;
mod headline;
mod held_out;
pub mod html;
mod report;
mod specimens;
mod summary;
mod tables;
mod tokens;
mod versus;

pub use compare::{Comparison, SeedRow, compare_runs};
pub use curve::{Curve, CurvePoint, TermSeries};
pub use held_out::{Change, HeldOut, Rate};
pub use report::{render_report, write_report};
pub use summary::{RunSummary, Series};
pub use versus::{Condition, Versus, conditions, versus};

/// Why a run cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The record cannot be read, or the report not written.
    #[error(transparent)]
    Store(#[from] merit_store::StoreError),
    #[error("there is no run to compare; name at least one run folder")]
    NoRuns,
    /// A run without the evaluation that is compared.
    #[error(
        "{path} has no held-out evaluation at its end: it was not finished, or its recipe measures nothing; `merit train --resume \
         {path}` goes on"
    )]
    NotMeasured { path: String },
    /// Two runs that would count as one.
    #[error("{first} and {second} are of the same recipe and the same seed ({seed}); name one of them")]
    Twice { first: String, second: String, seed: u64 },
    /// Runs of different recipes in one table.
    #[error(
        "{path} ran recipe `{found}`, the first run `{first}`; compare runs of one recipe that differ in their seed"
    )]
    Mixed {
        path: String,
        found: String,
        /// The recipe of the first.
        first: String,
    },
}
