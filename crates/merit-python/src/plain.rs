//! Plain values across the border: Python's dicts and lists as JSON, and back.

use crate::error;
use merit_core::{Message, Role};
use merit_import::Row;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

/// What pickle makes an object of: something to call, and its arguments.
pub(crate) type Recipe<'py, A> = PyResult<(Bound<'py, PyAny>, A)>;

/// A Python value as JSON; `what` names it in the error.
pub(crate) fn value(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Some(value) = exactly(given, 0) {
        return Ok(value);
    }
    pythonize::depythonize(given)
        .map_err(|why| error::input(given.py(), format!("{what} is not made of plain values: {why}")))
}

/// A row to be scored: nearly all are a prompt, a response and perhaps an answer, all texts.
pub(crate) fn row(given: &Bound<'_, PyAny>) -> PyResult<Row> {
    match given.cast_exact::<PyDict>().ok().and_then(plain_row) {
        Some(row) => Ok(row),
        None => value("a row", given).map(Row::Entry),
    }
}

fn plain_row(row: &Bound<'_, PyDict>) -> Option<Row> {
    let py = row.py();
    let text = |key| {
        let value = row.get_item(key).ok()??;
        value.cast_exact::<PyString>().ok()?.to_str().ok().map(str::to_owned)
    };
    let answer = match row.len() {
        2 => None,
        3 => Some(text(intern!(py, "answer"))?),
        _ => return None,
    };
    Some(Row::Plain {
        prompt: text(intern!(py, "prompt"))?,
        response: text(intern!(py, "response"))?,
        answer,
    })
}

/// What is deeper than this is left to the reader that refuses it.
const DEEPEST: usize = 64;

/// The value where it is made of Python's own dicts, lists, texts, numbers, `True`, `False` and `None`, which nearly all rows
/// are: about five times as quick as asking every object what it can do. Absent: it holds something else.
fn exactly(given: &Bound<'_, PyAny>, depth: usize) -> Option<Value> {
    if let Ok(text) = given.cast_exact::<PyString>() {
        return text.to_str().ok().map(|text| Value::String(text.to_owned()));
    }
    if given.is_none() {
        return Some(Value::Null);
    }
    if let Ok(float) = given.cast_exact::<PyFloat>() {
        return Number::from_f64(float.value()).map(Value::Number);
    }
    if let Ok(int) = given.cast_exact::<PyInt>() {
        return int.extract::<i64>().ok().map(Value::from);
    }
    if let Ok(truth) = given.cast_exact::<PyBool>() {
        return Some(Value::Bool(truth.is_true()));
    }
    if depth == DEEPEST {
        return None;
    }
    if let Ok(list) = given.cast_exact::<PyList>() {
        return list.iter().map(|one| exactly(&one, depth + 1)).collect::<Option<_>>().map(Value::Array);
    }
    let given = given.cast_exact::<PyDict>().ok()?;
    let mut table = Map::with_capacity(given.len());
    for (key, value) in given {
        table.insert(
            key.cast_exact::<PyString>().ok()?.to_str().ok()?.to_owned(),
            exactly(&value, depth + 1)?,
        );
    }
    Some(Value::Object(table))
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
