//! The policy of a run: tokenizer, weights under training, and the weights that later stages come back to.

use crate::RunError;
use crate::parts::Parts;
use crate::recipe::Recipe;
use crate::stage::{Place, Stage};
use merit_core::{PolicyVersion, Role, Sample, TokenId};
use merit_learn::reference_logprobs;
use merit_model::{Tokenizer, Trainer, TrainerSettings, Weights, Workers};
use merit_reward::RewardState;
use merit_store::{DamagedCheckpoint, RunFolder};
use std::sync::Arc;

const WEIGHTS: &str = "weights.safetensors";
const OPTIMISER: &str = "optimiser.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const PLACE: &str = "place.json";
const WARM: &str = "warm.safetensors";
const TRAINED: &str = "trained.safetensors";
const REWARD: &str = "reward.json";
const TRAINED_REWARD: &str = "trained-reward.json";

/// Everything a checkpoint holds.
pub(crate) struct Policy {
    tokenizer: Arc<Tokenizer>,
    trainer: Trainer,
    threads: usize,
    /// After the warm start; every arm begins from it.
    warm: Option<Arc<Weights>>,
    /// After the recipe's own learning; controls do not touch it.
    trained: Option<Arc<Weights>>,
}

/// What the reward keeps between steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KeptRewards {
    /// Of the arm under way.
    pub(crate) present: RewardState,
    /// After the recipe's own learning; controls do not touch it.
    pub(crate) trained: RewardState,
}

impl KeptRewards {
    /// What goes with [`Policy::best`].
    pub(crate) fn best(&self) -> &RewardState {
        if self.trained.is_empty() { &self.present } else { &self.trained }
    }
}

/// A policy that came back from a checkpoint.
pub(crate) struct Restored {
    pub(crate) policy: Policy,
    /// What the reward keeps between steps.
    pub(crate) reward_state: KeptRewards,
    /// Where the run goes on.
    pub(crate) place: Place,
    /// Newer checkpoints that could not be loaded.
    pub(crate) damaged: Vec<DamagedCheckpoint>,
}

impl Restored {
    /// How many updates by reward the best weights of the checkpoint have seen.
    pub(crate) fn version(&self, recipe: &Recipe) -> PolicyVersion {
        let learning = Stage::all(recipe).get(self.place.stage) == Some(&Stage::Learn(None));
        PolicyVersion(match (&self.policy.trained, learning) {
            (Some(_), _) => recipe.budget.steps,
            (None, true) => self.place.step,
            (None, false) => 0,
        })
    }
}

fn settings(threads: usize) -> TrainerSettings {
    // Short episodes and small batches: shards of this size keep every lane busy.
    TrainerSettings { threads, shard_tokens: 256, ..TrainerSettings::default() }
}

impl Policy {
    /// A newborn policy.
    pub(crate) fn create(parts: &Parts, tokenizer: Tokenizer, threads: usize) -> Result<Self, RunError> {
        let config = parts.recipe.model.decoder(tokenizer.vocab_len());
        let weights = Weights::init(&config, parts.seed.child("weights", 0))?;
        let trainer = Trainer::new(weights, settings(threads))?;
        Ok(Self { tokenizer: Arc::new(tokenizer), trainer, threads, warm: None, trained: None })
    }

    /// The policy of the newest checkpoint and its place in the run; `None` when there is no checkpoint.
    pub(crate) fn restore(
        folder: &RunFolder,
        recipe: &Recipe,
        threads: usize,
    ) -> Result<Option<Restored>, RunError> {
        let Some(checkpoint) = folder.latest_checkpoint()? else { return Ok(None) };
        let file = |name: &str| {
            checkpoint.file(name).ok_or_else(|| RunError::Checkpoint { why: format!("`{name}` is missing") })
        };
        let bad = |what: &str, why: &dyn std::fmt::Display| RunError::Checkpoint {
            why: format!("`{what}`: {why}"),
        };
        let place: Place = serde_json::from_slice(file(PLACE)?).map_err(|e| bad(PLACE, &e))?;
        let text = String::from_utf8_lossy(file(TOKENIZER)?);
        let tokenizer = Tokenizer::from_json(&text).map_err(|e| bad(TOKENIZER, &e))?;
        let weights = Weights::from_safetensors(file(WEIGHTS)?).map_err(|e| bad(WEIGHTS, &e))?;
        if *weights.config() != recipe.model.decoder(tokenizer.vocab_len()) {
            return Err(bad(WEIGHTS, &"its shape is not that of the recipe's `[model]`"));
        }
        let mut trainer = Trainer::new(weights, settings(threads))?;
        trainer.load_optimiser(file(OPTIMISER)?).map_err(|e| bad(OPTIMISER, &e))?;
        let optional = |name: &str| -> Result<Option<Arc<Weights>>, RunError> {
            let loaded = checkpoint.file(name).map(Weights::from_safetensors).transpose();
            Ok(loaded.map_err(|e| bad(name, &e))?.map(Arc::new))
        };
        let (warm, trained) = (optional(WARM)?, optional(TRAINED)?);
        let policy = Self { tokenizer: Arc::new(tokenizer), trainer, threads, warm, trained };
        // Most rewards keep nothing, and then there is no file.
        let kept = |name: &str| -> Result<RewardState, RunError> {
            let state = checkpoint.file(name).map(serde_json::from_slice).transpose();
            Ok(state.map_err(|e| bad(name, &e))?.unwrap_or_default())
        };
        let reward_state = KeptRewards { present: kept(REWARD)?, trained: kept(TRAINED_REWARD)? };
        Ok(Some(Restored { policy, reward_state, place, damaged: checkpoint.damaged }))
    }

    /// Writes a checkpoint.
    pub(crate) fn save(&self, folder: &RunFolder, place: Place, kept: &KeptRewards) -> Result<(), RunError> {
        let mut files = vec![
            (PLACE, serde_json::to_vec(&place).expect("plain data becomes JSON")),
            (TOKENIZER, self.tokenizer.to_json().into_bytes()),
            (WEIGHTS, self.trainer.weights().to_safetensors()),
            (OPTIMISER, self.trainer.optimiser_to_safetensors()),
        ];
        let kept = [(REWARD, &kept.present), (TRAINED_REWARD, &kept.trained)];
        for (name, state) in kept.into_iter().filter(|(_, state)| !state.is_empty()) {
            files.push((name, serde_json::to_vec(state).expect("plain data becomes JSON")));
        }
        files.extend(self.warm.iter().map(|w| (WARM, w.to_safetensors())));
        files.extend(self.trained.iter().map(|w| (TRAINED, w.to_safetensors())));
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        Ok(folder.save_checkpoint(place.checkpoint, &files)?)
    }

    /// Leaves the trained policy beside the record, for whoever wants to use it.
    pub(crate) fn export(&self, folder: &RunFolder) -> Result<(), RunError> {
        let weights = self.best();
        folder.write_file("policy.safetensors", &weights.to_safetensors())?;
        folder.write_file("tokenizer.json", self.tokenizer.to_json().as_bytes())?;
        Ok(())
    }

    /// How each token reads; markers by their names.
    pub(crate) fn vocabulary(&self) -> Vec<(TokenId, String)> {
        let names = Role::ALL.map(Role::name).into_iter().chain(["end"]).map(|name| format!("<|{name}|>"));
        let markers = names.filter_map(|name| Some((self.tokenizer.special(&name)?, name)));
        let tokens = (0..self.tokenizer.vocab_len() as u32).map(TokenId);
        let texts = tokens.map(|token| (token, self.tokenizer.decode(&[token])));
        markers.chain(texts.filter(|(_, text)| !text.is_empty())).collect()
    }

    /// Log-probabilities of the samples under the warm-started policy.
    pub(crate) fn reference(&self, samples: &[Sample], temperature: f32) -> Result<Vec<Vec<f32>>, RunError> {
        let workers = Workers::new(self.threads)?;
        Ok(reference_logprobs(self.warm()?.as_ref(), samples, temperature, &workers)?)
    }

    pub(crate) fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    pub(crate) fn trainer(&mut self) -> &mut Trainer {
        &mut self.trainer
    }

    pub(crate) fn parameters(&self) -> usize {
        self.trainer.weights().config().parameters()
    }

    pub(crate) fn present(&self) -> Arc<Weights> {
        self.trainer.snapshot()
    }

    pub(crate) fn warm(&self) -> Result<Arc<Weights>, RunError> {
        self.warm
            .clone()
            .ok_or_else(|| RunError::Checkpoint { why: "the warm-started weights are missing".into() })
    }

    /// The trained weights, or the present ones while learning goes on.
    pub(crate) fn best(&self) -> Arc<Weights> {
        self.trained.clone().unwrap_or_else(|| self.trainer.snapshot())
    }

    pub(crate) fn keep_warm(&mut self) {
        self.warm = Some(self.trainer.snapshot());
    }

    pub(crate) fn keep_trained(&mut self) {
        self.trained = Some(self.trainer.snapshot());
    }

    /// Begins anew from the warm start, with a fresh optimiser.
    pub(crate) fn restart(&mut self) -> Result<(), RunError> {
        self.trainer = Trainer::new(self.warm()?, settings(self.threads))?;
        Ok(())
    }
}
