//! Components by name and keyword: what stands in a recipe's table, given as a name, a dict or TOML.

use crate::process::apart;
use crate::{error, plain};
use merit_core::registry::Kind;
use merit_core::{Chosen, Components, PerProcess};
use merit_run::{Recipe, RecipeError, shipped};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

/// Everything that comes with merit, read once.
pub(crate) fn components() -> &'static Components {
    static COMPONENTS: PerProcess<Components> = PerProcess::new();
    COMPONENTS.get(merit::built_in)
}

/// `name` and its settings as the table that a recipe would hold.
pub(crate) fn table(name: &str, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Value> {
    let given = settings.map(|settings| plain::value("the settings", settings)).transpose()?;
    let mut table = match given {
        Some(Value::Object(table)) => table,
        _ => Map::new(),
    };
    table.insert("type".to_owned(), Value::String(name.to_owned()));
    Ok(without_none(Value::Object(table)))
}

/// A component by its name, or as a dict with a `type` and its settings; `what` names it in the error.
pub(crate) fn named(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(name) = given.extract::<String>() {
        return table(&name, None);
    }
    match given.cast::<PyDict>() {
        Ok(table) => plain::value(what, table),
        Err(_) => Err(error::input(given.py(), format!("{what} is neither a name nor a dict with a `type`"))),
    }
}

/// A setting that is `None` is one that is left out.
pub(crate) fn without_none(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let kept = table.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_none(value))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(without_none).collect()),
        other => other,
    }
}

/// The component of a kind that a table describes.
pub(crate) fn chosen<T: Kind + ?Sized>(table: Value) -> Result<Chosen<T>, String>
where
    Chosen<T>: serde::de::DeserializeOwned,
{
    let read = components().reading(|| serde_json::from_value::<Chosen<T>>(without_none(table)));
    read.map_err(|why| why.to_string())
}

/// A recipe by the name of a shipped one, by path or as TOML, with settings laid over it.
pub(crate) fn load(py: Python<'_>, source: &str, set: Option<&Bound<'_, PyDict>>) -> PyResult<Recipe> {
    let change = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((key.extract::<String>()?, written(&plain::value("a setting", &value)?)))
    };
    let changes = set.into_iter().flat_map(|set| set.iter()).map(change).collect::<PyResult<Vec<_>>>()?;
    let read = apart(py, || {
        let recipe =
            if source.contains('\n') { Recipe::parse("the recipe", source) } else { shipped::load(source) }?;
        if changes.is_empty() { Ok(recipe) } else { recipe.with(&changes) }
    })?;
    read.map_err(|why: RecipeError| error::input(py, why))
}

/// A value as `--set KEY=VALUE` takes it.
fn written(value: &Value) -> String {
    match toml::Value::try_from(value) {
        Ok(value) => value.to_string(),
        Err(_) => value.to_string(),
    }
}

/// The recipe, resolved and checked, as TOML.
///
/// >>> import merit_rl
/// >>> merit_rl.recipe("ledger-tools", {"budget.steps": 3}).count("[world]")
/// 1
#[pyfunction]
#[pyo3(signature = (source, set = None))]
pub(crate) fn recipe(py: Python<'_>, source: &str, set: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
    Ok(load(py, source, set)?.to_toml())
}

/// The names of a kind of component: `worlds`, `tools`, `terms`, `combinators`, `rules`, `objectives`, `aggregations` or `recipes`.
///
/// >>> import merit_rl
/// >>> "kbqa" in merit_rl.names("worlds")
/// True
#[pyfunction]
pub(crate) fn names(py: Python<'_>, kind: &str) -> PyResult<Vec<&'static str>> {
    Ok(match kind {
        "worlds" => merit_env::WORLDS.iter().map(|entry| entry.about.name).collect(),
        "tools" => merit_tools::TOOLS.iter().map(|entry| entry.about.name).collect(),
        "terms" => {
            let entries = components().entries::<dyn merit_reward::Term>();
            entries.iter().map(|entry| entry.about.name).collect()
        }
        "combinators" => merit_reward::COMBINATORS.iter().map(|entry| entry.about.name).collect(),
        "rules" => merit_credit::RULES.iter().map(|entry| entry.about.name).collect(),
        "objectives" => merit_learn::OBJECTIVES.iter().map(|entry| entry.about.name).collect(),
        "aggregations" => merit_learn::LOSS_AGGS.iter().map(|entry| entry.about.name).collect(),
        "recipes" => shipped::recipes().iter().map(|recipe| recipe.about.name).collect(),
        other => {
            let known =
                ["worlds", "tools", "terms", "combinators", "rules", "objectives", "aggregations", "recipes"];
            return Err(error::input(py, merit_core::registry::UnknownName::among("kind", other, known)));
        }
    })
}
