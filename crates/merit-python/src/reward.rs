//! Rewards: rows or episodes in, scores with terms and evidence out.

use crate::env::Env;
use crate::function::{Function, with_functions};
use crate::process::{PerProcess, apart, working};
use crate::{error, plain, settings};
use merit_core::{Components, Episode, Outcome, PolicyVersion, ScoredEpisode, Seed, Task, entry};
use merit_import::{ImportError, ImportOptions, Row, read_rows};
use merit_reward::{RewardConfig, RewardState, ScoreContext, Scorer, Severity, Term};
use merit_run::reward_file;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What rewards may be made of here.
fn terms() -> &'static Components {
    static TERMS: merit_core::PerProcess<Components> = merit_core::PerProcess::new();
    TERMS.get(|| settings::components().clone().with(entry!(Function as dyn Term)))
}

/// What a reward says of one episode. One is made of what `to_dict` of another gives.
///
/// >>> import merit_rl
/// >>> [score] = merit_rl.Reward({"type": "maths"}).score([{"prompt": "6*7?", "response": "42", "answer": "42"}])
/// >>> score
/// Score(1, scored)
/// >>> score.reward, score.outcome, score.terms
/// (1.0, 'scored', {'maths': 1.0})
/// >>> merit_rl.Score(score.to_dict()).reward
/// 1.0
#[pyclass(frozen, module = "merit_rl", name = "Score")]
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Score {
    outcome: Outcome,
    reward: Option<f64>,
    score: Option<merit_core::Score>,
}

impl Score {
    pub(crate) fn of(scored: ScoredEpisode) -> Self {
        Self { outcome: scored.outcome(), reward: scored.reward(), score: scored.score }
    }

    pub(crate) fn score(&self) -> Option<&merit_core::Score> {
        self.score.as_ref()
    }
}

#[pymethods]
impl Score {
    #[new]
    fn new(told: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = told.py();
        pythonize::depythonize(told).map_err(|why| error::input(py, format!("this is no score: {why}")))
    }

    /// The reward to learn from; `None` where there is none, which is not 0: leave the episode out.
    #[getter]
    fn reward(&self) -> Option<f64> {
        self.reward
    }

    /// `solved`, `policy wrong`, `policy timed out`, `unscorable`, `grader failed`, `infrastructure failed`, `left`, or `scored`: there is
    /// a reward, and no term tells whether the task was solved.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.outcome.name()
    }

    /// Whether the task was solved; `None`: the reward has no term that can tell.
    #[getter]
    fn solved(&self) -> Option<bool> {
        self.score.as_ref().and_then(|score| score.solved)
    }

    /// The raw value of each term by name; `None` where it has none.
    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let terms = PyDict::new(py);
        for term in self.score.iter().flat_map(|score| &score.terms) {
            terms.set_item(&term.name, term.outcome.value())?;
        }
        Ok(terms)
    }

    /// The reward of each turn, where it is paid by turn; empty where it is paid at the end.
    #[getter]
    fn turn_rewards(&self) -> Vec<f64> {
        self.score.as_ref().map(|score| score.turn_rewards.clone()).unwrap_or_default()
    }

    /// Everything, with the evidence of every term, as plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::give(py, self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> plain::Recipe<'py, (Bound<'py, PyAny>,)> {
        Ok((slf.get_type().into_any(), (slf.get().to_dict(slf.py())?,)))
    }

    fn __repr__(&self) -> String {
        let reward = self.reward.map_or_else(|| "None".to_owned(), |reward| reward.to_string());
        format!("Score({reward}, {})", self.outcome.name())
    }
}

/// A reward: the name of a shipped one or of a recipe, the path of a file, TOML, or a dict.
///
/// >>> import merit_rl
/// >>> reward = merit_rl.Reward({"type": "maths"})
/// >>> [s.reward for s in reward.score([{"prompt": "6*7?", "response": "42", "answer": "42"},
/// ...                                  {"prompt": "6*7?", "response": "41", "answer": "42"}])]
/// [1.0, 0.0]
///
/// `functions` are Python functions that its terms of type `function` name. The folder of a judge that it asks is read when it is
/// made, in every process anew: what is sent elsewhere needs the folder there, at the same path.
#[pyclass(frozen, module = "merit_rl", name = "Reward")]
pub(crate) struct Reward {
    config: RewardConfig,
    functions: Option<Py<PyDict>>,
    scorer: PerProcess<Scorer>,
    kept: Mutex<RewardState>,
}

impl Reward {
    pub(crate) fn made(
        py: Python<'_>,
        config: RewardConfig,
        functions: Option<Py<PyDict>>,
    ) -> PyResult<Self> {
        let given = functions.as_ref().map(|functions| functions.clone_ref(py));
        let scorer = apart(py, || compile(&config, given))?.map_err(|why| error::input(py, why))?;
        let kept = Mutex::new(RewardState::default());
        Ok(Self { config, functions, scorer: PerProcess::new(scorer), kept })
    }

    /// What `source` says, without functions.
    pub(crate) fn read(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::made(source.py(), config(source, None)?, None)
    }

    /// The reward that is one function of the episode.
    pub(crate) fn of_function(name: &str, function: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = function.py();
        let functions = PyDict::new(py);
        functions.set_item(name, function)?;
        let table = serde_json::json!({"type": "function", "function": name, "name": name});
        let config =
            terms().reading(|| serde_json::from_value(table)).map_err(|why| error::broke(py, why))?;
        Self::made(py, config, Some(functions.unbind()))
    }

    /// A scorer of its own, with all that its terms need already started.
    pub(crate) fn opened(&self, py: Python<'_>) -> PyResult<Scorer> {
        let functions = self.functions(py);
        let opened = apart(py, || with_functions(functions, || Scorer::opened(&self.config)))?;
        opened.map_err(|why| error::input(py, why))
    }

    pub(crate) fn term_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.scorer(py)?.term_names().into_iter().map(str::to_owned).collect())
    }

    fn scorer(&self, py: Python<'_>) -> PyResult<Arc<Scorer>> {
        let functions = self.functions(py);
        self.scorer.get(py, || compile(&self.config, functions))
    }

    fn functions(&self, py: Python<'_>) -> Option<Py<PyDict>> {
        self.functions.as_ref().map(|functions| functions.clone_ref(py))
    }
}

fn compile(config: &RewardConfig, functions: Option<Py<PyDict>>) -> Result<Scorer, String> {
    let scorer = with_functions(functions, || Scorer::compile(config)).map_err(|why| why.to_string())?;
    judges_are_here(config).map(|()| scorer)
}

/// The name of the term that asks a judge's folder.
const JUDGE: &str = "judge";

/// A judge's folder is read before the first row, so that one that is missing is an error and not a failure of every row.
fn judges_are_here(part: &RewardConfig) -> Result<(), String> {
    if part.about().name == JUDGE {
        Scorer::opened(part).map_err(|why| why.to_string())?;
    }
    part.children().into_iter().try_for_each(judges_are_here)
}

/// The expression as another process may read it: relative paths of judges count from where this one works.
fn from_anywhere(part: Value) -> Value {
    match part {
        Value::Object(mut table) => {
            let asks = table.get("type").is_some_and(|name| name == JUDGE);
            if let Some(Value::String(path)) = table.get_mut(JUDGE).filter(|_| asks)
                && let Ok(whole) = std::path::absolute(&*path)
            {
                *path = whole.to_string_lossy().into_owned();
            }
            Value::Object(table.into_iter().map(|(key, value)| (key, from_anywhere(value))).collect())
        }
        Value::Array(parts) => Value::Array(parts.into_iter().map(from_anywhere).collect()),
        other => other,
    }
}

fn config(source: &Bound<'_, PyAny>, functions: Option<&Py<PyDict>>) -> PyResult<RewardConfig> {
    let py = source.py();
    if let Ok(text) = source.extract::<String>() {
        if text.contains(['\n', '=']) {
            return terms().reading(|| RewardConfig::from_toml(&text)).map_err(|why| error::input(py, why));
        }
        return named(py, &text, functions);
    }
    if let Ok(path) = source.extract::<PathBuf>() {
        // A path is one, even where it looks like a name.
        return named(py, &PathBuf::from(".").join(path).to_string_lossy(), functions);
    }
    let table = settings::without_none(plain::value("the reward", source)?);
    terms().reading(|| serde_json::from_value(table)).map_err(|why| error::input(py, why))
}

/// The reward of that name or path.
fn named(py: Python<'_>, name_or_path: &str, functions: Option<&Py<PyDict>>) -> PyResult<RewardConfig> {
    let functions = functions.map(|functions| functions.clone_ref(py));
    let load = || with_functions(functions, || reward_file::load_with(name_or_path, terms()));
    let found = apart(py, load)?;
    Ok(found.map_err(|why| error::input(py, why))?.config)
}

/// What was given to be scored.
pub(crate) enum Rows {
    /// Rows of prompt and response, conversations or recorded episodes.
    Told(Vec<Row>),
    /// Worlds that were played.
    Played(Vec<Arc<Episode>>),
}

impl Rows {
    pub(crate) fn of(py: Python<'_>, rows: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        match rows.first().map(|row| row.cast::<Env>()) {
            Some(Ok(_)) => played(py, rows).map(Self::Played),
            _ => rows.iter().map(plain::row).collect::<PyResult<_>>().map(Self::Told),
        }
    }

    /// The episodes; needs no interpreter.
    pub(crate) fn episodes(self) -> Result<Vec<Arc<Episode>>, ImportError> {
        match self {
            Self::Played(episodes) => Ok(episodes),
            Self::Told(rows) if rows.is_empty() => Ok(Vec::new()),
            Self::Told(rows) => {
                let imported = read_rows(rows, merit_import::AUTO, &ImportOptions::default())?;
                Ok(imported.episodes.into_iter().map(|scored| scored.episode).collect())
            }
        }
    }
}

/// The episodes of worlds. Those of one task are compared, and no others.
fn played(py: Python<'_>, rows: &[Bound<'_, PyAny>]) -> PyResult<Vec<Arc<Episode>>> {
    let mut tasks: Vec<(String, u32)> = Vec::new();
    let mut place = |task: &Task| {
        let group = tasks.iter().position(|(id, _)| *id == task.id).unwrap_or_else(|| {
            tasks.push((task.id.clone(), 0));
            tasks.len() - 1
        });
        tasks[group].1 += 1;
        (group as u32, tasks[group].1 - 1)
    };
    let played = rows.iter().map(|row| match row.cast::<Env>() {
        Ok(env) => Ok(Arc::new(env.get().played(py, &mut place)?)),
        Err(_) => Err(error::input(py, "some rows are worlds that were played and some are not")),
    });
    played.collect()
}

/// What pickle makes a reward of: its class, what it is made with, and what it has learned.
type Again<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Option<Py<PyDict>>), Bound<'py, PyAny>);

#[pymethods]
impl Reward {
    #[new]
    #[pyo3(signature = (source, functions = None))]
    fn new(source: &Bound<'_, PyAny>, functions: Option<Py<PyDict>>) -> PyResult<Self> {
        Self::made(source.py(), config(source, functions.as_ref())?, functions)
    }

    /// A score for each row, in order. A row is a dict of `prompt`, `response` and `answer`, or of `messages`, a recorded
    /// episode, or an `Env` that was played. Rows of one prompt (or `group`) are compared where the reward compares.
    ///
    /// With `keep=True` what the reward learns from step to step is kept in this object, as training would.
    #[pyo3(signature = (rows, *, step = 0, seed = 0, discount = 1.0, keep = false))]
    fn score(
        &self,
        py: Python<'_>,
        rows: Vec<Py<PyAny>>,
        step: u64,
        seed: u64,
        discount: f64,
        keep: bool,
    ) -> PyResult<Vec<Score>> {
        let scorer = self.scorer(py)?;
        let seed = Seed::root(seed).child("reward", 0).as_u64();
        let context = ScoreContext { step, version: PolicyVersion(step), seed, discount };
        let state = match keep {
            true => self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            false => RewardState::default(),
        };
        let scored: PyResult<(Vec<Score>, RewardState)> = working(py, || {
            // Read where they are freed: memory that goes from thread to thread is slow to give back.
            let episodes = Python::attach(|py| {
                let rows: Vec<Bound<'_, PyAny>> = rows.into_iter().map(|row| row.into_bound(py)).collect();
                Rows::of(py, &rows)
            })?
            .episodes()
            .map_err(|why| Python::attach(|py| error::input(py, why)))?;
            let batch = scorer.score_batch(&episodes, &context, &state);
            let scores: Vec<Score> = batch.episodes.into_iter().map(Score::of).collect();
            Ok((scores, batch.state))
        })?;
        let (scores, state) = scored?;
        if keep {
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = state;
        }
        Ok(scores)
    }

    /// Why the reward of a row is what it is, in words.
    #[pyo3(signature = (row, *, step = 0))]
    fn explain(&self, py: Python<'_>, row: Bound<'_, PyAny>, step: u64) -> PyResult<String> {
        let rows = Rows::of(py, &[row])?;
        let scorer = self.scorer(py)?;
        let told = working(py, || {
            let episodes = rows.episodes()?;
            Ok(episodes.first().map(|episode| scorer.explain(episode, &ScoreContext::at_step(step))))
        })?;
        let told = told.map_err(|why: ImportError| error::input(py, why))?;
        told.ok_or_else(|| error::input(py, "there is nothing to explain"))
    }

    /// The names of its terms.
    #[getter]
    fn terms(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.term_names(py)
    }

    /// What is wrong with the reward before anybody learns from it: sentences, the worst first.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let functions = self.functions(py);
        let found = apart(py, || with_functions(functions, || merit_reward::check(&self.config)))?;
        let mut found = found.map_err(|why| error::input(py, why))?;
        found.sort_by_key(|warning| warning.severity != Severity::Error);
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// The expression as plain values.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::give(py, &self.config)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Again<'py>> {
        let (py, this) = (slf.py(), slf.get());
        let kept = plain::give(py, &*this.kept.lock().unwrap_or_else(PoisonError::into_inner))?;
        let config = serde_json::to_value(&this.config).map_err(|why| error::broke(py, why))?;
        let made_with = (plain::give(py, &from_anywhere(config))?, this.functions(py));
        Ok((slf.get_type().into_any(), made_with, kept))
    }

    /// What it has learned from step to step travels along.
    fn __setstate__(&self, kept: &Bound<'_, PyAny>) -> PyResult<()> {
        let read = pythonize::depythonize(kept);
        let kept =
            read.map_err(|why| error::input(kept.py(), format!("this was kept by no reward: {why}")))?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        Ok(())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Reward({})", self.terms(py)?.join(", ")))
    }
}
