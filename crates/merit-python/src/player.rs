//! The embedded policy at play for a driver elsewhere: `merit train --on ray` makes one in every actor.

use crate::process::{Here, apart};
use crate::{error, settings};
use merit_rollout::{EpisodePlan, RolloutSettings};
use merit_run::Worker;
use pyo3::prelude::*;

/// Plays the plans of a driver elsewhere. `setup` is its text; what it opens stays open, in the process that made it.
#[pyclass(frozen, module = "merit_rl", name = "Player")]
pub(crate) struct Player {
    worker: Here<Worker>,
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (setup, *, threads = 1))]
    fn new(py: Python<'_>, setup: &str, threads: usize) -> PyResult<Self> {
        let made = apart(py, || Worker::new(setup, settings::components(), threads.max(1)))?;
        Ok(Self { worker: Here::new(made.map_err(|why| error::input(py, why))?) })
    }

    /// Plays with these weights from now on.
    fn set_policy(&self, py: Python<'_>, weights: &[u8]) -> PyResult<()> {
        let set = self.worker.with(py, |worker| worker.set_policy(weights))?;
        set.map_err(|why| error::input(py, why))
    }

    /// Plays groups of plans together, each a text; a text of episodes for each, in order.
    fn play(&self, py: Python<'_>, settings: &str, groups: Vec<String>) -> PyResult<Vec<String>> {
        let played = self.worker.with(py, |worker| played(worker, settings, &groups))?;
        played.map_err(|why| error::broke(py, why))
    }
}

fn played(worker: &mut Worker, settings: &str, groups: &[String]) -> Result<Vec<String>, String> {
    let odd = |why: serde_json::Error| format!("a plan cannot be read: {why}");
    let settings: RolloutSettings = serde_json::from_str(settings).map_err(odd)?;
    let groups: Vec<Vec<EpisodePlan>> =
        groups.iter().map(|group| serde_json::from_str(group)).collect::<Result<_, _>>().map_err(odd)?;
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let played = worker.play(groups.concat(), &settings).map_err(|why| why.to_string())?;
    let mut rest = played.as_slice();
    let mut texts = Vec::with_capacity(sizes.len());
    for size in sizes {
        let (own, others) = rest.split_at_checked(size).ok_or("an episode is missing")?;
        texts.push(serde_json::to_string(own).map_err(|why| why.to_string())?);
        rest = others;
    }
    Ok(texts)
}
