//! Audits: what can be had of a reward without the work.

use crate::process::working;
use crate::reward::Reward;
use crate::{error, plain};
use merit_attack::targets::{self, RewardTarget};
use merit_attack::tasks::{self, Given};
use merit_attack::{Settings, audit};
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;
use std::path::PathBuf;

/// Audits a reward: what every probe earned beside the right answer, and a grade.
///
/// `target` is a reward or recipe by name, a file that holds one, a `Reward`, or a function of the episode as `Reward(functions=…)`
/// takes them. `tasks` is a file that `merit attack --tasks` reads, or a list of dicts of `prompt` and `answer`; without it the
/// target brings its own, or is asked plain questions. A function that hangs keeps the audit waiting: it runs in this process.
///
/// >>> import merit_rl
/// >>> merit_rl.attack("final-answer", count=3)["grade"] in "ABCDF"
/// True
/// >>> def lenient(episode):
/// ...     return float(any(episode["task"]["answer"] in (turn["action"].get("text") or "") for turn in episode["turns"]))
/// >>> merit_rl.attack(lenient, tasks=[{"prompt": "6*7?", "answer": "42"}, {"prompt": "2+2?", "answer": "4"}])["grade"]
/// 'F'
#[pyfunction]
#[pyo3(signature = (target, *, tasks = None, count = 20, seed = 1))]
pub(crate) fn attack<'py>(
    target: &Bound<'py, PyAny>,
    tasks: Option<&Bound<'py, PyAny>>,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = target.py();
    let settings = Settings { seed, tasks: count };
    let file = tasks.and_then(|tasks| tasks.extract::<PathBuf>().ok());
    let listed = tasks.filter(|_| file.is_none()).map(lines).transpose()?;
    let made = match target.extract::<PathBuf>() {
        Ok(name) if listed.is_none() => working(py, || {
            let mut target = targets::open(&name.to_string_lossy(), file.as_deref(), &settings)?;
            audit(target.as_mut(), &settings)
        })?,
        _ => {
            let (name, reward) = rewarding(target)?;
            let scorer = reward.get().opened(py)?;
            working(py, || {
                let read = file.map(|file| tasks::load(&file, count)).transpose()?;
                let mut target = RewardTarget::of_scorer(name, scorer, listed.or(read))?;
                audit(&mut target, &settings)
            })?
        }
    };
    plain::give(py, &made.map_err(|why| error::input(py, why))?)
}

/// What pays, and what the audit calls it.
fn rewarding<'py>(target: &Bound<'py, PyAny>) -> PyResult<(String, Bound<'py, Reward>)> {
    let py = target.py();
    if let Ok(reward) = target.cast::<Reward>() {
        return Ok((reward.get().term_names(py)?.join(", "), reward.clone()));
    }
    if let Ok(name) = target.cast::<PyString>() {
        return Ok((name.to_string(), Bound::new(py, Reward::read(target)?)?));
    }
    if !target.is_callable() {
        let why = "the target is neither a name, nor a path, nor a Reward, nor a function of the episode";
        return Err(error::input(py, why));
    }
    let name = target.getattr("__name__").and_then(|name| name.extract::<String>());
    // A lambda has a name that is none.
    let name = name.ok().filter(|name| !name.starts_with('<')).unwrap_or_else(|| "function".to_owned());
    Ok((name.clone(), Bound::new(py, Reward::of_function(&name, target)?)?))
}

/// Tasks as they stand in a file, one for each dict of a list.
fn lines(tasks: &Bound<'_, PyAny>) -> PyResult<Vec<Given>> {
    let py = tasks.py();
    let Value::Array(listed) = plain::value("the list of tasks", tasks)? else {
        return Err(error::input(
            py,
            "`tasks` is neither a path nor a list of dicts of `prompt` and `answer`",
        ));
    };
    let text: Vec<String> = listed.iter().map(Value::to_string).collect();
    tasks::parse("tasks", &text.join("\n")).map_err(|why| error::input(py, why))
}
