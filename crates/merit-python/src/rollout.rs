//! Rollouts with a policy of Python's: a function of the conversation so far.

use crate::process::{PerProcess, apart, fenced};
use crate::reward::Score;
use crate::{error, plain, settings, world};
use merit_api::{EnvError, Expert, ExpertTurn, World};
use merit_core::{Message, Role, ScoredEpisode, Seed, Task};
use merit_run::{Groups, Play, Recipe};
use merit_tools::Toolbox;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::json;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A Python function that is told the conversation and says what comes next.
struct Caller<'a> {
    policy: Py<PyAny>,
    world: &'a dyn World,
}

impl Caller<'_> {
    fn conversation(&self, task: &Task, turns: &[ExpertTurn], seed: &Seed) -> Result<Vec<Message>, EnvError> {
        let mut said = self.world.open(&Arc::new(task.clone()), seed, None)?.reset()?;
        for turn in turns {
            said.push(Message::new(Role::Policy, turn.said.clone()));
            said.extend(turn.observed.iter().cloned());
        }
        Ok(said)
    }
}

impl Expert for Caller<'_> {
    fn say(&self, task: &Task, turns: &[ExpertTurn], _: f64, seed: &Seed) -> Result<String, EnvError> {
        let said = self.conversation(task, turns, seed)?;
        Python::attach(|py| {
            let answer = self.policy.bind(py).call1((plain::messages(py, &said)?,))?;
            answer.extract::<String>()
        })
        .map_err(|why| EnvError::Broken {
            world: self.world.about().name,
            why: format!("the policy failed: {why}"),
        })
    }
}

/// The tasks of a rollout, drawn and planned once, to be played a few at a time. See `rollout`.
///
/// >>> import merit_rl
/// >>> plan = merit_rl.Rollout("sums-tools", tasks=8)
/// >>> len(plan.play(lambda messages: "answer 0", groups=(2, 4)))
/// 2
#[pyclass(frozen, module = "merit_rl", name = "Rollout")]
pub(crate) struct Rollout {
    recipe: Recipe,
    play: Play,
    groups: PerProcess<Groups>,
}

fn plan(recipe: &Recipe, play: &Play) -> Result<Groups, String> {
    Groups::new(recipe, play).map_err(|why| why.to_string())
}

impl Rollout {
    fn groups(&self, py: Python<'_>) -> PyResult<Arc<Groups>> {
        self.groups.get(py, || plan(&self.recipe, &self.play))
    }
}

#[pymethods]
impl Rollout {
    #[new]
    #[pyo3(signature = (recipe, *, tasks = 8, group_size = 1, split = "held-out", seed = 0, set = None))]
    fn new(
        py: Python<'_>,
        recipe: &str,
        tasks: u32,
        group_size: u32,
        split: &str,
        seed: u64,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let recipe = settings::load(py, recipe, set)?;
        let play = Play {
            split: world::split(py, split)?,
            tasks,
            group_size,
            temperature: 0.0,
            seed,
            fork_at: None,
            toolbox: Toolbox::Live,
        };
        let groups = apart(py, || plan(&recipe, &play))?.map_err(|why| error::input(py, why))?;
        Ok(Self { recipe, play, groups: PerProcess::new(groups) })
    }

    /// Lets `policy` play all tasks, or those of `groups=(first, last)`, as they would be played among all of them. Gives one
    /// `(score, episode)` for each episode, in order; `concurrency` says how many calls of the policy may wait at a time.
    #[pyo3(signature = (policy, *, groups = None, concurrency = 1))]
    fn play<'py>(
        &self,
        py: Python<'py>,
        policy: Py<PyAny>,
        groups: Option<(u32, u32)>,
        concurrency: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let tasks = self.play.tasks;
        let (first, last) = groups.unwrap_or((0, tasks));
        if first > last || last > tasks {
            let why = format!("`groups` is ({first}, {last}); give a part of the {tasks} tasks, from 0");
            return Err(error::input(py, why));
        }
        if concurrency == 0 {
            return Err(error::input(py, "`concurrency` is 0; at least one call has to wait"));
        }
        let planned = self.groups(py)?;
        let caller = Caller { policy, world: planned.world() };
        let one = |group: u32| {
            let played = fenced(|| planned.play(&caller, group..group + 1).map_err(|why| why.to_string()));
            played.unwrap_or_else(Err)
        };
        let played = apart(py, || each(first..last, concurrency, one))?;
        given(py, played.map_err(|why| error::broke(py, why))?)
    }

    /// What is recorded of `groups=(first, last)` where whoever played them is gone, and they may not be played again: each episode is
    /// an infrastructure failure for which `why` is given. Plays nothing.
    #[pyo3(signature = (why, *, groups))]
    fn lost<'py>(&self, py: Python<'py>, why: &str, groups: (u32, u32)) -> PyResult<Bound<'py, PyList>> {
        let planned = self.groups(py)?;
        given(py, apart(py, || planned.lost(groups.0..groups.1, why))?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, (String, Bound<'py, PyAny>)> {
        let (py, this) = (slf.py(), slf.get());
        let again = py.import("merit_rl._again")?.getattr("rollout")?;
        let Play { tasks, group_size, split, seed, .. } = this.play;
        let settings = json!({"tasks": tasks, "group_size": group_size, "split": split.name(), "seed": seed});
        Ok((again, (this.recipe.to_toml(), plain::give(py, &settings)?)))
    }
}

/// One `(score, episode)` for each.
fn given(py: Python<'_>, episodes: Vec<ScoredEpisode>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for scored in episodes {
        let episode = plain::give(py, &scored.episode)?;
        list.append((Py::new(py, Score::of(scored))?, episode))?;
    }
    Ok(list)
}

/// The parts of a recipe's world that reach outside, by their types: programs and servers that may do something out there. Where there are
/// none, to play an episode again changes nothing.
#[pyfunction]
#[pyo3(signature = (recipe, set = None))]
pub(crate) fn reaches_outside(
    py: Python<'_>,
    recipe: &str,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    Ok(settings::load(py, recipe, set)?.reaches_outside())
}

/// Plays tasks of a recipe with `policy`, a function of the messages so far (dicts of `role` and `content`) that gives the next text.
///
/// Gives one `(score, episode)` for each episode, in order: the same whatever `concurrency` is, which says how many calls of the
/// policy may wait at a time. `groups=(first, last)` plays only a part of the tasks, as they would be played among all. A policy
/// that raises has failed to answer: an infrastructure failure without a reward, and its siblings go on.
///
/// >>> import merit_rl
/// >>> [(score, episode)] = merit_rl.rollout("sums-tools", lambda messages: "answer 0", tasks=1)
/// >>> score.outcome in ("solved", "policy wrong", "policy timed out")
/// True
#[pyfunction]
#[pyo3(signature = (recipe, policy, *, tasks = 8, group_size = 1, split = "held-out", seed = 0, concurrency = 1, groups = None, set = None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn rollout<'py>(
    py: Python<'py>,
    recipe: &str,
    policy: Py<PyAny>,
    tasks: u32,
    group_size: u32,
    split: &str,
    seed: u64,
    concurrency: usize,
    groups: Option<(u32, u32)>,
    set: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    Rollout::new(py, recipe, tasks, group_size, split, seed, set)?.play(py, policy, groups, concurrency)
}

/// What came of a group.
type Came = Result<Vec<ScoredEpisode>, String>;

/// Does the groups, so many at a time; what came of them, in order.
fn each(groups: Range<u32>, concurrency: usize, work: impl Fn(u32) -> Came + Sync) -> Came {
    if concurrency.min(groups.len()) == 1 {
        let parts = groups.map(work).collect::<Result<Vec<_>, String>>()?;
        return Ok(parts.concat());
    }
    let next = AtomicU32::new(groups.start);
    let done: Mutex<Vec<(u32, Came)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..concurrency.min(groups.len()) {
            scope.spawn(|| {
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= groups.end {
                        break;
                    }
                    let came = work(group);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((group, came));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(group, _)| *group);
    let parts = done.into_iter().map(|(_, came)| came).collect::<Result<Vec<_>, String>>()?;
    Ok(parts.concat())
}
