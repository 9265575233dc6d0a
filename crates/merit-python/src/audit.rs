//! Audits: what can be had of a reward without the work.

use crate::{error, plain};
use merit_attack::{Settings, audit, targets};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Audits a reward, a recipe or a file that holds one: what every probe earned beside the right answer, and a grade.
///
/// >>> import merit_rl
/// >>> merit_rl.attack("final-answer", count=3)["grade"] in "ABCDF"
/// True
#[pyfunction]
#[pyo3(signature = (target, *, tasks = None, count = 20, seed = 1))]
pub(crate) fn attack<'py>(
    py: Python<'py>,
    target: &str,
    tasks: Option<PathBuf>,
    count: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = Settings { seed, tasks: count };
    let made = py.detach(|| {
        let mut target = targets::open(target, tasks.as_deref(), &settings)?;
        audit(target.as_mut(), &settings)
    });
    plain::give(py, &made.map_err(|why| error::input(py, why))?)
}
