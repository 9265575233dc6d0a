//! Episodes that other processes play: what is sent to them, and the worker that plays it there.
//!
//! In: a setup (the world, and how the policy reads and writes), weights, plans. Out: episodes. All that an episode depends on is in
//! these, so it does not show in the record who played it. What needs no policy (demonstrations, guests) stays with the driver, and
//! so do annotators, reward, credit and learning.

use crate::RunError;
use crate::model::ModelConfig;
use crate::origin::Origin;
use crate::policy::Kept;
use crate::recipe::Recipe;
use merit_api::{World, WorldSettings};
use merit_core::{Chosen, Components, Episode, settings};
use merit_model::{Generator, GeneratorSettings, PackedWeights, Precision, Tokenizer};
use merit_rollout::{ChatFormat, EpisodePlan, RolloutSettings, Start, ToolRuntime, roll_out};
use merit_tools::Toolbox;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, OnceLock};

/// Refuses to play elsewhere what one process has to keep.
pub(crate) fn check(recipe: &Recipe, toolbox: &Toolbox) -> Result<(), RunError> {
    let refused = |why: &str| Err(RunError::Elsewhere(why.into()));
    if !matches!(toolbox, Toolbox::Live) {
        return refused("a tape of tool calls is kept by one process; leave it out");
    }
    if !recipe.roles.user.is_oracle() {
        return refused("the person of `roles.user` speaks in one process; leave the model out, or run here");
    }
    Ok(())
}

/// What plays the policy's episodes in the driver's place. Asked by the driver whenever the policy is to play, never twice at
/// once. What comes back must be what a [`Worker`] makes of the same work.
pub trait Players: Send + Sync {
    /// An episode for each plan, in their order.
    fn play(&self, work: &Work<'_>) -> Result<Vec<Arc<Episode>>, String>;
}

/// What is to be played.
pub struct Work<'a> {
    /// What a worker is made from.
    pub setup: &'a Setup,
    pub policy: &'a SentPolicy,
    pub settings: &'a RolloutSettings,
    pub plans: &'a [EpisodePlan],
}

/// What a worker is made from.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The tokenizer as JSON, where the model was made on the spot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokenizer: Option<String>,
    /// Hash of the model's files, where it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    pub(crate) model: ModelConfig,
    pub(crate) world: Chosen<dyn WorldSettings>,
}

impl Setup {
    /// As text, for [`Worker::new`].
    pub fn to_toml(&self) -> String {
        settings::to_toml(self).expect("settings are plain data")
    }
}

/// The policy at one moment, as it is sent.
pub struct SentPolicy {
    kept: Kept,
    made: OnceLock<(String, Vec<u8>)>,
}

impl SentPolicy {
    pub(crate) fn new(kept: Kept) -> Self {
        Self { kept, made: OnceLock::new() }
    }

    fn made(&self) -> &(String, Vec<u8>) {
        self.made.get_or_init(|| {
            let bytes = self.kept.to_safetensors();
            (merit_core::hex(&Sha256::digest(&bytes)), bytes)
        })
    }

    /// The hash of its bytes: equal weights have one name.
    pub fn name(&self) -> &str {
        &self.made().0
    }

    /// Its weights, or the adapter where only that is trained, as safetensors: for [`Worker::set_policy`].
    pub fn bytes(&self) -> &[u8] {
        &self.made().1
    }
}

/// Plays the driver's plans in another process.
pub struct Worker {
    world: Box<dyn World>,
    chat: ChatFormat,
    /// The model's files; absent for a decoder made on the spot.
    origin: Option<Origin>,
    precision: Precision,
    threads: usize,
    tools: ToolRuntime,
    /// Absent until the first weights come.
    generator: Option<Generator>,
}

impl Worker {
    /// Opens the world of `setup`, a text of [`Setup::to_toml`], with the worlds and tools of `components`.
    pub fn new(setup: &str, components: &Components, threads: usize) -> Result<Self, RunError> {
        let setup: Setup = components.reading(|| settings::from_toml(setup)).map_err(odd)?;
        let (chat, origin) = match (&setup.model, &setup.tokenizer) {
            (ModelConfig::File(model), _) => {
                let origin = Origin::open(model)?;
                if setup.fingerprint.as_ref() != Some(&origin.fingerprint) {
                    return Err(RunError::OtherModel { file: model.file.clone() });
                }
                (origin.chat()?, Some(origin))
            }
            (ModelConfig::Fresh(_), Some(tokenizer)) => {
                let tokenizer = Tokenizer::from_json(tokenizer).map_err(odd)?;
                (ChatFormat::new(Arc::new(tokenizer))?, None)
            }
            (ModelConfig::Fresh(_), None) => return Err(odd("the setup has no tokenizer")),
        };
        let (world, precision) = (setup.world.build(&Toolbox::Live)?, setup.model.precision());
        Ok(Self { world, chat, origin, precision, threads, tools: ToolRuntime::new()?, generator: None })
    }

    /// Plays with these weights from now on; see [`SentPolicy::bytes`].
    pub fn set_policy(&mut self, bytes: &[u8]) -> Result<(), RunError> {
        let kept = Kept::from_safetensors(bytes, self.origin.as_ref())?;
        let weights = kept.weights(self.origin.as_ref(), self.threads)?;
        let packed = Arc::new(PackedWeights::for_sampling(weights, self.precision));
        match &mut self.generator {
            Some(generator) => generator.set_packed(packed)?,
            None => {
                let settings = GeneratorSettings { threads: self.threads, ..GeneratorSettings::default() };
                let tokenizer = Arc::clone(self.chat.tokenizer());
                self.generator = Some(Generator::over(packed, tokenizer, settings)?);
            }
        }
        Ok(())
    }

    /// An episode for each plan, in their order.
    pub fn play(
        &mut self,
        plans: Vec<EpisodePlan>,
        settings: &RolloutSettings,
    ) -> Result<Vec<Arc<Episode>>, RunError> {
        settings.validate().map_err(odd)?;
        let fits = |plan: &&EpisodePlan| matches!(&plan.start, Start::Fork { of, turn } if *turn as usize > of.turns.len());
        if let Some(plan) = plans.iter().find(fits) {
            return Err(odd(format!("{} forks an episode at a turn that it does not have", plan.id)));
        }
        let generator = self.generator.as_mut().ok_or_else(|| odd("the weights have not come yet"))?;
        let world = self.world.as_ref();
        Ok(roll_out(plans, world, generator, &self.chat, settings, &self.tools, &mut |_| {}))
    }
}

fn odd(why: impl std::fmt::Display) -> RunError {
    RunError::Elsewhere(why.to_string())
}
