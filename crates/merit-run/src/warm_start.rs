//! `[warm_start]` in a recipe: what the teacher shows before any reward, and who can go without it.

use crate::checks::{at_least_one, in_memory, manner_shares};
use crate::lessons::Keep;
use crate::model::ModelConfig;
use crate::recipe::Recipe;
use crate::stages::Supervision;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Supervised learning on what the teacher demonstrates, before any reward.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WarmStart {
    /// How many demonstrations the teacher is asked for.
    pub demonstrations: usize,
    /// Share of demonstrations that are done right; the others show the bad manners of the world's demonstrator. Only where
    /// that one teaches; absent: 0.4.
    #[serde(skip_serializing_if = "Option::is_none", alias = "p_correct")]
    #[schemars(extend("aliases" = ["p_correct"]))]
    pub skill: Option<f64>,
    /// The shares of demonstrations in named manners of the world's demonstrator, instead of `skill`; they add up to 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub manners: BTreeMap<String, f64>,
    /// Which of its episodes are imitated. Only where a model teaches; absent: those that solved their task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// Number of optimiser updates.
    pub steps: u64,
    /// Demonstrations per update.
    pub batch: usize,
    /// Settings of the world that differ while demonstrating, in the shape of `[world]`.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub world: toml::Table,
    /// Peak learning rate; warm-up over a twentieth of the steps, then cosine to a tenth.
    #[serde(alias = "lr")]
    #[schemars(extend("aliases" = ["lr"]))]
    pub learning_rate: f32,
}

/// The further keys of an `imitate` stage: all of `[warm_start]` and of [`Supervision`], none of them required, since which ones
/// are depends on `from`.
pub(crate) struct ImitateKeys;

impl JsonSchema for ImitateKeys {
    fn schema_name() -> Cow<'static, str> {
        "imitate-keys".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WarmStart::json_schema(generator);
        let own = Supervision::json_schema(generator);
        let own = own.get("properties").and_then(|keys| keys.as_object().cloned()).unwrap_or_default();
        if let Some(keys) = schema.get_mut("properties").and_then(|keys| keys.as_object_mut()) {
            for (key, schema) in own {
                keys.entry(key).or_insert(schema);
            }
            // What is absent comes from `[warm_start]`, or is required.
            keys.values_mut()
                .filter_map(|key| key.as_object_mut())
                .for_each(|key| drop(key.remove("default")));
        }
        schema
    }
}

impl Default for WarmStart {
    fn default() -> Self {
        Self {
            demonstrations: 4000,
            skill: None,
            manners: BTreeMap::new(),
            keep: None,
            steps: 400,
            batch: 32,
            learning_rate: 3e-3,
            world: toml::Table::new(),
        }
    }
}

impl WarmStart {
    /// Nothing is shown, and nothing is imitated.
    pub(crate) fn none() -> &'static Self {
        static NONE: LazyLock<WarmStart> =
            LazyLock::new(|| WarmStart { demonstrations: 0, steps: 0, ..WarmStart::default() });
        &NONE
    }

    /// The usual skill of the world's demonstrator, where neither skill nor manners are given.
    pub(crate) fn settle_skill(&mut self) {
        if self.manners.is_empty() {
            self.skill.get_or_insert(USUAL_SKILL);
        }
    }

    fn counts(&self) -> Result<(), String> {
        let (shown, batch) = (self.demonstrations, self.batch);
        let counts = [("warm_start.demonstrations", shown as u64), ("warm_start.batch", batch as u64)];
        at_least_one(&counts)?;
        in_memory(&counts)?;
        if let Some(skill) = self.skill.filter(|skill| !(0.0..=1.0).contains(skill)) {
            return Err(format!("`warm_start.skill` is {skill}; it is a share between 0 and 1"));
        }
        if shown < batch {
            return Err(format!(
                "`warm_start.demonstrations` is {shown}, and one batch takes {batch} (`warm_start.batch`); ask for at least as many"
            ));
        }
        let rate = self.learning_rate;
        if rate.is_finite() && rate > 0.0 {
            Ok(())
        } else {
            Err(format!("`warm_start.learning_rate` is {rate}; it must be positive"))
        }
    }
}

/// Why this recipe cannot be trained without the warm start that it lacks. `None`: it can, or it has one.
pub(crate) fn needed(recipe: &Recipe) -> Option<String> {
    if recipe.warm_start.is_some() {
        return None;
    }
    if matches!(&recipe.model, ModelConfig::Fresh(model) if model.start.is_none()) {
        return Some(
            "there is no `[warm_start]`, and a decoder made on the spot has no tokenizer and cannot speak before it has imitated \
             demonstrations; add a `[warm_start]` table, or name a model that speaks already with `file` or `start` in `[model]`"
                .into(),
        );
    }
    if !recipe.roles.teacher.is_oracle() {
        return Some(
            "`roles.teacher` shows demonstrations, and there is no `[warm_start]` to imitate them; add one, or remove the teacher"
                .into(),
        );
    }
    recipe.interleave.as_ref().map(|_| {
        "`[interleave]` imitates the demonstrations of the warm start, and there is no `[warm_start]`; add one, or remove it"
            .into()
    })
}

/// Every reason why the warm start of a recipe cannot work.
pub(crate) fn check(recipe: &Recipe) -> Vec<String> {
    let Some(warm) = &recipe.warm_start else { return Vec::new() };
    let shown = teacher(recipe, warm).and_then(|()| manners(recipe, warm));
    [warm.counts(), shown].into_iter().filter_map(Result::err).collect()
}

fn teacher(recipe: &Recipe, warm: &WarmStart) -> Result<(), String> {
    match (recipe.roles.teacher.is_oracle(), warm.skill, warm.keep) {
        (false, Some(_), _) => Err(
            "`warm_start.skill` is that of the world's own demonstrator, and `roles.teacher` is a model, \
                                    which has the skill it has; remove either"
                .into(),
        ),
        (true, _, Some(_)) => {
            Err("`warm_start.keep` is for a model that teaches; the world's own demonstrator is imitated in \
                                   everything, so remove it, or name a model in `roles.teacher`"
                .into())
        }
        _ => Ok(()),
    }
}

fn manners(recipe: &Recipe, warm: &WarmStart) -> Result<(), String> {
    let shares = &warm.manners;
    if shares.is_empty() {
        return Ok(());
    }
    if !recipe.roles.teacher.is_oracle() {
        return Err("`warm_start.manners` are those of the world's own demonstrator, and `roles.teacher` is a model, \
                    which has its own; remove either"
            .into());
    }
    if warm.skill.is_some() {
        return Err("`warm_start.manners` and `warm_start.skill` both say how demonstrations are played; remove either".into());
    }
    let world = recipe.demonstration_world().map_err(|e| e.to_string())?;
    if world.manners().is_empty() {
        let name = world.about().name;
        return Err(format!(
            "`warm_start.manners`: the demonstrator of world `{name}` has no manners with names; give `warm_start.skill`"
        ));
    }
    manner_shares("warm_start.manners", shares, &world)
}

/// The skill of the world's demonstrator where none is given.
const USUAL_SKILL: f64 = 0.4;

/// A change that gives the lessons to a model takes the skill and the manners of the world's demonstrator with it; a change that
/// names manners takes the skill.
pub(crate) fn forget_skill(table: &mut toml::Table, overrides: &[(String, String)]) {
    let sets = |section: &str| {
        overrides.iter().any(|(key, _)| key == section || key.starts_with(&format!("{section}.")))
    };
    let teacher = || table.get("roles")?.get("teacher")?.get("type")?.as_str();
    let by_a_model = teacher().is_some_and(|teacher| teacher != "oracle");
    let to_a_model = by_a_model && sets("roles");
    let Some(warm_start) = table.get_mut("warm_start").and_then(toml::Value::as_table_mut) else { return };
    let skill = ["warm_start.skill", "warm_start.p_correct"];
    if (to_a_model || sets("warm_start.manners")) && !skill.iter().any(|key| sets(key)) {
        warm_start.remove("skill");
    }
    if to_a_model && !sets("warm_start.manners") {
        warm_start.remove("manners");
    }
}
