//! Worlds: where tasks come from, and where they are opened.

use crate::env::{Env, Running};
use crate::process::{PerProcess, apart, working};
use crate::{error, plain, settings};
use merit_api::{ExpertTurn, WorldSettings};
use merit_core::{Seed, Split, Task};
use merit_tools::Toolbox;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::sync::Arc;

/// Longer demonstrations than this are no demonstrations.
const MOST_TURNS: usize = 1000;

/// A world with its settings by keyword: `World("kbqa", mode="notes")`.
///
/// >>> import merit_rl
/// >>> world = merit_rl.World("ledger")
/// >>> task = world.task("held-out", 0)
/// >>> env = world.open(task)
/// >>> [message["role"] for message in env.reset()][-1]
/// 'user'
#[pyclass(frozen, module = "merit_rl", name = "World")]
pub(crate) struct World {
    table: Value,
    world: PerProcess<Box<dyn merit_api::World>>,
}

pub(crate) fn split(py: Python<'_>, name: &str) -> PyResult<Split> {
    match name {
        "train" => Ok(Split::Train),
        "held-out" | "test" => Ok(Split::HeldOut),
        other => {
            let why = merit_core::registry::UnknownName::among("split", other, ["train", "held-out"]);
            Err(error::input(py, why))
        }
    }
}

/// What may start programs, and wait for them.
fn build(table: &Value) -> Result<Box<dyn merit_api::World>, String> {
    let chosen = settings::chosen::<dyn WorldSettings>(table.clone())?;
    chosen.build(&Toolbox::Live).map_err(|why| why.to_string())
}

impl World {
    fn of_table(py: Python<'_>, table: Value) -> PyResult<Self> {
        let world = apart(py, || build(&table))?.map_err(|why| error::input(py, why))?;
        Ok(Self { table, world: PerProcess::new(world) })
    }

    fn world(&self, py: Python<'_>) -> PyResult<Arc<Box<dyn merit_api::World>>> {
        self.world.get(py, || build(&self.table))
    }
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (name, **settings))]
    fn new(py: Python<'_>, name: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::of_table(py, settings::table(name, settings)?)
    }

    /// The world of a recipe.
    #[staticmethod]
    #[pyo3(signature = (recipe, set = None))]
    fn of_recipe(py: Python<'_>, recipe: &str, set: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let recipe = settings::load(py, recipe, set)?;
        let table = serde_json::to_value(&recipe.world).map_err(|why| error::broke(py, why))?;
        Self::of_table(py, table)
    }

    /// Its registered name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.world(py)?.about().name)
    }

    /// What it says of itself.
    #[getter]
    fn summary(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.world(py)?.about().summary)
    }

    /// The names of the manners in which its expert plays.
    #[getter]
    fn manners(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        Ok(self.world(py)?.manners().into_iter().map(|manner| manner.name).collect())
    }

    /// The `index`-th task of a split, as plain values. The same arguments always give the same task.
    #[pyo3(signature = (split = "train", index = 0, seed = 0))]
    fn task<'py>(&self, py: Python<'py>, split: &str, index: u64, seed: u64) -> PyResult<Bound<'py, PyAny>> {
        let split = self::split(py, split)?;
        let world = self.world(py)?;
        let task = apart(py, || world.task(split, index, &Seed::root(seed).child("tasks", 0)))?;
        plain::give(py, &task.map_err(|why| error::input(py, why))?)
    }

    /// Opens a task, at its start or at a snapshot, from which it is stepped on without a `reset`. After `max_turns` it is cut.
    #[pyo3(signature = (task, *, seed = 0, state = None, max_turns = None, tool_seconds = 30.0))]
    fn open(
        &self,
        py: Python<'_>,
        task: &Bound<'_, PyAny>,
        seed: u64,
        state: Option<&Bound<'_, PyAny>>,
        max_turns: Option<u32>,
        tool_seconds: f64,
    ) -> PyResult<Env> {
        let task: Arc<Task> = Arc::new(plain::read("the task", task)?);
        let state = state.map(|state| plain::value("the state", state)).transpose()?;
        let seconds = std::time::Duration::try_from_secs_f64(tool_seconds)
            .map_err(|why| error::input(py, format!("`tool_seconds` is {tool_seconds}: {why}")))?;
        let world = self.world(py)?;
        let running = working(py, || {
            let mut running =
                Running::open(world.as_ref().as_ref(), &task, &Seed::root(seed), state.as_ref())?;
            running.limit(max_turns, seconds);
            Ok(running)
        })?;
        running.map(Env::new).map_err(|why: String| error::input(py, why))
    }

    /// How its expert plays a task: the texts it says, turn by turn.
    #[pyo3(signature = (task, *, manner = None, seed = 0))]
    fn demonstrate(
        &self,
        py: Python<'_>,
        task: &Bound<'_, PyAny>,
        manner: Option<&str>,
        seed: u64,
    ) -> PyResult<Vec<String>> {
        let task: Arc<Task> = Arc::new(plain::read("the task", task)?);
        let world = self.world(py)?;
        let said = working(py, || demonstrate(world.as_ref().as_ref(), &task, manner, &Seed::root(seed)))?;
        said.map_err(|why| error::input(py, why))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, (Bound<'py, PyAny>,)> {
        let py = slf.py();
        let again = py.import("merit_rl._again")?.getattr("world")?;
        Ok((again, (plain::give(py, &slf.get().table)?,)))
    }

    fn __repr__(&self) -> String {
        format!("World({})", self.table)
    }
}

fn demonstrate(
    world: &dyn merit_api::World,
    task: &Arc<Task>,
    manner: Option<&str>,
    seed: &Seed,
) -> Result<Vec<String>, String> {
    let expert = world.expert().ok_or("nobody can play this world: it has no expert")?;
    let mut running = Running::open(world, task, seed, None)?;
    running.reset()?;
    let mut turns: Vec<ExpertTurn> = Vec::new();
    while turns.len() < MOST_TURNS {
        let said = match manner {
            Some(manner) => expert.say_in(manner, task, &turns, seed),
            None => expert.say(task, &turns, 1.0, seed),
        };
        let said = said.map_err(|why| why.to_string())?;
        let step = running.step(&said)?;
        turns.push(ExpertTurn { said, observed: step.observations });
        if running.is_over() {
            break;
        }
    }
    Ok(turns.into_iter().map(|turn| turn.said).collect())
}
