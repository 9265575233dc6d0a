//! Plain values across the border: Python's dicts and lists as JSON, and back.

use crate::error;
use merit_core::{Message, Role};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What pickle makes an object of: something to call, and its arguments.
pub(crate) type Recipe<'py, A> = PyResult<(Bound<'py, PyAny>, A)>;

/// A Python value as JSON; `what` names it in the error.
pub(crate) fn value(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    pythonize::depythonize(given)
        .map_err(|why| error::input(given.py(), format!("{what} is not made of plain values: {why}")))
}

/// A Python value as one of ours.
pub(crate) fn read<T: DeserializeOwned>(what: &str, given: &Bound<'_, PyAny>) -> PyResult<T> {
    let value = value(what, given)?;
    serde_json::from_value(value).map_err(|why| error::input(given.py(), format!("{what}: {why}")))
}

/// One of ours as a Python value.
pub(crate) fn give<'py>(py: Python<'py>, ours: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    pythonize::pythonize(py, ours).map_err(|why| error::broke(py, why))
}

/// The role by the name that chat templates and servers use.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Policy => "assistant",
        Role::Tool => "tool",
        Role::User | Role::Environment | Role::Hint => "user",
    }
}

/// Messages as dicts of `role` and `content`.
pub(crate) fn messages<'py>(py: Python<'py>, said: &[Message]) -> PyResult<Bound<'py, PyAny>> {
    let said: Vec<Value> = said
        .iter()
        .map(|message| serde_json::json!({"role": role(message.role), "content": message.text}))
        .collect();
    give(py, &said)
}
