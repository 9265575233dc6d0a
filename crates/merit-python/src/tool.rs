//! Tools, the sandboxed interpreter among them, for one call or an episode's worth.

use crate::process::{Here, PerProcess, apart};
use crate::{error, plain, settings};
use merit_api::{NoAnswer, ToolAnswer, ToolSession, ToolSettings, ToolSpec, call_blocking};
use merit_core::Task;
use merit_core::registry::UnknownName;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// What a tool says of itself.
pub(crate) fn spec(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.summary, "example": spec.example})
}

type Built = Vec<Arc<dyn merit_api::Tool>>;

/// A tool with its settings by keyword: `Tool("python")`, `Tool("calc")`, `Tool("sql", …)`.
///
/// >>> import merit_rl
/// >>> merit_rl.Tool("calc").call("6*7")
/// ('ok', '42')
#[pyclass(frozen, module = "merit_rl", name = "Tool")]
pub(crate) struct Tool {
    table: Value,
    wanted: Option<String>,
    built: PerProcess<Built>,
}

fn build(table: &Value) -> Result<Built, String> {
    let chosen = settings::chosen::<dyn ToolSettings>(table.clone())?;
    chosen.build().map_err(|why| why.to_string())
}

impl Tool {
    fn tool(&self, py: Python<'_>) -> PyResult<Arc<dyn merit_api::Tool>> {
        let built = self.built.get(py, || build(&self.table))?;
        let names = || built.iter().map(|tool| tool.spec().name.as_str());
        let found = match (&self.wanted, built.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => {
                let known = names().collect::<Vec<_>>().join(", ");
                return Err(error::input(
                    py,
                    format!("it offers several tools; name one with `tool`: {known}"),
                ));
            }
            (Some(wanted), _) => built.iter().find(|tool| tool.spec().name == *wanted),
        };
        found.cloned().ok_or_else(|| {
            error::input(py, UnknownName::among("tool", self.wanted.as_deref().unwrap_or_default(), names()))
        })
    }
}

#[pymethods]
impl Tool {
    #[new]
    #[pyo3(signature = (name, *, tool = None, **settings))]
    fn new(
        py: Python<'_>,
        name: &str,
        tool: Option<String>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let table = settings::table(name, settings)?;
        let built = apart(py, || build(&table))?.map_err(|why| error::input(py, why))?;
        let made = Self { built: PerProcess::new(built), table, wanted: tool };
        made.tool(py)?;
        Ok(made)
    }

    /// Name, description and an example.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::give(py, &spec(self.tool(py)?.spec()))
    }

    /// One call in a session of its own: how it ended (`ok`, `refused`, `timed out` or `broken`) and what was said.
    #[pyo3(signature = (input, *, seconds = 30.0, payload = None))]
    fn call(
        &self,
        py: Python<'_>,
        input: &str,
        seconds: f64,
        payload: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(&'static str, String)> {
        self.open(py, payload)?.call(py, input, seconds)
    }

    /// A session for one episode: what it keeps is its own, and is freed with it.
    #[pyo3(signature = (payload = None))]
    fn open(&self, py: Python<'_>, payload: Option<&Bound<'_, PyAny>>) -> PyResult<Session> {
        let payload = payload.map_or(Ok(json!({})), |given| plain::value("the payload", given))?;
        let task = Task::new("python", "python").with_payload(payload);
        let tool = self.tool(py)?;
        let session = apart(py, || tool.open(&task, None))?.map_err(|why| error::input(py, why))?;
        Ok(Session { session: Here::new(session) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, (Bound<'py, PyAny>, Option<String>)> {
        let py = slf.py();
        let again = py.import("merit_rl._again")?.getattr("tool")?;
        Ok((again, (plain::give(py, &slf.get().table)?, slf.get().wanted.clone())))
    }
}

/// A tool opened for one episode, by `Tool.open`. It belongs to the process that opened it.
///
/// >>> import merit_rl
/// >>> session = merit_rl.Tool("python").open()
/// >>> session.call("x = 6 * 7")[0]
/// 'ok'
/// >>> "42" in session.call("print(x)")[1]
/// True
#[pyclass(frozen, module = "merit_rl", name = "Session")]
pub(crate) struct Session {
    session: Here<Arc<dyn ToolSession>>,
}

#[pymethods]
impl Session {
    /// One call: how it ended and what was said.
    #[pyo3(signature = (input, seconds = 30.0))]
    fn call(&self, py: Python<'_>, input: &str, seconds: f64) -> PyResult<(&'static str, String)> {
        let deadline = Duration::try_from_secs_f64(seconds)
            .map_err(|why| error::input(py, format!("`seconds` is {seconds}: {why}")))?;
        let session = self.session.with(py, |session| Arc::clone(session))?;
        Ok(match apart(py, || call_blocking(&session, input, deadline))? {
            Ok(ToolAnswer::Ok(text)) => ("ok", text),
            Ok(ToolAnswer::Refused(text)) => ("refused", text),
            Ok(ToolAnswer::TimedOut(text)) => ("timed out", text),
            Ok(ToolAnswer::Broken(text)) => ("broken", text),
            Err(late @ NoAnswer::Late(_)) => ("timed out", late.to_string()),
            Err(why) => ("broken", why.to_string()),
        })
    }
}
