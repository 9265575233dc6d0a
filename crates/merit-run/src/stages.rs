//! `[[stages]]`, the long form of a recipe: what is done, one stage after another.
//!
//! In: tables of a recipe. Out: settings in which every key means something, and the recipe that each stage follows: the whole
//! one with what the stage lays over it. A recipe without stages imitates, evaluates, learns and evaluates; that is the short form.

pub use crate::alter::{Alter, Edit};
pub use crate::dataset::KeepEpisodes;
pub use crate::evolve::Evolve;
pub use crate::merge::{Merge, MergeMode, Merged};
pub use crate::models::{Fit, FitLoss};
use crate::overrides::merge;
pub use crate::own_data::DataFile;
pub use crate::plateau::Plateau;
pub use crate::prefer::Prefer;
use crate::recipe::Recipe;
use crate::recipe_error::RecipeError;
pub use crate::suite::Select;
use crate::until::Until;
use crate::warm_start::ImitateKeys;
use merit_api::Context;
use merit_core::{Arm, Phase, StageKind, When, settings};
pub use merit_rollout::SearchSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is called so in `from` without any stage that wrote it.
pub(crate) const DEMONSTRATIONS: &str = "demonstrations";

/// One stage of a recipe.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum StageSettings {
    /// Supervised learning on demonstrations or on a dataset.
    Imitate(Imitate),
    /// Episodes of the present policy on training tasks, scored, as a dataset.
    Collect(Collect),
    /// A dataset from another.
    Make(Make),
    /// Learning by reward.
    Learn(Learning),
    /// Learning from pairs.
    Prefer(Prefer),
    /// A model beside the policy learns how good episodes are.
    Fit(Fit),
    /// A judge made of checks learns from pairs what is better.
    Evolve(Evolve),
    /// The policy as it stood after several stages becomes one.
    Merge(Merge),
    /// Held-out evaluation.
    Evaluate(Evaluating),
    /// Other stages, several times over.
    Repeat(Repeat),
}

/// Supervised learning.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Imitate {
    /// Where its numbers are kept. Absent: `warm` for demonstrations, else the dataset's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A stage after which the policy stood where this one begins. Absent: where the stage before left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// `demonstrations`, a dataset, or a file of `[datasets]`.
    pub from: String,
    /// From demonstrations: keys laid over `[warm_start]`. From a dataset: those of [`Supervision`].
    #[serde(flatten)]
    #[schemars(with = "ImitateKeys")]
    pub keys: toml::Table,
}

/// How a dataset is imitated.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Supervision {
    /// Number of optimiser updates.
    pub steps: u64,
    /// Episodes per update.
    pub batch: usize,
    /// Peak learning rate; warm-up over a twentieth of the steps, then cosine to a tenth.
    #[serde(alias = "lr")]
    #[schemars(extend("aliases" = ["lr"]))]
    pub learning_rate: f32,
}

/// Episodes of the present policy.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collect {
    /// Where its numbers are kept. Absent: the dataset's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the dataset that is made.
    pub into: String,
    /// Training tasks; each round of a `repeat` takes the next ones.
    pub tasks: u32,
    /// Episodes per task.
    #[serde(default = "one")]
    pub samples: u32,
    /// Which tasks they are, where they are not simply the next of the training tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub practice: Option<Practice>,
    /// Temperature of the sampling. Absent: that of `[rollout]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The best episode of each task is searched for. Absent: each is sampled once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSettings>,
    /// Solved episodes of another dataset, each with `samples` altered ones beside it, instead of episodes of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alter: Option<Alter>,
    /// Tables laid over the recipe's for this stage.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub set: toml::Table,
}

/// Tasks that are practised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Practice {
    /// The first training tasks, so many of them, over and over.
    Fixed(u32),
    /// Tasks that the world's author proposes, who knows so much of the world.
    Proposed(Context),
}

/// A dataset from another.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Make {
    /// What the stage is called. Absent: the name of the new dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The dataset that is read.
    pub from: String,
    /// The dataset that is written.
    pub into: String,
    /// Which episodes are kept.
    pub keep: KeepEpisodes,
}

/// Learning by reward.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// Where its numbers are kept. Absent: it is the run's main learning, `train`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A stage after which the policy stood where this one begins. Absent: where the stage before left it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Updates. Absent: those of `[budget]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Another end of it, in another unit. Absent: that of `[budget]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Tables laid over the recipe's for this stage.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub set: toml::Table,
}

/// Held-out evaluation.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evaluating {
    /// `before` and `after` are what reports compare.
    pub name: String,
    /// Held-out tasks. Absent: those of `[evaluation]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u32>,
    /// Episodes of each task that are sampled beside the greedy one, for pass@k and pass^k; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples: u32,
    /// Temperature of the samples, or of the tries of a search. Absent: that of `[rollout]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The episode of each task is searched for instead of played greedily.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSettings>,
    /// Chooses one of the samples, for best-of-n. Absent: none is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<Select>,
    /// Success is broken down by these: infos of the world, or places in the task's payload, which begin with `/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// Another world or other limits: tables laid over the recipe's for this stage.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "merit_core::registry::AnyTable")]
    pub set: toml::Table,
}

/// Stages that are done several times over.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// Rounds; with `until` the most.
    pub times: u64,
    /// When there are enough rounds. Absent: after `times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Plateau>,
    /// What is done in each round.
    pub stages: Vec<StageSettings>,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl StageSettings {
    /// Where its episodes and numbers are recorded; a `repeat` has nothing of its own.
    pub(crate) fn phase(&self) -> Option<Phase> {
        let named = |kind, name: &Option<String>, usual: &str| {
            Phase::Stage(kind, name.as_deref().unwrap_or(usual).to_owned())
        };
        Some(match self {
            Self::Imitate(Imitate { name: None, from, .. }) if from == DEMONSTRATIONS => Phase::Warm,
            Self::Imitate(stage) => named(StageKind::Imitate, &stage.name, &stage.from),
            Self::Collect(stage) => named(StageKind::Collect, &stage.name, &stage.into),
            Self::Make(stage) => named(StageKind::Make, &stage.name, &stage.into),
            Self::Learn(Learning { name: None, .. }) => Phase::train(),
            Self::Learn(stage) => named(StageKind::Learn, &stage.name, ""),
            Self::Prefer(stage) => named(StageKind::Prefer, &stage.name, &stage.from),
            Self::Fit(stage) => named(StageKind::Fit, &stage.name, &stage.model),
            Self::Evolve(stage) => named(StageKind::Evolve, &stage.name, &stage.judge),
            Self::Merge(stage) => named(StageKind::Merge, &stage.name, "merged"),
            Self::Evaluate(stage) => match stage.name.as_str() {
                "before" => Phase::Eval(Arm::Main, When::Before),
                "after" => Phase::Eval(Arm::Main, When::After),
                name => Phase::Stage(StageKind::Evaluate, name.to_owned()),
            },
            Self::Repeat(_) => return None,
        })
    }

    /// The stage itself, or those that it repeats.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::Repeat(repeat) => &repeat.stages,
            other => std::slice::from_ref(other),
        }
    }

    /// The tables that it lays over the recipe's own.
    pub(crate) fn changes(&self) -> toml::Table {
        let (mut changes, own) = match self {
            Self::Imitate(stage) if stage.from == DEMONSTRATIONS => {
                (toml::Table::new(), vec![("warm_start", stage.keys.clone())])
            }
            Self::Collect(stage) => (stage.set.clone(), temperature(stage.temperature)),
            Self::Learn(stage) => {
                let steps = stage.steps.map(|steps| ("steps", toml::Value::Integer(steps as i64)));
                let until = stage.until.map(|until| ("until", settings::to_value(&until)));
                let until = until.and_then(|(key, value)| Some((key, value.ok()?)));
                (stage.set.clone(), [section("budget", steps), section("budget", until)].concat())
            }
            Self::Evaluate(stage) => {
                let tasks = stage.tasks.map(|tasks| ("tasks", toml::Value::Integer(tasks.into())));
                let mut own = section("evaluation", tasks);
                own.extend(temperature(stage.temperature));
                (stage.set.clone(), own)
            }
            _ => return toml::Table::new(),
        };
        for (section, keys) in own.into_iter().filter(|(_, keys)| !keys.is_empty()) {
            merge(&mut changes, &toml::Table::from_iter([(section.to_owned(), toml::Value::Table(keys))]));
        }
        changes
    }

    /// What `set` may hold.
    pub(crate) fn may_set(&self) -> (&toml::Table, &'static [&'static str]) {
        static NOTHING: std::sync::LazyLock<toml::Table> = std::sync::LazyLock::new(toml::Table::new);
        match self {
            Self::Collect(stage) => (&stage.set, &["world", "rollout", "reward"]),
            Self::Learn(stage) => (&stage.set, &["world", "rollout", "reward", "credit", "learn", "tasks"]),
            Self::Evaluate(stage) => (&stage.set, &["world", "rollout"]),
            _ => (&NOTHING, &[]),
        }
    }

    /// A key that `set` holds though it may not.
    pub(crate) fn sets_wrongly(&self) -> Option<&str> {
        let (set, may) = self.may_set();
        set.keys().map(String::as_str).find(|key| !may.contains(key))
    }

    /// The stage after which the policy stood where this one begins, where it says so.
    pub(crate) fn start(&self) -> Option<&str> {
        match self {
            Self::Imitate(stage) => stage.start.as_deref(),
            Self::Learn(stage) => stage.start.as_deref(),
            Self::Prefer(stage) => stage.start.as_deref(),
            _ => None,
        }
    }

    /// How it searches for episodes, where it does.
    pub(crate) fn search(&self) -> Option<&SearchSettings> {
        match self {
            Self::Collect(stage) => stage.search.as_ref(),
            Self::Evaluate(stage) => stage.search.as_ref(),
            _ => None,
        }
    }

    /// Whether the policy is another after it.
    pub(crate) fn changes_policy(&self) -> bool {
        matches!(self, Self::Imitate(_) | Self::Learn(_) | Self::Prefer(_) | Self::Merge(_))
    }

    /// What it is called in errors.
    pub(crate) fn title(&self) -> String {
        self.phase().map_or_else(|| "repeat".to_owned(), |phase| format!("stage `{phase}`"))
    }
}

impl Imitate {
    /// How its dataset is imitated; `Err` with the reason when the keys do not say it.
    pub(crate) fn supervision(&self) -> Result<Supervision, String> {
        settings::from_table(self.keys.clone()).map_err(|error| error.message().to_owned())
    }
}

type Section = (&'static str, toml::Table);

fn section(name: &'static str, key: Option<(&str, toml::Value)>) -> Vec<Section> {
    key.into_iter().map(|(key, value)| (name, toml::Table::from_iter([(key.to_owned(), value)]))).collect()
}

fn temperature(given: Option<f32>) -> Vec<Section> {
    // By its shortest text, so that 0.7 stays 0.7.
    let value = given.map(|given| given.to_string().parse().unwrap_or(f64::from(given)));
    section("rollout", value.map(|value| ("temperature", toml::Value::Float(value))))
}

impl Recipe {
    /// The recipe that a stage follows: this one with what the stage lays over it.
    pub(crate) fn of_stage(&self, file: &str, stage: &StageSettings) -> Result<Self, RecipeError> {
        let mut table = self.to_table();
        let has_until = matches!(stage, StageSettings::Learn(Learning { until: Some(_), .. }));
        if let Some(budget) =
            table.get_mut("budget").and_then(toml::Value::as_table_mut).filter(|_| has_until)
        {
            // One unit takes the place of the other.
            budget.remove("until");
        }
        merge(&mut table, &stage.changes());
        table.remove("stages");
        self.reread(&format!("{file}: {}", stage.title()), table)
    }
}
