//! A recipe: one TOML file that says world, model, warm start, rollout, reward, credit, learning, budget and evaluation.
//!
//! In: text, and overrides from the command line. Out: a [`Recipe`] in which every name exists, every key means something
//! and every combination can work. The resolved recipe is saved with each run; its hash names the experiment.

use crate::RunError;
use crate::bank::Bank;
use crate::guests::Guests;
use crate::interleave::Interleave;
use crate::judges::RecipeJudge;
use crate::memory::MemorySettings;
use crate::model::ModelConfig;
use crate::models::NamedModel;
use crate::overrides::{merge, parse_value, set_path};
use crate::own_data::{DataFile, Use};
use crate::recipe_error::RecipeError;
use crate::roles::Roles;
use crate::stages::StageSettings;
use crate::tasks::Tasks;
use crate::toml_error::{Located, locate};
use crate::until::Until;
use crate::warm_start::{WarmStart, forget_skill};
use merit_api::WorldSettings;
use merit_api::annotator::AnnotatorSettings;
use merit_core::{Arm, Chosen, Components, settings};
use merit_credit::CreditRule;
use merit_learn::LearnConfig;
use merit_reward::RewardConfig;
use merit_rollout::RolloutSettings;
use merit_store::RunFolder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Everything an experiment is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The name used on the command line.
    pub name: String,
    /// What the experiment tries, in one line.
    #[serde(default)]
    pub about: String,
    /// The published system it follows; empty when there is none.
    #[serde(default)]
    pub paper: String,
    /// Whether it leaves out, on purpose, something that results rest on. Absent: it does not, and components that do are refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ablation: bool,
    /// Where the agent acts.
    pub world: Chosen<dyn WorldSettings>,
    /// The policy. Absent: a small decoder made on the spot.
    #[serde(default)]
    pub model: ModelConfig,
    /// Models beside the policy, which stages of `fit` train.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, NamedModel>,
    /// Judges: those that are asked in words, and those made of checks, which stages of `evolve` improve.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judges: BTreeMap<String, RecipeJudge>,
    /// Who plays the other roles.
    #[serde(default, skip_serializing_if = "Roles::are_usual")]
    pub roles: Roles,
    /// How the policy gets its first manners. Absent: it learns by reward straight away, which a model from a file can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<WarmStart>,
    /// How episodes are run while learning.
    #[serde(default)]
    pub rollout: RolloutSettings,
    /// Who is asked about every episode before it is scored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotators: Vec<Chosen<dyn AnnotatorSettings>>,
    /// The reward that scores every episode.
    pub reward: RewardConfig,
    /// Which token deserves it.
    pub credit: Chosen<dyn CreditRule>,
    /// How the policy changes.
    #[serde(default)]
    pub learn: LearnConfig,
    /// Supervised updates among those by reward. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleave: Option<Interleave>,
    /// Demonstrations that join every group. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guests: Option<Guests>,
    /// Turns of good episodes that are shown with tasks like theirs. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<Bank>,
    /// Items of a memory that are shown with tasks. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySettings>,
    /// Which tasks are played while learning. Absent: one after another, none twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Tasks>,
    /// How much of everything.
    pub budget: Budget,
    /// How it is measured.
    #[serde(default)]
    pub evaluation: Evaluation,
    /// Arms that share the warm start and the budget but lack what is claimed to matter.
    #[serde(default)]
    pub controls: Vec<Control>,
    /// Files of one's own that stages imitate or prefer, by the names under which they are read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub datasets: BTreeMap<String, DataFile>,
    /// What is done, one stage after another. Empty: warm start, evaluation, learning, evaluation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<StageSettings>,
    /// What its names were looked up in.
    #[serde(skip)]
    pub components: Components,
}

/// How much of everything.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Updates by reinforcement; the most there are where `until` ends them earlier.
    pub steps: u64,
    /// Tasks of one training step.
    pub groups: u32,
    /// Episodes per task.
    pub group_size: u32,
    /// A checkpoint every so many updates.
    #[serde(default = "five")]
    pub checkpoint_every: u64,
    /// Another end of learning, in another unit. Absent: steps alone count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
}

fn five() -> u64 {
    5
}

/// How it is measured: greedily unless told otherwise, on tasks that were not learned from.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Evaluation {
    /// Held-out tasks before and after.
    pub tasks: u32,
    /// Held-out tasks at the points in between.
    pub tasks_between: u32,
    /// An evaluation in between every so many steps; 0 for none.
    pub every: u64,
    /// Sampling temperature of held-out episodes; 0 is greedy. For what a policy does when it is sampled, such as how reliable it is.
    #[serde(skip_serializing_if = "is_greedy")]
    pub temperature: f32,
}

fn is_greedy(temperature: &f32) -> bool {
    *temperature == 0.0
}

impl Default for Evaluation {
    fn default() -> Self {
        Self { tasks: 256, tasks_between: 96, every: 10, temperature: 0.0 }
    }
}

/// An arm that lacks what is claimed to matter.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Name in tables, e.g. `no-tool`.
    pub name: String,
    /// What it leaves out or changes, in one line.
    pub about: String,
    /// What differs, in the shape of a recipe.
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub set: toml::Table,
}

impl Recipe {
    /// Reads and checks a recipe that names components of merit's own.
    pub fn parse(file: &str, text: &str) -> Result<Self, RecipeError> {
        Self::read(file, text, &crate::built_in())
    }

    /// Reads and checks a recipe: first its tables, then what they name, looked up in `components`. Opens nothing.
    pub fn read(file: &str, text: &str, components: &Components) -> Result<Self, RecipeError> {
        let recipe = crate::mistakes::read::<Self>(file, text, MODEL, components)?;
        let checked = Self { components: components.clone(), ..recipe }.checked(file, true);
        checked.map_err(|error| error.placed(|located| located.placed_in(file, text)))
    }

    /// The recipe that a run was made by. A run with components of one's own is read against these too.
    pub fn of_run(folder: &RunFolder, components: &Components) -> Result<Self, RunError> {
        let file = folder.path().join("recipe.toml").display().to_string();
        Ok(Self::read(&file, &folder.recipe()?, components)?)
    }

    /// How its stages read the file called `name`.
    pub(crate) fn uses<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Use<'a>> {
        self.stages.iter().flat_map(StageSettings::each).filter_map(move |stage| match stage {
            StageSettings::Imitate(stage) if stage.from == name => Some(Use::Imitate),
            StageSettings::Prefer(stage) if stage.from == name => Some(Use::Prefer(&*stage.objective)),
            StageSettings::Evolve(stage) if stage.from == name => Some(Use::Evolve),
            _ => None,
        })
    }

    /// The same recipe with `key=value` overrides; keys are dotted paths, values are TOML or plain strings.
    pub fn with(&self, overrides: &[(String, String)]) -> Result<Self, RecipeError> {
        let mut table = self.to_table();
        for (key, value) in overrides {
            set_path(&mut table, key, parse_value(value))
                .map_err(|why| RecipeError::Combination { file: format!("--set {key}={value}"), why })?;
        }
        forget_skill(&mut table, overrides);
        let file = overrides.iter().map(|(k, v)| format!("--set {k}={v}")).collect::<Vec<_>>().join(" ");
        self.reread(&file, table)
    }

    /// The recipe of an arm: this one, or this one with the differences of a control.
    pub fn of_arm(&self, arm: &Arm) -> Result<Self, RecipeError> {
        match arm {
            Arm::Main => Ok(self.clone()),
            Arm::Control(name) => {
                let control = self.controls.iter().find(|control| control.name == *name);
                control.map_or_else(|| Ok(self.clone()), |control| self.control(control))
            }
        }
    }

    /// Its arms, the main one first.
    pub fn arms(&self) -> Vec<Arm> {
        let controls = self.controls.iter().map(|control| Arm::Control(control.name.clone()));
        std::iter::once(Arm::Main).chain(controls).collect()
    }

    /// The recipe of a control arm: this one with the control's differences.
    pub fn control(&self, control: &Control) -> Result<Self, RecipeError> {
        self.control_in(&format!("recipe `{}`", self.name), control)
    }

    pub(crate) fn control_in(&self, file: &str, control: &Control) -> Result<Self, RecipeError> {
        let mut table = self.to_table();
        merge(&mut table, &control.set);
        table.remove("controls");
        self.reread(&format!("{file}: control `{}`", control.name), table)
    }

    /// The world in which demonstrations are given.
    pub fn demonstration_world(&self) -> Result<Chosen<dyn WorldSettings>, RecipeError> {
        self.demonstration_world_in(&format!("recipe `{}`", self.name))
    }

    pub(crate) fn demonstration_world_in(
        &self,
        file: &str,
    ) -> Result<Chosen<dyn WorldSettings>, RecipeError> {
        let Some(warm) = self.warm_start.as_ref().filter(|warm| !warm.world.is_empty()) else {
            return Ok(self.world.clone());
        };
        let mut table = self.to_table();
        let set = toml::Table::from_iter([("world".to_owned(), toml::Value::Table(warm.world.clone()))]);
        merge(&mut table, &set);
        let text = toml::to_string(&table["world"]).expect("a table that TOML parsed can be written");
        let file = format!("{file}: `warm_start.world`");
        Ok(self
            .components
            .reading(|| settings::from_toml(&text))
            .map_err(|error| Located { place: None, ..locate(&file, &text, &error) })?)
    }

    /// The resolved text: every default written out.
    pub fn to_toml(&self) -> String {
        settings::to_toml(self).expect("a recipe is plain data that TOML can hold")
    }

    /// About how much disk a run of it takes, for the check before it starts: the record, two checkpoints and one in the
    /// making.
    pub fn disk_bytes(&self) -> u64 {
        const BYTES_PER_EPISODE: u64 = 6_000;
        const ROOM: u64 = 32 << 20;
        let stages = crate::stage::Stage::all(&std::sync::Arc::new(self.clone()), &BTreeMap::new())
            .unwrap_or_default();
        let episodes = stages.iter().map(crate::stage::Stage::episodes).fold(0, u64::saturating_add);
        // Weights, two moments, and the two kept sets of weights; of each model weights and moments.
        let sets = 5 + 3 * self.models.len() as u64 + stages.iter().filter(|stage| stage.kept).count() as u64;
        let checkpoint = self.model.parameters().saturating_mul(4).saturating_mul(sets);
        let record = episodes.saturating_mul(BYTES_PER_EPISODE);
        record.saturating_add(ROOM).saturating_add(checkpoint.saturating_mul(3))
    }

    /// What is shown before any reward; nothing, where there is no warm start.
    pub(crate) fn warm(&self) -> &WarmStart {
        match &self.warm_start {
            Some(warm) => warm,
            None => WarmStart::none(),
        }
    }

    /// Hash of the resolved text.
    pub fn hash(&self) -> String {
        merit_core::hex(&Sha256::digest(self.to_toml().as_bytes()))[..16].to_owned()
    }

    /// `Err` with what to do when nothing could be trained by it, though it can be played.
    pub fn trainable(&self) -> Result<(), RecipeError> {
        let refused = |why| RecipeError::Combination { file: format!("recipe `{}`", self.name), why };
        crate::warm_start::needed(self).map_or(Ok(()), |why| Err(refused(why)))
    }

    pub(crate) fn reread(&self, file: &str, table: toml::Table) -> Result<Self, RecipeError> {
        let text = toml::to_string(&table).expect("a table that TOML parsed can be written");
        let recipe = crate::mistakes::read::<Self>(file, &text, MODEL, &self.components);
        let recipe = recipe.map_err(|error| error.placed(|located| keyed(&text, located)))?;
        Self { components: self.components.clone(), ..recipe }.checked(file, false)
    }

    /// As a table that changes are laid over: without what follows from what may change.
    pub(crate) fn to_table(&self) -> toml::Table {
        let mut table = settings::to_table(self).expect("a recipe is plain data that TOML can hold");
        if let Some(toml::Value::Table(models)) = table.get_mut("models") {
            for (_, model) in models
                .iter_mut()
                .filter(|(name, _)| self.models.get(*name).is_some_and(|model| model.start.is_none()))
            {
                model.as_table_mut().map(|model| model.remove("start"));
            }
        }
        table
    }
}

/// A mistake in what was put together: there is no file to look into, so the key is said.
fn keyed(text: &str, located: Located) -> Located {
    let at = located.place.and_then(|place| crate::document::key_at(text, place));
    let message = match at.filter(|_| located.message.starts_with("invalid ")) {
        Some(key) => format!("`{key}`: {}", located.message),
        None => located.message,
    };
    Located { place: None, message, ..located }
}

/// A recipe without mistakes.
const MODEL: &str = crate::shipped::TEXTS[0].1;
