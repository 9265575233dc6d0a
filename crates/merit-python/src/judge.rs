//! Verifiers: records in, judgements out. What could not be judged has no score, which is `None` and never 0.

use crate::process::{PerProcess, apart, fenced, working};
use crate::{error, plain};
use merit_core::registry::UnknownName;
use merit_maths_compat::{MathsConfig, MathsVerifier, verify};
use merit_verify::calls::CallsVerifier;
use merit_verify::code::CodeVerifier;
use merit_verify::json::JsonRecords;
use merit_verify::records::Judge;
use merit_verify::sql::SqlRecords;
use merit_verify::state::StateVerifier;
use merit_verify::text::TextRecords;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use rayon::prelude::*;
use serde_json::{Value, json};

const KINDS: [&str; 7] = ["maths", "json", "sql", "code", "text", "state", "calls"];

const CONCLUSIONS: [&str; 7] =
    ["pass", "fail", "unreadable", "refused", "not applicable", "bad reference", GRADER_FAILED];
const GRADER_FAILED: &str = "grader failed";

/// What a check came to. `passed` and `score` are `None` where it could not be judged, by no fault of the response.
///
/// >>> import merit_rl
/// >>> right, bad = merit_rl.Verifier("maths").judge([{"gold": "1/2", "response": "0.5"}, {"gold": "", "response": "0.5"}])
/// >>> right.passed, right.score, right.conclusion
/// (True, 1.0, 'pass')
/// >>> bad.passed, bad.score, bad.conclusion
/// (None, None, 'bad reference')
#[pyclass(frozen, module = "merit_rl", name = "Judgement")]
pub(crate) struct Judgement {
    /// Whether the response is right; `None`: nobody can say.
    #[pyo3(get)]
    passed: Option<bool>,
    /// From 0 to 1; `None`: nobody can say, which is not 0.
    #[pyo3(get)]
    score: Option<f64>,
    /// `pass`, `fail`, `unreadable`, `refused`, `not applicable`, `bad reference` or `grader failed`.
    #[pyo3(get)]
    conclusion: &'static str,
    /// The reason, where the conclusion has one of its own.
    #[pyo3(get)]
    why: Option<String>,
    detail: Detail,
}

/// What a conclusion rests on.
enum Detail {
    /// Written out when it is asked for.
    Found(Box<dyn Fn() -> Value + Send + Sync>),
    Told(Value),
}

impl Judgement {
    /// Nobody can say, since the verifier broke.
    fn broken(why: String) -> Self {
        let detail = Detail::Told(json!({}));
        Self { passed: None, score: None, conclusion: GRADER_FAILED, why: Some(why), detail }
    }
}

type Again<'py> = (Option<bool>, Option<f64>, &'static str, Option<String>, Bound<'py, PyAny>);

#[pymethods]
impl Judgement {
    /// Made again from what it says.
    #[new]
    #[pyo3(signature = (passed, score, conclusion, why = None, detail = None))]
    fn new(
        py: Python<'_>,
        passed: Option<bool>,
        score: Option<f64>,
        conclusion: &str,
        why: Option<String>,
        detail: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let word = CONCLUSIONS.into_iter().find(|word| *word == conclusion);
        let unknown = || error::input(py, UnknownName::among("conclusion", conclusion, CONCLUSIONS));
        let detail = detail.map_or(Ok(json!({})), |detail| plain::value("the detail", detail))?;
        Ok(Self { passed, score, conclusion: word.ok_or_else(unknown)?, why, detail: Detail::Told(detail) })
    }

    /// What the conclusion rests on, as the verifier found it.
    #[getter]
    fn detail<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.detail {
            Detail::Found(found) => plain::give(py, &found()),
            Detail::Told(told) => plain::give(py, told),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, Again<'py>> {
        let this = slf.get();
        let again = (this.passed, this.score, this.conclusion, this.why.clone(), this.detail(slf.py())?);
        Ok((slf.get_type().into_any(), again))
    }

    fn __repr__(&self) -> String {
        let score = self.score.map_or_else(|| "None".to_owned(), |score| score.to_string());
        match &self.why {
            Some(why) => format!("Judgement({}, score={score}, why={why:?})", self.conclusion),
            None => format!("Judgement({}, score={score})", self.conclusion),
        }
    }
}

/// A verifier of any kind.
trait Judges: Send + Sync {
    fn judge(&self, record: &str) -> Result<Judgement, String>;

    /// The score of a response beside a reference. The error says why this verifier judges no pairs.
    fn pair(&self, _reference: &str, _response: &str) -> Result<Option<f64>, String> {
        Err("its records are more than a pair of texts; use `judge`".to_owned())
    }
}

/// Maths, whose pairs need no record around them.
struct Maths {
    judge: Judge<MathsVerifier>,
    config: MathsConfig,
}

impl Judges for Maths {
    fn judge(&self, record: &str) -> Result<Judgement, String> {
        Judges::judge(&self.judge, record)
    }

    fn pair(&self, reference: &str, response: &str) -> Result<Option<f64>, String> {
        Ok(verify(reference, response, &self.config).score)
    }
}

/// Text, whose records may be pairs.
struct Text(Judge<TextRecords>);

impl Judges for Text {
    fn judge(&self, record: &str) -> Result<Judgement, String> {
        Judges::judge(&self.0, record)
    }

    fn pair(&self, reference: &str, response: &str) -> Result<Option<f64>, String> {
        let record = json!({"reference": reference, "response": response}).to_string();
        Ok(Judges::judge(&self.0, &record)?.score)
    }
}

/// In builds for tests: a verifier that breaks on everything, or `at` its start.
#[cfg(debug_assertions)]
struct Broken;

#[cfg(debug_assertions)]
impl Judges for Broken {
    fn judge(&self, record: &str) -> Result<Judgement, String> {
        panic!("it broke on {record}, as it should")
    }

    fn pair(&self, reference: &str, response: &str) -> Result<Option<f64>, String> {
        panic!("it broke on {reference} and {response}, as it should")
    }
}

impl<V> Judges for Judge<V>
where
    V: merit_core::Verifier,
    V::Detail: Send + Sync + 'static,
{
    fn judge(&self, record: &str) -> Result<Judgement, String> {
        let judged = Judge::judge(self, record)?;
        Ok(Judgement {
            passed: judged.passed(),
            score: judged.score,
            conclusion: judged.conclusion.word(),
            why: judged.conclusion.why().map(str::to_owned),
            detail: Detail::Found(Box::new(move || serde_json::to_value(&judged.detail).unwrap_or_default())),
        })
    }
}

fn compile(kind: &str, settings: &Value) -> Result<Box<dyn Judges>, String> {
    fn of<V>(settings: &Value) -> Result<Box<dyn Judges>, String>
    where
        V: merit_core::Verifier + 'static,
        V::Detail: Send + Sync + 'static,
    {
        let settings = serde_json::from_value(settings.clone()).map_err(|why| why.to_string())?;
        Ok(Box::new(Judge::<V>::new(settings, false)?))
    }
    match kind {
        "maths" => {
            let config: MathsConfig =
                serde_json::from_value(settings.clone()).map_err(|why| why.to_string())?;
            let judge = Judge::<MathsVerifier>::new(config.clone(), false)?;
            Ok(Box::new(Maths { judge, config }))
        }
        "json" => of::<JsonRecords>(settings),
        "sql" => of::<SqlRecords>(settings),
        "code" => of::<CodeVerifier>(settings),
        "text" => {
            let settings = serde_json::from_value(settings.clone()).map_err(|why| why.to_string())?;
            Ok(Box::new(Text(Judge::<TextRecords>::new(settings, false)?)))
        }
        "state" => of::<StateVerifier>(settings),
        "calls" => of::<CallsVerifier>(settings),
        #[cfg(debug_assertions)]
        "broken" => {
            assert!(settings["at"] != "start", "it broke at its start, as it should");
            Ok(Box::new(Broken))
        }
        other => Err(UnknownName::among("verifier", other, KINDS).to_string()),
    }
}

/// A verifier: `maths`, `json`, `sql`, `code`, `text`, `state` or `calls`, with its settings by keyword.
///
/// >>> import merit_rl
/// >>> maths = merit_rl.Verifier("maths")
/// >>> [j.score for j in maths.judge([{"gold": "1/2", "response": r"so \boxed{0.5}"}, {"gold": "2", "response": "3"}])]
/// [1.0, 0.0]
/// >>> maths.pairs(["x+1", "7"], ["1+x", "it is 8"])
/// [1.0, 0.0]
#[pyclass(frozen, module = "merit_rl", name = "Verifier")]
pub(crate) struct Verifier {
    kind: String,
    settings: Value,
    judge: PerProcess<Box<dyn Judges>>,
}

impl Verifier {
    fn judges(&self, py: Python<'_>) -> PyResult<std::sync::Arc<Box<dyn Judges>>> {
        self.judge.get(py, || compile(&self.kind, &self.settings))
    }

    /// Judges records that are JSON; an error names the record.
    fn judged(&self, py: Python<'_>, records: &[String]) -> PyResult<Vec<Judgement>> {
        let judges = self.judges(py)?;
        let judge = |record: &String| {
            fenced(|| judges.judge(record)).unwrap_or_else(|why| Ok(Judgement::broken(why)))
        };
        let judged: Vec<Result<Judgement, String>> = working(py, || records.par_iter().map(judge).collect())?;
        let numbered = judged.into_iter().enumerate();
        numbered
            .map(|(at, judged)| judged.map_err(|why| error::input(py, format!("record {at}: {why}"))))
            .collect()
    }
}

#[pymethods]
impl Verifier {
    #[new]
    #[pyo3(signature = (kind, **settings))]
    fn new(py: Python<'_>, kind: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let settings = match settings {
            Some(given) => plain::value("the settings", given)?,
            None => json!({}),
        };
        let judge = apart(py, || compile(kind, &settings))?.map_err(|why| error::input(py, why))?;
        Ok(Self { kind: kind.to_owned(), settings, judge: PerProcess::new(judge) })
    }

    /// A judgement for each record, in order. The records are those of `merit verify`; see `merit verify KIND --help`.
    fn judge(&self, py: Python<'_>, records: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Judgement>> {
        let records = records
            .iter()
            .map(|record| Ok(plain::value("a record", record)?.to_string()))
            .collect::<PyResult<Vec<String>>>()?;
        self.judged(py, &records)
    }

    /// The score of each pair of a reference and a response; `None` where nobody can say. For `maths` and `text`.
    fn pairs(
        &self,
        py: Python<'_>,
        references: Vec<PyBackedStr>,
        responses: Vec<PyBackedStr>,
    ) -> PyResult<Vec<Option<f64>>> {
        if references.len() != responses.len() {
            let (left, right) = (references.len(), responses.len());
            return Err(error::input(
                py,
                format!("{left} references and {right} responses; give one for each"),
            ));
        }
        let judges = self.judges(py)?;
        let judged: Vec<Result<Option<f64>, String>> = working(py, || {
            let pairs = references.par_iter().zip(&responses);
            // Where the verifier breaks nobody can say.
            let pair = |(reference, response): (&PyBackedStr, &PyBackedStr)| {
                fenced(|| judges.pair(reference, response)).unwrap_or(Ok(None))
            };
            pairs.map(pair).collect()
        })?;
        let numbered = judged.into_iter().enumerate();
        numbered.map(|(at, came)| came.map_err(|why| error::input(py, format!("pair {at}: {why}")))).collect()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, (String, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = slf.get();
        let again = py.import("merit_rl._again")?.getattr("verifier")?;
        Ok((again, (this.kind.clone(), plain::give(py, &this.settings)?)))
    }

    fn __repr__(&self) -> String {
        format!("Verifier({:?}, {})", self.kind, self.settings)
    }
}
