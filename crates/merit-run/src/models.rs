//! `[models.NAME]`: models beside the policy, and the stage `fit` in which they learn.

use crate::recipe::Recipe;
use crate::stages::StageSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an evaluation may select by without any model.
pub(crate) const LOG_PROB: &str = "log-prob";
/// The same for each token of the policy, so that short and long episodes can be compared.
pub(crate) const MEAN_LOG_PROB: &str = "mean-log-prob";
/// What the recipe's own reward says of an episode as it stands.
pub(crate) const SCORE: &str = "score";
/// What the policy is called among models.
const POLICY: &str = "policy";

/// A model beside the policy.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, into = "Written")]
pub struct NamedModel {
    /// Whose shape it has.
    pub like: Like,
    /// Its weights when it is fitted for the first time. Absent: those of the policy; a bag has none to begin with.
    #[serde(default)]
    pub start: Option<StartOf>,
    /// Pays, and chooses what is learned from, even where it does not beat what knows nothing of quality.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// A model as a resolved recipe says it: with its start, where it has one.
#[derive(Serialize, JsonSchema)]
struct Written {
    like: Like,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<StartOf>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    force: bool,
}

impl From<NamedModel> for Written {
    fn from(NamedModel { like, start, force }: NamedModel) -> Self {
        let usual = (like == Like::Policy).then(StartOf::default);
        Self { like, start: start.or(usual), force }
    }
}

/// Whose shape a model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Like {
    /// The policy's, its tokenizer included.
    Policy,
    /// A bag of words: which words occur in an episode, whatever their order. It is fitted in milliseconds.
    Bag,
}

/// What a model begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartOf {
    /// The weights of the policy at that moment.
    #[default]
    Policy,
    /// It begins with random weights.
    Fresh,
}

/// A model learns from a dataset how good episodes are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Where its numbers are kept. Absent: the model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One of `[models]`.
    pub model: String,
    /// A dataset: of pairs for `bradley-terry`, else of episodes.
    pub from: String,
    /// What the model is fitted to.
    pub loss: FitLoss,
    /// Number of optimiser updates.
    pub steps: u64,
    /// Pairs or episodes per update.
    pub batch: usize,
    /// Peak learning rate; warm-up over a twentieth of the steps, then cosine to a tenth.
    #[serde(alias = "lr")]
    #[schemars(extend("aliases" = ["lr"]))]
    pub learning_rate: f32,
    /// Share of the tasks that are kept aside, to measure the fit on.
    #[serde(default = "a_fifth")]
    pub held_out: f64,
}

/// What a model is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FitLoss {
    /// `-log σ(better - worse)` of a scalar behind the episode.
    BradleyTerry,
    /// The squared difference between that scalar and the recorded reward.
    Regression,
    /// One more token behind the episode: `+` where the task was solved, `-` where not. The score is the chance of `+`.
    Token,
}

fn a_fifth() -> f64 {
    0.2
}

impl FitLoss {
    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BradleyTerry => "bradley-terry",
            Self::Regression => "regression",
            Self::Token => "token",
        }
    }

    /// How the model is read; one model has one way.
    fn reading(self) -> &'static str {
        match self {
            Self::BradleyTerry | Self::Regression => "a scalar head",
            Self::Token => "the chance of a token",
        }
    }
}

/// What each model of `recipe` is fitted by.
pub(crate) fn losses(recipe: &Recipe) -> BTreeMap<String, FitLoss> {
    let stages = recipe.stages.iter().flat_map(StageSettings::each);
    let fits = stages.filter_map(|stage| match stage {
        StageSettings::Fit(fit) => Some((fit.model.clone(), fit.loss)),
        _ => None,
    });
    fits.collect()
}

/// `Err` with the reason when models cannot be called what they are called.
pub(crate) fn names(recipe: &Recipe) -> Result<(), String> {
    for name in recipe.models.keys() {
        if [POLICY, LOG_PROB, MEAN_LOG_PROB, SCORE].contains(&name.as_str()) {
            return Err(format!("[models] `{name}` means something else; give the model another name"));
        }
        if !crate::checks::plain(name) {
            return Err(format!(
                "[models] the name `{name}` must be made of lower-case letters, digits and `-`"
            ));
        }
    }
    Ok(())
}

/// `Err` with the reason when the models of `recipe` cannot be what they are said to be.
pub(crate) fn check(recipe: &Recipe) -> Result<(), String> {
    let mut known: BTreeMap<&str, FitLoss> = BTreeMap::new();
    for (name, model) in &recipe.models {
        if model.like == Like::Bag && model.start.is_some() {
            return Err(format!(
                "[models.{name}] a bag of words always begins fresh, and there are no weights of the policy that it could begin with; \
                 leave out `start`"
            ));
        }
    }
    for stage in recipe.stages.iter().flat_map(StageSettings::each) {
        let StageSettings::Fit(fit) = stage else { continue };
        let bag = recipe.models.get(&fit.model).is_some_and(|model| model.like == Like::Bag);
        if bag && fit.loss == FitLoss::Token {
            return Err(format!(
                "{}: model `{}` is a bag of words, behind which no token can stand; use `bradley-terry` or `regression`",
                stage.title(),
                fit.model
            ));
        }
        let first = *known.entry(&fit.model).or_insert(fit.loss);
        if first.reading() != fit.loss.reading() {
            return Err(format!(
                "{}: model `{}` is read by {} in an earlier stage and by {} here; fit two models",
                stage.title(),
                fit.model,
                first.reading(),
                fit.loss.reading()
            ));
        }
    }
    let whole = !recipe.stages.is_empty();
    match recipe.models.keys().find(|name| whole && !known.contains_key(name.as_str())) {
        Some(idle) => Err(format!("[models.{idle}] no stage fits it; add a stage `fit`, or remove it")),
        None => Ok(()),
    }
}
