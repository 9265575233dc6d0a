//! A run on disk: SQLite record, atomic checkpoints, resume.
//!
//! One folder holds everything of a run: `recipe.toml` as resolved, `merit.db` with episodes, scores, credits, metrics and
//! events as they happen, `checkpoints/` replaced atomically, and `report.html`. A [`RunFolder`] is the only way in: it
//! holds the lock that keeps a second trainer out, and everything it says was committed stays readable after a kill or a
//! full disk. Nothing here knows a model, a reward or a page.
//!
//! ```
//! use merit_store::{RunFolder, RunInfo};
//! let home = tempfile::tempdir()?;
//! let info = RunInfo { recipe: "ledger".into(), recipe_hash: "ab12".into(), seed: 7, version: "0.1.0".into(), started_ms: 0 };
//! let run = RunFolder::create(&home.path().join("run"), "world = \"ledger\"\n", &info)?;
//! run.record_metrics("train", 1, &[("success", 0.25)])?;
//! run.save_checkpoint(1, &[("weights.bin", &[1, 2, 3])])?;
//! drop(run);
//!
//! let run = RunFolder::open(&home.path().join("run"))?;
//! assert_eq!(run.metric("train", "success")?, vec![(1, 0.25)]);
//! assert_eq!(run.latest_checkpoint()?.unwrap().step, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blobs;
mod checkpoint;
mod checkpoint_dir;
mod durable;
mod error;
mod folder;
mod import;
mod lock;
mod marks;
mod preflight;
mod read;
mod rows;
mod schema;
mod wire;
mod write;

pub use checkpoint::{Checkpoint, Content, DamagedCheckpoint};
pub use error::StoreError;
pub use folder::{RunFolder, RunInfo};
pub use import::ImportInfo;
pub use preflight::{Space, preflight};
pub use rows::{CreditRow, EpisodeFilter, EpisodeRow, Event, Metric, StoredEpisode, TermRow};
pub use schema::FORMAT;
