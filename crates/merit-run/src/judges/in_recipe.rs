//! `[judges.NAME]` of a recipe: a judge that is asked in words, or one made of checks that stages of `evolve` improve.
//!
//! A table with `ask`, `backend` or another key of a `judge.toml` is the first, any other the second; keys of the one are refused in the
//! other.

use super::settings::JudgeSettings;
use super::{AtWork, open};
use crate::evolve::EvolvingJudge;
use crate::models::Like;
use crate::recipe::Recipe;
use crate::stage_checks::hint;
use merit_api::World;
use merit_api::annotator::Annotator;
use merit_core::settings::{ReadError, from_table};
use merit_core::{Seed, Split};
use merit_evolve::Library;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// Keys that a judge made of checks does not have. More than one of them, so that a misspelt key does not make another judge of it.
const KEYS: [&str; 10] =
    ["ask", "rubric", "backend", "examples", "votes", "budget", "tokens", "temperature", "grammar", "length"];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RecipeJudge {
    /// It is asked in words.
    Asked(Box<JudgeSettings>),
    /// It is made of checks.
    Evolving(EvolvingJudge),
}

impl<'de> Deserialize<'de> for RecipeJudge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = toml::Table::deserialize(deserializer)?;
        let wrong = |error: ReadError| D::Error::custom(error.message());
        match KEYS.iter().any(|key| table.contains_key(*key)) {
            true => from_table(table).map(|settings| Self::Asked(Box::new(settings))).map_err(wrong),
            false => from_table(table).map(Self::Evolving).map_err(wrong),
        }
    }
}

impl JsonSchema for RecipeJudge {
    fn schema_name() -> Cow<'static, str> {
        "judge".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = [generator.subschema_for::<JudgeSettings>(), generator.subschema_for::<EvolvingJudge>()];
        json_schema!({
            "description": "A judge. With `ask` it is asked in words, otherwise it is made of checks that stages of `evolve` improve.",
            "oneOf": kinds,
        })
    }
}

impl RecipeJudge {
    /// The settings of a judge made of checks.
    pub(crate) fn evolving(&self) -> Option<&EvolvingJudge> {
        match self {
            Self::Evolving(judge) => Some(judge),
            Self::Asked(_) => None,
        }
    }

    /// Whether a model of the recipe itself answers for it.
    pub(crate) fn is_own(&self) -> bool {
        self.asked().is_some_and(|settings| settings.backend.is_own())
    }

    /// The settings of a judge that is asked in words.
    pub(crate) fn asked(&self) -> Option<&JudgeSettings> {
        match self {
            Self::Asked(settings) => Some(settings),
            Self::Evolving(_) => None,
        }
    }
}

/// Every reason why the judges of `recipe` that are asked in words cannot be what they are said to be.
pub(crate) fn check(recipe: &Recipe) -> Vec<String> {
    let given: Vec<String> = recipe.annotators.iter().flat_map(|annotator| annotator.gives()).collect();
    let asked = recipe.judges.iter().filter_map(|(name, judge)| Some((name, judge.asked()?)));
    let one = |(name, settings): (&String, &JudgeSettings)| {
        let why = if !crate::checks::plain(name) {
            "its name must be made of lower-case letters, digits and `-`".to_owned()
        } else if recipe.models.contains_key(name) || given.contains(name) {
            "a model or an annotator is called so too; give one of them another name".to_owned()
        } else if let Err(refusal) = settings.check() {
            refusal.to_string()
        } else if !settings.ask.is_of_one() {
            format!(
                "`ask` is `{}`, and a reward needs a number of one episode; say `score` or `check`",
                settings.ask.name()
            )
        } else if settings.backend.is_own() && settings.kept.is_some() {
            "`kept` is for answers that are paid for once, and a model that learns answers otherwise after every step; leave it out"
                .to_owned()
        } else if settings.backend.is_own() && settings.tokens >= recipe.model.context() {
            let (tokens, context) = (settings.tokens, recipe.model.context());
            format!(
                "`tokens` is {tokens}, and the context holds {context} (`model.context`), so that no question would fit beside the answer"
            )
        } else {
            model(recipe, settings)?
        };
        Some(format!("[judges.{name}] {why}"))
    };
    asked.filter_map(one).collect()
}

/// Why the model that answers cannot.
fn model(recipe: &Recipe, settings: &JudgeSettings) -> Option<String> {
    let name = settings.backend.model()?;
    match recipe.models.get(name) {
        None => {
            let hint = hint(name, recipe.models.keys().map(String::as_str));
            Some(format!("`backend.model = \"{name}\"`: there is no `[models.{name}]`{hint}"))
        }
        Some(model) if model.like == Like::Bag => Some(format!(
            "`backend.model = \"{name}\"`: a bag of words cannot answer a question; say `like = \"policy\"`, or name it as the `key` of a term"
        )),
        Some(_) => None,
    }
}

/// The message for a judge that no reward asks.
pub(crate) fn idle(recipe: &Recipe) -> Option<String> {
    let steering = recipe.credit.needs().annotations;
    let named = |name: &str| {
        steering.iter().any(|need| need.name == name) || pays(&toml::Value::Table(recipe.to_table()), name)
    };
    let asked = recipe.judges.iter().filter(|(_, judge)| judge.asked().is_some());
    let idle = asked.map(|(name, _)| name).find(|name| !named(name))?;
    Some(format!(
        "[judges.{idle}] no reward asks it; add a term `{{ type = \"annotation\", key = \"{idle}\" }}`, or remove it"
    ))
}

/// Whether a term or a credit rule somewhere in these tables reads the annotation of that name.
fn pays(value: &toml::Value, name: &str) -> bool {
    match value {
        toml::Value::Table(table) => {
            let reads = |key: &str| table.get(key).and_then(toml::Value::as_str) == Some(name);
            reads("key") || reads("annotation") || table.values().any(|value| pays(value, name))
        }
        toml::Value::Array(items) => items.iter().any(|item| pays(item, name)),
        _ => false,
    }
}

/// Refuses a world whose tasks have no right answer.
fn knows(world: &dyn World) -> Result<(), String> {
    let task = world.task(Split::HeldOut, 0, &Seed::root(0)).map_err(|error| error.to_string())?;
    match task.answer {
        Some(_) => Ok(()),
        None => Err(format!(
            "tasks of world `{}` have no single right answer that an oracle could know; say what is true by a reward, as \
             `backend = {{ type = \"oracle\", reward = {{ type = \"info\", key = \"solved\" }} }}`",
            world.about().name
        )),
    }
}

/// The judges of `recipe` whose model is not the recipe's own, opened, of those that are asked by name.
pub(crate) fn elsewhere(
    recipe: &Recipe,
    asked_for: &[String],
    (world, seed): (&dyn World, &Seed),
) -> Result<Vec<Box<dyn Annotator>>, String> {
    let asked = recipe.judges.iter().filter_map(|(name, judge)| Some((name, judge.asked()?)));
    let asked = asked.filter(|(name, settings)| !settings.backend.is_own() && asked_for.contains(name));
    let open = |(name, settings): (&String, &JudgeSettings)| {
        if settings.backend.oracle().is_some_and(|oracle| oracle.reward.is_none()) {
            knows(world).map_err(|why| format!("[judges.{name}] {why}"))?;
        }
        let (library, seed) = (Library::default(), seed.child("judge", settings.seed).child(name, 0));
        let judge = open::asked(settings, Path::new("."), &library, (None, None), seed);
        let judge = judge.map_err(|error| format!("[judges.{name}] {error}"))?;
        Ok(Box::new(AtWork::new(name.clone(), Box::new(judge), settings.per_turn)) as Box<dyn Annotator>)
    };
    asked.map(open).collect()
}
