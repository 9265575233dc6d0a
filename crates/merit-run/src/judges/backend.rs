//! Who answers for a judge: the truth, a model in this process, a server, or a model of the recipe itself.
//!
//! In: the table `backend` of a judge. Out: what it is called, and where it runs. The weights of a recipe's own models are lent by
//! the driver; they are not known here.

use crate::roles::{Backend, EmbeddedModel};
use merit_core::Seed;
use merit_judge::Oracle;
use merit_judge::ask::Ask;
use merit_reward::{RewardConfig, Scorer};
use merit_rollout::OpenAiSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who answers for a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum JudgeBackend {
    /// The truth, as far as the tasks or a reward say it: a control beside real judges.
    Oracle(Box<OracleBackend>),
    /// A model in this process.
    Embedded(EmbeddedModel),
    /// A model behind an endpoint.
    Openai(Box<OpenAiSettings>),
    /// The policy of the recipe, as it is when the question is put. Only in a recipe.
    Policy {},
    /// One of the recipe's `[models]` that has the policy's shape, as its last `fit` left it. Only in a recipe.
    Model {
        /// Name of the model in `[models]`.
        model: String,
    },
}

/// A judge that knows what is right, and is wrong now and then.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OracleBackend {
    /// What is true of an episode, from 0 to 1. Absent: `exact-answer`, by the right answer of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<RewardConfig>,
    /// The share of answers that are turned round: a grade to the other end, a choice to the other side.
    pub errors: f64,
}

impl OracleBackend {
    /// What it answers when it is asked so.
    pub(super) fn asker(&self, ask: &Ask, id: String, seed: Seed) -> Result<Oracle, String> {
        let reward = match &self.reward {
            Some(reward) => reward.clone(),
            None => RewardConfig::from_toml("type = 'exact-answer'").map_err(|error| error.to_string())?,
        };
        let truth = Scorer::opened(&reward).map_err(|error| format!("backend.reward: {error}"))?;
        Ok(Oracle { id, truth, ask: ask.clone(), errors: self.errors, seed })
    }

    fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.errors) {
            return Err(format!("`errors` is {}; it is a share from 0 to 1", self.errors));
        }
        let Some(reward) = &self.reward else { return Ok(()) };
        let truth = Scorer::compile(reward).map_err(|error| format!("`reward`: {error}"))?;
        match truth.needs().first() {
            Some(need) => Err(format!(
                "`reward` needs the annotation `{}`, which somebody would have to be asked for; name what the world knows",
                need.name
            )),
            None => Ok(()),
        }
    }
}

impl JudgeBackend {
    /// The oracle, where it answers.
    pub(crate) fn oracle(&self) -> Option<&OracleBackend> {
        match self {
            Self::Oracle(oracle) => Some(oracle),
            _ => None,
        }
    }

    /// What plays a role outside the recipe. Absent: the recipe itself has the model, or there is none.
    pub(super) fn elsewhere(&self) -> Option<Backend> {
        match self {
            Self::Embedded(model) => Some(Backend::Embedded(model.clone())),
            Self::Openai(server) => Some(Backend::Openai(server.clone())),
            Self::Oracle(_) | Self::Policy {} | Self::Model { .. } => None,
        }
    }

    /// Whether a model of the recipe itself answers.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Policy {} | Self::Model { .. })
    }

    /// The one of `[models]` that answers.
    pub(crate) fn model(&self) -> Option<&str> {
        match self {
            Self::Model { model } => Some(model),
            _ => None,
        }
    }

    /// Whether the model is in this process, so that it can be held to a grammar and its tokens can be counted.
    pub(super) fn is_here(&self) -> bool {
        !matches!(self, Self::Openai(_) | Self::Oracle(_))
    }

    /// Why it cannot be had outside a recipe, and what to do.
    pub(super) fn only_in_a_recipe(&self) -> String {
        if self.oracle().is_some() {
            return "an oracle is no model, and answers nothing but questions about episodes".to_owned();
        }
        let who = self.who();
        format!(
            "`backend`: the {who} is a model of a recipe, and no recipe is under way here; write the judge into the recipe as \
             `[judges.NAME]`, or say `embedded` with the file of a model"
        )
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Oracle(oracle) => oracle.check(),
            Self::Model { model } if model.is_empty() => {
                Err("`model` is empty; name one of `[models]`".to_owned())
            }
            _ => self.elsewhere().map_or(Ok(()), |backend| backend.check()),
        }
    }

    /// Its name. Two of one name answer alike, but for the weights of a model that learns.
    pub(super) fn who(&self) -> String {
        match self {
            Self::Oracle(oracle) => {
                let truth = oracle
                    .reward
                    .as_ref()
                    .map_or_else(|| "exact-answer".to_owned(), |reward| format!("{reward:?}"));
                format!("oracle by {truth} errors {}", oracle.errors)
            }
            Self::Embedded(model) => {
                let bytes = std::fs::metadata(&model.file).map_or(0, |file| file.len());
                format!("embedded {} of {bytes} bytes", model.file)
            }
            Self::Openai(server) => {
                format!("openai {} at {}", server.endpoint.model, server.endpoint.base_url)
            }
            Self::Policy {} => "policy".to_owned(),
            Self::Model { model } => format!("model {model}"),
        }
    }
}
