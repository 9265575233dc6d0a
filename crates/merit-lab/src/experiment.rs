//! What an arm runs: a study, or a recipe. The one place that tells them apart.

use crate::{Arm, LabError, Part, recipe};
use merit_core::registry::{Components, find, nearest};
use merit_core::{Seed, settings};
use merit_run::Recipe;
use merit_run::toml_error::{Located, complaint};
use merit_studies::{CellRecord, Desk, STUDIES, Study, StudyError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Map;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The keys of `[experiment]`: those of a study, or of a recipe that is laid over another.
pub(crate) struct ExperimentTable;

impl JsonSchema for ExperimentTable {
    fn schema_name() -> Cow<'static, str> {
        "experiment".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let recipe = json_schema!({
            "title": "recipe",
            "description": "Trains by a recipe. Every other key is laid over it.",
            "type": "object",
            "properties": {
                "type": { "const": "recipe", "description": "Trains by a recipe." },
                "recipe": { "type": "string", "description": "The name of a shipped recipe, or the path of one." },
            },
            "required": ["type", "recipe"],
        });
        let components = Components::lent();
        let studies =
            components.entries::<dyn Study>().iter().map(|study| study.define(generator, &Map::new()));
        let choices: Vec<Schema> = std::iter::once(recipe).chain(studies).collect();
        json_schema!({ "description": "What the arms run: `type` names a study, or is `recipe`.", "oneOf": choices })
    }
}

/// An arm that can run.
pub(crate) struct Experiment {
    /// Every setting written out; part of what names a cell.
    pub(crate) settings: String,
    runs: Runs,
}

enum Runs {
    Study(Arc<dyn Study>),
    Recipe(Box<Recipe>),
}

/// Where a cell runs, and how it is stopped.
pub(crate) struct Bench<'a> {
    /// A folder of the cell's own, for what it needs while it runs.
    pub(crate) folder: &'a Path,
    /// Warm starts that cells share.
    pub(crate) starts: &'a Path,
    pub(crate) stop: &'a Arc<AtomicBool>,
    pub(crate) budget: BTreeMap<String, f64>,
    /// Whether what the cell needed is kept, so that its runs can be opened afterwards.
    pub(crate) kept: bool,
}

/// Reads what an arm runs out of its settings.
pub(crate) fn resolve(
    file: &str,
    text: &str,
    part: &Part,
    arm: &Arm,
    smoke: bool,
) -> Result<Experiment, LabError> {
    let mut table = part.settings(arm, smoke);
    let what = format!("arm `{}`", arm.name);
    let refuse = |message: String| LabError::Located(complaint(file, &what, &message, text));
    let Some(toml::Value::String(kind)) = table.remove("type") else {
        return Err(refuse("`experiment.type` is missing: the name of a study, or `recipe`".into()));
    };
    if kind == "recipe" {
        let recipe = recipe::read(table).map_err(|error| match error {
            LabError::Recipe(merit_run::RecipeError::Parse(Located { message, .. })) => refuse(message),
            LabError::Recipe(other) => refuse(other.to_string()),
            other => other,
        })?;
        return Ok(Experiment { settings: recipe.to_toml(), runs: Runs::Recipe(Box::new(recipe)) });
    }
    let entry = find("study", STUDIES, |entry| entry.about, &kind).map_err(|unknown| {
        match nearest(&kind, ["recipe"]) {
            Some(_) => refuse(format!("unknown study `{kind}` (did you mean `recipe`?)")),
            None => refuse(unknown.to_string()),
        }
    })?;
    let (study, settings) = (entry.read)(table).map_err(refuse)?;
    let settings = settings::to_table(&*settings).map_err(|why| refuse(why.to_string()))?;
    Ok(Experiment { settings: format!("type = {kind:?}\n{settings}"), runs: Runs::Study(study) })
}

impl Experiment {
    /// The parts of a cell that reach outside, by their types. A study simulates, and reaches nothing.
    pub(crate) fn reaches_outside(&self) -> Vec<String> {
        match &self.runs {
            Runs::Study(_) => Vec::new(),
            Runs::Recipe(recipe) => recipe.run_reaches_outside(),
        }
    }

    pub(crate) fn run(&self, seed: u64, bench: &Bench<'_>) -> Result<CellRecord, StudyError> {
        match &self.runs {
            Runs::Study(study) => {
                let mut desk = Desk::new(bench.budget.clone(), bench.stop);
                study.run(&Seed::root(seed), &mut desk)?;
                desk.finish()
            }
            Runs::Recipe(recipe) => recipe::run(recipe, seed, bench),
        }
    }
}
