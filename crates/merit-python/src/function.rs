//! A term that is a Python function of this process: it is asked about every episode.
//!
//! The function gets the episode as a dict and gives a number, or `None` where it has nothing to say, or a dict with `value`,
//! `turns` and `evidence` as the term `command` answers. An exception is the grader's failure, never a 0.

use crate::plain;
use merit_reward::prelude::*;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The functions of the reward that this thread compiles.
    static GIVEN: RefCell<Option<Py<PyDict>>> = const { RefCell::new(None) };
}

/// A Python function by the name it was given with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Function {
    /// Its name among the `functions` of the reward.
    function: String,
    /// The least value it gives. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    /// The greatest value it gives. Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
}

impl Component for Function {
    const ABOUT: About =
        About { name: "function", summary: "A Python function that was given with the reward.", paper: "" };
    const EXAMPLE: &'static str = "function = \"mine\"\n";
}

impl Function {
    fn range(&self) -> Range {
        Range { low: self.low.unwrap_or(f64::NEG_INFINITY), high: self.high.unwrap_or(f64::INFINITY) }
    }
}

/// The term with its function.
struct Found {
    settings: Function,
    function: Py<PyAny>,
}

/// Compiles on this thread with these functions at hand; the interpreter need not be held.
pub(crate) fn with_functions<R>(functions: Option<Py<PyDict>>, work: impl FnOnce() -> R) -> R {
    /// What was at hand before: a function may make a reward of its own.
    struct Before(Option<Py<PyDict>>);
    impl Drop for Before {
        fn drop(&mut self) {
            GIVEN.replace(self.0.take());
        }
    }
    let _before = Before(GIVEN.replace(functions));
    work()
}

impl Term for Function {
    fn kind(&self) -> TermKind {
        TermKind { range: self.range(), ..TermKind::PARSED_VERDICT }
    }

    fn prepare(&self) -> Result<Option<Arc<dyn Term>>, Refusal> {
        let name = &self.function;
        Python::attach(|py| {
            let given = GIVEN.with(|given| given.borrow().as_ref().map(|given| given.clone_ref(py)));
            let found = given.and_then(|given| given.bind(py).get_item(name).ok().flatten());
            match found {
                Some(function) if function.is_callable() => {
                    Ok(Some(Arc::new(Found { settings: self.clone(), function: function.unbind() })
                        as Arc<dyn Term>))
                }
                Some(_) => Err(Refusal::new(format!("`{name}` among the functions cannot be called"))),
                None => Err(Refusal::new(format!(
                    "no function `{name}` was given; pass it: Reward(…, functions={{\"{name}\": …}})"
                ))),
            }
        })
    }

    fn evaluate(&self, _: &EvalContext<'_>) -> TermResult {
        TermResult::broken("it was evaluated before it was prepared")
    }
}

impl Term for Found {
    fn kind(&self) -> TermKind {
        Term::kind(&self.settings)
    }

    fn evaluate(&self, context: &EvalContext<'_>) -> TermResult {
        Python::attach(|py| match self.ask(py, context) {
            Ok(result) => result,
            Err(error) => TermResult::broken(format!("`{}` failed: {error}", self.settings.function)),
        })
    }
}

impl Found {
    fn ask(&self, py: Python<'_>, context: &EvalContext<'_>) -> PyResult<TermResult> {
        let episode = plain::give(py, context.episode)?;
        let said = self.function.bind(py).call1((episode,))?;
        if said.is_none() {
            return Ok(TermResult::not_applicable("the function gave None"));
        }
        let answer = match said.extract::<f64>() {
            Ok(value) => serde_json::json!({"value": value, "evidence": "the function gave no reason"}),
            Err(_) => plain::value("what the function gave", &said)?,
        };
        let answer = answer.as_object().ok_or_else(|| {
            pyo3::exceptions::PyTypeError::new_err(format!("it gave {answer}; give a number, None or a dict"))
        })?;
        Ok(merit_reward::terms::told(answer, self.settings.range()).unwrap_or_else(|early| early))
    }
}
