//! Who answers for a judge: a model in this process, a server, or a model of the recipe itself.
//!
//! In: the table `backend` of a judge. Out: what it is called, and where it runs. The weights of a recipe's own models are lent by
//! the driver; they are not known here.

use crate::roles::{Backend, EmbeddedModel};
use merit_rollout::OpenAiSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who answers for a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum JudgeBackend {
    /// A model in this process.
    Embedded(EmbeddedModel),
    /// A model behind an endpoint.
    Openai(Box<OpenAiSettings>),
    /// The policy of the recipe, as it is when the question is put. Only in a recipe.
    Policy {},
    /// One of the recipe's `[models]` that has the policy's shape, as its last `fit` left it. Only in a recipe.
    Model {
        /// Its name.
        model: String,
    },
}

impl JudgeBackend {
    /// What plays a role outside the recipe. Absent: the recipe itself has the model.
    pub(super) fn elsewhere(&self) -> Option<Backend> {
        match self {
            Self::Embedded(model) => Some(Backend::Embedded(model.clone())),
            Self::Openai(server) => Some(Backend::Openai(server.clone())),
            Self::Policy {} | Self::Model { .. } => None,
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
        !matches!(self, Self::Openai(_))
    }

    /// Why it cannot be had outside a recipe, and what to do.
    pub(super) fn only_in_a_recipe(&self) -> String {
        let who = self.who();
        format!(
            "`backend`: the {who} is a model of a recipe, and no recipe is under way here; write the judge into the recipe as \
             `[judges.NAME]`, or say `embedded` with the file of a model"
        )
    }

    /// Refuses what cannot work.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Model { model } if model.is_empty() => {
                Err("`model` is empty; name one of `[models]`".to_owned())
            }
            _ => self.elsewhere().map_or(Ok(()), |backend| backend.check()),
        }
    }

    /// Its name. Two of one name answer alike, but for the weights of a model that learns.
    pub(super) fn who(&self) -> String {
        match self {
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
