//! The embedded policy at play for a driver elsewhere: `merit train --on ray` makes one in every actor.

use crate::{error, settings::COMPONENTS};
use merit_rollout::{EpisodePlan, RolloutSettings};
use merit_run::Worker;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Plays the plans of a driver elsewhere. `setup` is its text; what it opens stays open.
#[pyclass(frozen, module = "merit_rl", name = "Player")]
pub(crate) struct Player {
    worker: Mutex<Worker>,
}

#[pymethods]
impl Player {
    #[new]
    #[pyo3(signature = (setup, *, threads = 1))]
    fn new(py: Python<'_>, setup: &str, threads: usize) -> PyResult<Self> {
        let made = py.detach(|| Worker::new(setup, &COMPONENTS, threads.max(1)));
        Ok(Self { worker: Mutex::new(made.map_err(|why| error::input(py, why))?) })
    }

    /// Plays with these weights from now on.
    fn set_policy(&self, py: Python<'_>, weights: &[u8]) -> PyResult<()> {
        let set =
            py.detach(|| self.worker.lock().unwrap_or_else(PoisonError::into_inner).set_policy(weights));
        set.map_err(|why| error::input(py, why))
    }

    /// Plays groups of plans together, each a text; a text of episodes for each, in order.
    fn play(&self, py: Python<'_>, settings: &str, groups: Vec<String>) -> PyResult<Vec<String>> {
        py.detach(|| self.played(settings, &groups)).map_err(|why| error::broke(py, why))
    }
}

impl Player {
    fn played(&self, settings: &str, groups: &[String]) -> Result<Vec<String>, String> {
        let odd = |why: serde_json::Error| format!("a plan cannot be read: {why}");
        let settings: RolloutSettings = serde_json::from_str(settings).map_err(odd)?;
        let groups: Vec<Vec<EpisodePlan>> =
            groups.iter().map(|group| serde_json::from_str(group)).collect::<Result<_, _>>().map_err(odd)?;
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
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
}
