//! Who plays the roles beside the policy, and the backends that can play one: a program, a model in this process, or a model
//! behind an endpoint.
//!
//! In: a table of a recipe. Out: a sampler with the chat format it speaks. A role changes its backend in one line.

use crate::RunError;
use crate::origin::chat_format;
use merit_api::World;
use merit_core::Seed;
use merit_model::{Generator, GeneratorSettings, Held, LanguageModel, LoadOptions, Sampler, Tokenizer};
use merit_rollout::{
    ChatFormat, EpisodePlan, OpenAiSampler, OpenAiSettings, OracleSampler, OracleSettings, RolloutSettings,
    TokenSource,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The roles of a recipe beside its policy.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Roles {
    /// Shows the warm start how it is done.
    pub teacher: Backend,
    /// Words what the world's person says, in worlds that have one: by rule where it is the oracle, else in the words of a model.
    #[serde(skip_serializing_if = "Backend::is_oracle")]
    pub user: Backend,
}

/// What plays a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Backend {
    /// The world's own demonstrator, or its own person.
    Oracle {},
    /// A model in this process.
    Embedded(EmbeddedModel),
    /// A model behind an endpoint.
    Openai(Box<OpenAiSettings>),
}

/// A model that acts as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddedModel {
    /// A GGUF file, or a folder with `config.json` and safetensors.
    pub file: String,
    /// Longest context in tokens. Absent: the model's own, within what a sampler holds by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<usize>,
}

impl Default for Backend {
    fn default() -> Self {
        Self::Oracle {}
    }
}

impl Roles {
    /// Whether every role is played as it is where nothing is said.
    pub(crate) fn are_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Backend {
    /// Whether the world itself plays.
    pub fn is_oracle(&self) -> bool {
        matches!(self, Self::Oracle {})
    }

    /// Refuses settings that cannot work, in the words of a recipe.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Self::Oracle {} => Ok(()),
            Self::Embedded(EmbeddedModel { file, .. }) if file.is_empty() => {
                Err("`file` is empty; name a GGUF file or a folder with safetensors".into())
            }
            Self::Embedded(EmbeddedModel { context: Some(0), .. }) => {
                Err("`context` is 0; leave it out or give the limit".into())
            }
            Self::Embedded(_) => Ok(()),
            Self::Openai(settings) if settings.tokens == TokenSource::Server => {
                Err("`tokens = \"server\"` is for a server that holds the policy itself; here answers are taken as text, \
                     so leave it out"
                    .into())
            }
            Self::Openai(settings) => settings.validate().map_err(|error| error.to_string()),
        }
    }

    /// A sampler that no world plays, and the format of the conversations it takes.
    pub(crate) fn open_elsewhere(
        &self,
        threads: usize,
        seed: Seed,
    ) -> Result<(ChatFormat, Box<dyn Sampler>), RunError> {
        match self {
            Self::Oracle {} => Err(RunError::Annotator("`oracle` plays in a world of tasks only".to_owned())),
            Self::Embedded(settings) => {
                let model = LanguageModel::open(&settings.file)?;
                let mut options = LoadOptions::default();
                options.context = settings.context.unwrap_or(options.context);
                let ready = Arc::new(model.packed(options, Held::AsStored)?);
                let settings = GeneratorSettings { threads, ..GeneratorSettings::default() };
                let generator = Generator::over(ready, Arc::clone(model.tokenizer()), settings)?;
                Ok((chat_format(&model)?, Box::new(generator)))
            }
            Self::Openai(settings) => {
                let chat = bytes()?;
                let sampler = OpenAiSampler::open(settings, &chat, seed)?;
                Ok((chat, Box::new(sampler)))
            }
        }
    }

    /// A sampler for the episodes of `plans`, and the format of the conversations it takes.
    pub(crate) fn open<'a>(
        &self,
        env: &'a dyn World,
        plans: &[EpisodePlan],
        threads: usize,
        seed: Seed,
    ) -> Result<(ChatFormat, Box<dyn Sampler + 'a>), RunError> {
        match self {
            Self::Oracle {} => {
                let chat = bytes()?;
                let sampler = OracleSampler::new(env, &chat, &OracleSettings::default(), plans)?;
                Ok((chat, Box::new(sampler)))
            }
            Self::Embedded(_) | Self::Openai(_) => self.open_elsewhere(threads, seed),
        }
    }

    /// Lifts limits on tokens that are meant for another vocabulary: what programs and servers say is kept as bytes. A server
    /// keeps the limit of a turn, which it counts in its own tokens.
    pub(crate) fn loosen(&self, settings: &mut RolloutSettings) {
        if !matches!(self, Self::Embedded(_)) {
            settings.max_episode_tokens = usize::MAX;
        }
        if self.is_oracle() {
            settings.max_turn_tokens = usize::MAX;
        }
    }
}

/// The format of conversations whose words are kept byte by byte.
pub(crate) fn bytes() -> Result<ChatFormat, RunError> {
    Ok(ChatFormat::new(Arc::new(Tokenizer::train(std::iter::empty(), 0)))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Roles, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn a_role_names_its_backend_and_nothing_that_is_not_of_it() {
        assert!(parse("").unwrap().teacher.is_oracle());
        let text =
            "teacher = { type = 'openai', endpoint = { base_url = 'http://127.0.0.1:1/v1', model = 'm' } }";
        let Backend::Openai(settings) = parse(text).unwrap().teacher else { panic!("not an endpoint") };
        assert_eq!(settings.endpoint.model, "m");
        let embedded = parse("teacher = { type = 'embedded', file = 'm.gguf' }").unwrap();
        assert_eq!(embedded.teacher.check(), Ok(()));
        for (text, named) in [
            ("teacher = { type = 'opanai' }", "opanai"),
            ("teacher = { type = 'oracle', file = 'm.gguf' }", "file"),
            ("teacher = { type = 'embedded', fiel = 'm.gguf' }", "fiel"),
            ("teacher = { file = 'm.gguf' }", "type"),
            ("taecher = { type = 'oracle' }", "taecher"),
        ] {
            assert!(parse(text).unwrap_err().contains(named), "{text}");
        }
    }

    #[test]
    fn the_words_of_a_server_are_taken_as_text() {
        let text = "teacher = { type = 'openai', tokens = 'server', endpoint = { base_url = 'http://127.0.0.1:1/v1', \
                    model = 'm', server = 'vllm' } }";
        assert!(parse(text).unwrap().teacher.check().unwrap_err().contains("`tokens = \"server\"`"));
    }
}
