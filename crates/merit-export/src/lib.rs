//! What can others do with a run? Its episodes as rows of other trainers' data sets, its metrics as CSV and event files.
//!
//! In: scored episodes and metrics of the record. Out: rows in a [`Shape`] that TRL or verl reads, as JSON lines or as
//! Parquet ([`ParquetRows`]), and files.
//! [`select`] says which episodes are taken and counts why the others are not, [`conversation`] writes one as messages, [`Rows`]
//! makes rows of them: all of it pure. [`export_episodes`] goes through a folder step by step, [`NewFile`] never overwrites.
//! A new shape is a variant of [`Shape`] and its arm in `shape.rs`.
//!
//! ```
//! use merit_core::{End, Episode, EpisodeId, Reward, Score, ScoredEpisode, Task};
//! use merit_export::{Choice, LeftOut, Rows, Shape, select};
//! let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
//! let episode = Episode::new(id, Task::new("quiz", "quiz/1").with_answer("42"), End::Answered);
//! let scored = ScoredEpisode { episode: episode.into(), score: Some(Score::new(Reward::Value { value: 1.0 })) };
//! let mut left_out = LeftOut::new();
//! let taken = select(&Choice::default(), std::slice::from_ref(&scored), &mut left_out);
//! let rows = Rows::new(Shape::Grpo).of(&taken[0]);
//! assert_eq!(rows[0]["answer"], "42");
//! ```

mod columns;
mod conversation;
mod episodes;
mod metrics;
mod new_file;
mod parquet;
mod select;
mod shape;
mod tensorboard;

pub use conversation::{Conversation, conversation};
pub use episodes::{Summary, export_episodes, exported_phases};
pub use metrics::csv;
pub use new_file::NewFile;
pub use parquet::{Columns, ParquetRows};
pub use select::{Choice, LeftOut, Pick, Taken, select};
pub use shape::{Rows, Shape};
pub use tensorboard::{event_file_name, events};

use std::path::{Path, PathBuf};

/// Why something could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{path} is there already, and nothing is overwritten; name another, or remove it")]
    Exists { path: PathBuf },
    #[error("cannot write {path}: {why}")]
    Io { path: PathBuf, why: String },
    /// The receiver of the rows stopped taking them.
    #[error(transparent)]
    Rows(#[from] std::io::Error),
    /// A Parquet file that cannot be written.
    #[error(transparent)]
    Parquet(#[from] ::parquet::errors::ParquetError),
    #[error(transparent)]
    Store(#[from] merit_store::StoreError),
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> ExportError {
    let path = path.to_owned();
    move |error| ExportError::Io { path, why: error.to_string() }
}
