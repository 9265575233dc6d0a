//! Episodes of runs and of other people's files, as plain values, and files of them.

use crate::env::Env;
use crate::process::apart;
use crate::reward::{Rows, Score};
use crate::{error, plain};
use merit_core::ScoredEpisode;
use merit_import::{AUTO, ImportOptions, read_rows};
use merit_store::{EpisodeFilter, RunFolder};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::{Value, json};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

fn told(scored: &ScoredEpisode) -> Value {
    json!({
        "id": scored.episode.id.to_string(), "outcome": scored.outcome(), "reward": scored.reward(),
        "score": scored.score, "episode": scored.episode,
    })
}

/// The episodes of a run's folder, or of a file that `merit import` reads, each a dict of `id`, `outcome`, `reward`, `score` and `episode`.
///
/// `phase`, `step` and `task_id` leave out those of other phases, steps and tasks of a run.
///
/// >>> import merit_rl, pathlib, tempfile
/// >>> file = pathlib.Path(tempfile.mkdtemp()) / "said.jsonl"
/// >>> _ = file.write_text('{"prompt": "6*7?", "response": "42", "answer": "42"}')
/// >>> [told["episode"]["task"]["answer"] for told in merit_rl.episodes(file)]
/// ['42']
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
    let found = apart(py, || -> Result<Vec<Value>, String> {
        if !path.is_dir() {
            let read = merit_import::read_file(&path, AUTO, &ImportOptions::default());
            return Ok(read.map_err(|why| why.to_string())?.episodes.iter().map(told).collect());
        }
        let folder = RunFolder::open_read_only(&path).map_err(|why| why.to_string())?;
        let stored = folder.episodes(&filter).map_err(|why| why.to_string())?;
        Ok(stored.iter().map(|stored| told(&stored.scored)).collect())
    })?;
    plain::give(py, &found.map_err(|why| error::input(py, why))?)
}

/// Rows of any shape that `merit import` reads, as merit's own episodes.
///
/// >>> import merit_rl
/// >>> [episode] = merit_rl.parse_episodes([{"prompt": "6*7?", "response": "42", "answer": "42"}])
/// >>> episode["turns"][0]["action"]["text"]
/// '42'
#[pyfunction]
pub(crate) fn parse_episodes<'py>(
    py: Python<'py>,
    rows: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = Rows::of(py, &rows)?;
    let episodes = apart(py, || rows.episodes())?.map_err(|why| error::input(py, why))?;
    plain::give(py, &episodes)
}

/// Writes episodes to a file, a JSON line each, whole and in order: `episodes(path)` gives them back, and `merit import` reads it.
///
/// They are what `episodes` gives, pairs of score and episode of a rollout, episodes of `parse_episodes` or of `Env.episode()`, or
/// worlds that were played. Every episode has to have an id of its own. A file that is there is replaced once all is written.
///
/// >>> import merit_rl, pathlib, tempfile
/// >>> file = pathlib.Path(tempfile.mkdtemp()) / "played.jsonl"
/// >>> played = merit_rl.rollout("sums-tools", lambda messages: "answer 7", tasks=2)
/// >>> merit_rl.write_episodes(file, played)
/// >>> again = merit_rl.episodes(file)
/// >>> [told["episode"] for told in again] == [episode for _, episode in played]
/// True
#[pyfunction]
pub(crate) fn write_episodes(py: Python<'_>, path: PathBuf, episodes: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    let rows = match episodes.first().map(|first| first.cast::<Env>()) {
        Some(Ok(_)) => Rows::of(py, &episodes)?,
        _ => Rows::Told(episodes.iter().map(row).collect::<PyResult<_>>()?),
    };
    let written = apart(py, || {
        let rows = match rows {
            Rows::Told(rows) => rows,
            Rows::Played(played) => {
                played.iter().map(|episode| json!({"episode": episode, "score": null}).into()).collect()
            }
        };
        if rows.is_empty() {
            return Err("there are no episodes to write".to_owned());
        }
        // What cannot be read back is not written.
        let read = read_rows(rows, AUTO, &ImportOptions::default()).map_err(|why| why.to_string())?;
        write(&path, &read.episodes).map_err(|why| format!("cannot write {}: {why}", path.display()))
    })?;
    written.map_err(|why| error::input(py, why))
}

/// A line to be, as `merit import` reads it.
fn row(given: &Bound<'_, PyAny>) -> PyResult<merit_import::Row> {
    let Ok(pair) = given.cast::<PyTuple>() else { return plain::row(given) };
    let (score, episode): (Bound<'_, Score>, Bound<'_, PyAny>) = pair.extract()?;
    let entry = json!({"score": score.get().score(), "episode": plain::value("an episode", &episode)?});
    Ok(entry.into())
}

/// Whole or not at all.
fn write(path: &Path, scored: &[ScoredEpisode]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut file = BufWriter::new(std::fs::File::create(&beside)?);
    let written = scored.iter().try_for_each(|scored| writeln!(file, "{}", told(scored)));
    let done = written.and_then(|()| file.flush()).and_then(|()| std::fs::rename(&beside, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    done
}
