//! Errors as exceptions with merit's own words. The classes are Python's (`merit_rl/errors.py`), so that one may have two bases.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::fmt::Display;

static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static BROKE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The caller can mend it.
pub(crate) fn input(py: Python<'_>, why: impl Display) -> PyErr {
    raise(py, &INPUT, "InputError", why.to_string())
}

/// Something broke that is nobody's input.
pub(crate) fn broke(py: Python<'_>, why: impl Display) -> PyErr {
    raise(py, &BROKE, "MeritError", why.to_string())
}

fn raise(py: Python<'_>, class: &PyOnceLock<Py<PyType>>, name: &str, why: String) -> PyErr {
    match class.import(py, "merit_rl.errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), why),
        Err(error) => error,
    }
}
