//! Episodes of runs and of other people's files, as plain values.

use crate::reward::Rows;
use crate::{error, plain};
use merit_core::ScoredEpisode;
use merit_store::{EpisodeFilter, RunFolder};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

fn told(scored: &ScoredEpisode) -> Value {
    json!({
        "id": scored.episode.id.to_string(), "outcome": scored.outcome(), "reward": scored.reward(),
        "score": scored.score, "episode": scored.episode,
    })
}

/// The episodes of a run's folder, or of a file that `merit import` reads, each a dict of `id`, `outcome`, `reward`, `score` and `episode`.
///
/// `phase`, `step` and `task_id` leave out those of other phases, steps and tasks of a run.
#[pyfunction]
#[pyo3(signature = (path, *, phase = None, step = None, task_id = None))]
pub(crate) fn episodes<'py>(
    py: Python<'py>,
    path: PathBuf,
    phase: Option<String>,
    step: Option<u64>,
    task_id: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let filter = EpisodeFilter { phase: phase.map(Into::into), step, group: None, task_id };
    let found = py.detach(|| -> Result<Vec<Value>, String> {
        if !path.is_dir() {
            let read =
                merit_import::read_file(&path, merit_import::AUTO, &merit_import::ImportOptions::default());
            return Ok(read.map_err(|why| why.to_string())?.episodes.iter().map(told).collect());
        }
        let folder = RunFolder::open_read_only(&path).map_err(|why| why.to_string())?;
        let stored = folder.episodes(&filter).map_err(|why| why.to_string())?;
        Ok(stored.iter().map(|stored| told(&stored.scored)).collect())
    });
    plain::give(py, &found.map_err(|why| error::input(py, why))?)
}

/// Rows of any shape that `merit import` reads, as merit's own episodes.
#[pyfunction]
pub(crate) fn parse_episodes<'py>(
    py: Python<'py>,
    rows: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = Rows::of(py, &rows)?;
    let episodes = py.detach(|| rows.episodes()).map_err(|why| error::input(py, why))?;
    plain::give(py, &episodes)
}
