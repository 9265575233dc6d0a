//! The policy of a run: tokenizer, weights under training, and the weights that later stages come back to.

use crate::RunError;
use crate::lessons::Lessons;
use crate::model::{ModelConfig, Trained};
use crate::origin::Origin;
use crate::parts::Parts;
use crate::progress::Event;
use crate::recipe::Recipe;
use crate::stage::{Place, Stage};
use merit_core::{PolicyVersion, Sample, TokenId};
use merit_learn::reference_logprobs;
use merit_model::{
    Adapter, ModelError, Precision, ReadyWeights, Tokenizer, Trainer, TrainerSettings, Weights, Workers,
};
use merit_reward::RewardState;
use merit_rollout::{ChatFormat, ToolRuntime};
use merit_store::{DamagedCheckpoint, RunFolder};
use std::sync::Arc;

const WEIGHTS: &str = "weights.safetensors";
const OPTIMISER: &str = "optimiser.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const ORIGIN: &str = "origin.sha256";
const PLACE: &str = "place.json";
const WARM: &str = "warm.safetensors";
const TRAINED: &str = "trained.safetensors";
const REWARD: &str = "reward.json";
const TRAINED_REWARD: &str = "trained-reward.json";

/// Everything a checkpoint holds.
pub(crate) struct Policy {
    chat: ChatFormat,
    trainer: Trainer,
    /// The model's files; absent for a decoder made on the spot.
    origin: Option<Origin>,
    threads: usize,
    /// After the warm start; every arm begins from it.
    warm: Option<Kept>,
    /// After the recipe's own learning; controls do not touch it.
    trained: Option<Kept>,
}

/// A policy that is kept: all its weights, or what was trained on top of its origin.
#[derive(Clone)]
enum Kept {
    Weights(Arc<Weights>),
    Adapter(Box<Adapter>),
}

impl Kept {
    fn to_safetensors(&self) -> Vec<u8> {
        match self {
            Self::Weights(weights) => weights.to_safetensors(),
            Self::Adapter(adapter) => adapter.to_safetensors(),
        }
    }

    /// Reads what was kept of a policy with this origin.
    fn from_safetensors(bytes: &[u8], origin: Option<&Origin>) -> Result<Self, ModelError> {
        match origin {
            Some(origin) if matches!(origin.settings().train, Trained::Lora(_)) => {
                let adapter = Adapter::from_safetensors(bytes, origin.base().config())?;
                Ok(Self::Adapter(Box::new(adapter)))
            }
            _ => Ok(Self::Weights(Arc::new(Weights::from_safetensors(bytes)?))),
        }
    }

    fn trainer(self, origin: Option<&Origin>, threads: usize) -> Result<Trainer, RunError> {
        let settings = origin.map_or_else(|| settings(threads), |origin| origin.trainer_settings(threads));
        Ok(match (self, origin) {
            (Self::Weights(weights), _) => Trainer::new(weights, settings)?,
            (Self::Adapter(adapter), Some(origin)) => {
                Trainer::with_adapter(Arc::clone(origin.base()), *adapter, settings)?
            }
            (Self::Adapter(_), None) => {
                return Err(RunError::Checkpoint {
                    why: "an adapter without the model it belongs to".into(),
                });
            }
        })
    }
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
    /// A newborn policy: of random weights, or of a model's files.
    pub(crate) fn create(
        parts: &Parts,
        lessons: Option<&Lessons>,
        tools: &ToolRuntime,
        threads: usize,
        watch: &mut dyn FnMut(Event),
    ) -> Result<Self, RunError> {
        let seed = parts.seed.child("weights", 0);
        let (chat, kept, origin) = match &parts.recipe.model {
            ModelConfig::Fresh(model) => {
                let tokenizer = Arc::new(crate::warm::tokenizer(parts, model, lessons, tools, watch)?);
                let weights = Weights::init(&model.decoder(tokenizer.vocab_len()), seed)?;
                (ChatFormat::new(tokenizer)?, Kept::Weights(Arc::new(weights)), None)
            }
            ModelConfig::File(model) => {
                let origin = Origin::open(model)?;
                let kept = match origin.adapter(seed)? {
                    Some(adapter) => Kept::Adapter(Box::new(adapter)),
                    None => Kept::Weights(Arc::clone(origin.base())),
                };
                (origin.chat()?, kept, Some(origin))
            }
        };
        let trainer = kept.trainer(origin.as_ref(), threads)?;
        Ok(Self { chat, trainer, origin, threads, warm: None, trained: None })
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
        let (chat, origin) = match &recipe.model {
            ModelConfig::Fresh(_) => {
                let text = String::from_utf8_lossy(file(TOKENIZER)?);
                let tokenizer = Tokenizer::from_json(&text).map_err(|e| bad(TOKENIZER, &e))?;
                (ChatFormat::new(Arc::new(tokenizer))?, None)
            }
            ModelConfig::File(model) => {
                let origin = Origin::open(model)?;
                let before = String::from_utf8_lossy(file(ORIGIN)?);
                if before != origin.fingerprint {
                    return Err(RunError::OtherModel { file: model.file.clone() });
                }
                (origin.chat()?, Some(origin))
            }
        };
        let read = |name: &str, bytes: &[u8]| {
            Kept::from_safetensors(bytes, origin.as_ref()).map_err(|e| bad(name, &e))
        };
        let kept = read(WEIGHTS, file(WEIGHTS)?)?;
        if let (Kept::Weights(weights), ModelConfig::Fresh(model)) = (&kept, &recipe.model)
            && *weights.config() != model.decoder(chat.tokenizer().vocab_len())
        {
            return Err(bad(WEIGHTS, &"its shape is not that of the recipe's `[model]`"));
        }
        let mut trainer = kept.trainer(origin.as_ref(), threads)?;
        trainer.load_optimiser(file(OPTIMISER)?).map_err(|e| bad(OPTIMISER, &e))?;
        let optional = |name: &str| checkpoint.file(name).map(|bytes| read(name, bytes)).transpose();
        let (warm, trained) = (optional(WARM)?, optional(TRAINED)?);
        let policy = Self { chat, trainer, origin, threads, warm, trained };
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
        let mut files = vec![(PLACE, serde_json::to_vec(&place).expect("plain data becomes JSON"))];
        files.push(match &self.origin {
            Some(origin) => (ORIGIN, origin.fingerprint.clone().into_bytes()),
            None => (TOKENIZER, self.tokenizer().to_json().into_bytes()),
        });
        files.push((WEIGHTS, self.kept().to_safetensors()));
        files.push((OPTIMISER, self.trainer.optimiser_to_safetensors()));
        let kept = [(REWARD, &kept.present), (TRAINED_REWARD, &kept.trained)];
        for (name, state) in kept.into_iter().filter(|(_, state)| !state.is_empty()) {
            files.push((name, serde_json::to_vec(state).expect("plain data becomes JSON")));
        }
        files.extend(self.warm.iter().map(|kept| (WARM, kept.to_safetensors())));
        files.extend(self.trained.iter().map(|kept| (TRAINED, kept.to_safetensors())));
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        Ok(folder.save_checkpoint(place.checkpoint, &files)?)
    }

    /// Leaves the trained policy beside the record, for whoever wants to use it: one file for a decoder made on the spot, a
    /// folder that other programs load for a model from files, and its adapter alone where one was trained.
    pub(crate) fn export(&self, folder: &RunFolder) -> Result<(), RunError> {
        let weights = self.best();
        let Some(origin) = &self.origin else {
            folder.write_file("policy.safetensors", &weights.to_safetensors())?;
            folder.write_file("tokenizer.json", self.tokenizer().to_json().as_bytes())?;
            return Ok(());
        };
        origin.export(&weights, &folder.path().join("policy"))?;
        if let Some(head) = weights.value_head_to_safetensors() {
            folder.write_file(merit_model::VALUE_HEAD_FILE, &head)?;
        }
        if let Kept::Adapter(adapter) = self.trained.clone().unwrap_or_else(|| self.kept()) {
            let base = Some(origin.settings().file.clone());
            adapter.to_peft(base).save(folder.path().join("adapter"))?;
        }
        Ok(())
    }

    /// How each token reads; markers by their names.
    pub(crate) fn vocabulary(&self) -> Vec<(TokenId, String)> {
        let tokenizer = self.tokenizer();
        let tokens = (0..tokenizer.vocab_len() as u32).map(TokenId);
        let named = |token: TokenId| match tokenizer.special_name(token) {
            Some(name) => (token, name.to_owned()),
            None => (token, tokenizer.decode(&[token])),
        };
        tokens.map(named).filter(|(_, text)| !text.is_empty()).collect()
    }

    /// Log-probabilities of the samples under the warm-started policy.
    pub(crate) fn reference(&self, samples: &[Sample], temperature: f32) -> Result<Vec<Vec<f32>>, RunError> {
        let workers = Workers::new(self.threads).map_err(ModelError::from)?;
        let ready = ReadyWeights::for_sampling(self.warm()?, self.precision());
        Ok(reference_logprobs(&ready, samples, temperature, &workers)?)
    }

    pub(crate) fn tokenizer(&self) -> &Arc<Tokenizer> {
        self.chat.tokenizer()
    }

    /// How conversations are laid out in its tokens.
    pub(crate) fn chat(&self) -> &ChatFormat {
        &self.chat
    }

    /// What its products round to, when it is trained and when it is sampled.
    pub(crate) fn precision(&self) -> Precision {
        self.origin.as_ref().map_or(Precision::F32, |origin| origin.settings().precision)
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
        Ok(self.weights_of(&self.kept_warm()?))
    }

    /// The trained weights, or the present ones while learning goes on.
    pub(crate) fn best(&self) -> Arc<Weights> {
        self.trained.as_ref().map_or_else(|| self.trainer.snapshot(), |kept| self.weights_of(kept))
    }

    pub(crate) fn keep_warm(&mut self) {
        self.warm = Some(self.kept());
    }

    pub(crate) fn keep_trained(&mut self) {
        self.trained = Some(self.kept());
    }

    /// Begins anew from the warm start, with a fresh optimiser.
    pub(crate) fn restart(&mut self) -> Result<(), RunError> {
        self.trainer = self.kept_warm()?.trainer(self.origin.as_ref(), self.threads)?;
        Ok(())
    }

    /// What is under training now.
    fn kept(&self) -> Kept {
        match self.trainer.adapter() {
            Some(adapter) => Kept::Adapter(Box::new(adapter.clone())),
            None => Kept::Weights(self.trainer.snapshot()),
        }
    }

    fn kept_warm(&self) -> Result<Kept, RunError> {
        self.warm
            .clone()
            .ok_or_else(|| RunError::Checkpoint { why: "the warm-started weights are missing".into() })
    }

    fn weights_of(&self, kept: &Kept) -> Arc<Weights> {
        match (kept, &self.origin) {
            (Kept::Weights(weights), _) => Arc::clone(weights),
            (Kept::Adapter(adapter), Some(origin)) => {
                let workers = Workers::new(self.threads).unwrap_or_else(|_| Workers::single());
                let merged = adapter.merge(origin.base(), &workers);
                Arc::new(merged.expect("the shapes were compared when the adapter was made"))
            }
            (Kept::Adapter(_), None) => unreachable!("adapters are made of an origin"),
        }
    }
}
