//! What a checkpoint holds, written and read again.

use super::kept::{Kept, settings};
use super::named::{self, Models};
use super::{After, Policy};
use crate::RunError;
use crate::bank::Experience;
use crate::evolve::Judges;
use crate::judges::{Moment, OwnJudges};
use crate::model::ModelConfig;
use crate::origin::Origin;
use crate::parts::Parts;
use crate::recipe::Recipe;
use crate::stage::{Place, Stage};
use crate::tasks::TaskState;
use crate::until::Spent;
use merit_core::{Phase, PolicyVersion};
use merit_memory::Snapshot;
use merit_model::{PackedWeights, Tokenizer};
use merit_reward::RewardState;
use merit_rollout::ChatFormat;
use merit_store::{Content, DamagedCheckpoint, RunFolder};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
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
/// Updates of each model beside the policy.
const MODELS: &str = "models.json";
/// The policy after a stage: between these stands its phase, with a `.` for the `:`.
const AFTER: [&str; 2] = ["after.", ".safetensors"];
const STAGE_REWARDS: &str = "stage-rewards.json";
const LEARNED: &str = "learned.json";

/// What a learning keeps between steps, besides the policy and what its reward keeps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Learned {
    /// Updates of this round.
    pub(crate) steps: u64,
    /// What they have cost.
    pub(crate) spent: Spent,
    /// What is known of its tasks.
    #[serde(default)]
    pub(crate) tasks: TaskState,
    /// The turns that its bank keeps.
    #[serde(default, skip_serializing_if = "Experience::is_empty")]
    pub(crate) bank: Experience,
    /// The items of a memory that is made in the run.
    #[serde(default, skip_serializing_if = "Snapshot::is_empty")]
    pub(crate) memory: Snapshot,
}

/// What the reward keeps between steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct KeptRewards {
    /// Of the arm under way.
    pub(crate) present: RewardState,
    /// After the recipe's own learning; controls do not touch it.
    pub(crate) trained: RewardState,
    /// After the learning of each stage, by its phase; where a recipe has stages.
    pub(crate) stages: BTreeMap<String, RewardState>,
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
    /// Models beside the policy that were fitted.
    pub(crate) models: Models,
    /// What the reward keeps between steps.
    pub(crate) reward_state: KeptRewards,
    /// What each learning keeps, by its phase.
    pub(crate) learned: BTreeMap<String, Learned>,
    /// Where the run goes on.
    pub(crate) place: Place,
    /// Newer checkpoints that could not be loaded.
    pub(crate) damaged: Vec<DamagedCheckpoint>,
}

impl Restored {
    /// The judges that the stages before its place have evolved.
    pub(crate) fn judges(&self, folder: &RunFolder, recipe: &Recipe) -> Result<Judges, RunError> {
        let stages = Stage::all(&Arc::new(recipe.clone()), &self.place.rounds)?;
        crate::evolve::judges(folder.path(), recipe, &stages, &self.place)
    }

    /// The judges for whom the best policy of the checkpoint answers, or a model of it.
    pub(crate) fn lent(&self, recipe: &Recipe, parts: &Parts, threads: usize) -> Result<OwnJudges, RunError> {
        let own = OwnJudges::of(recipe, &parts.seed, &BTreeMap::new())?;
        if parts.asks(&own) {
            let policy = &self.policy;
            let weights = Arc::new(PackedWeights::for_sampling(policy.best(), policy.precision()));
            let version = self.version(recipe).0.to_string();
            own.lend(&Moment { policy, weights, models: &self.models, threads, version })?;
        }
        Ok(own)
    }

    /// How many updates by reward the best weights of the checkpoint have seen.
    pub(crate) fn version(&self, recipe: &Recipe) -> PolicyVersion {
        let stages = Stage::all(&Arc::new(recipe.clone()), &self.place.rounds).unwrap_or_default();
        let learning = stages.get(self.place.stage).is_some_and(Stage::makes_versions);
        PolicyVersion(match (&self.policy.trained, learning) {
            (Some(_), _) => {
                let train = self.learned.get(&Phase::train().to_string());
                train.map_or(recipe.budget.steps, |learned| learned.steps)
            }
            (None, true) => self.place.version + self.place.step,
            (None, false) => self.place.version,
        })
    }
}

impl Policy {
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
        let settings = settings(&recipe.model, origin.as_ref(), threads);
        let mut trainer = kept.trainer(origin.as_ref(), &settings)?;
        trainer.load_optimiser(file(OPTIMISER)?).map_err(|e| bad(OPTIMISER, &e))?;
        let optional = |name: &str| checkpoint.file(name).map(|bytes| read(name, bytes)).transpose();
        let (warm, trained) = (optional(WARM)?, optional(TRAINED)?);
        let mut after = BTreeMap::new();
        for (name, bytes) in &checkpoint.files {
            let phase = name.strip_prefix(AFTER[0]).and_then(|name| name.strip_suffix(AFTER[1]));
            if let Some(phase) = phase {
                after.insert(phase.replace('.', ":"), After::from(read(name, bytes)?));
            }
        }
        let policy = Self {
            chat,
            trainer,
            origin,
            settings,
            warm,
            trained,
            after,
            saved: Default::default(),
            reference: None,
        };
        // Most rewards keep nothing, and then there is no file.
        let kept = |name: &str| -> Result<RewardState, RunError> {
            let state = checkpoint.file(name).map(serde_json::from_slice).transpose();
            Ok(state.map_err(|e| bad(name, &e))?.unwrap_or_default())
        };
        let stages = checkpoint.file(STAGE_REWARDS).map(serde_json::from_slice).transpose();
        let stages = stages.map_err(|e| bad(STAGE_REWARDS, &e))?.unwrap_or_default();
        let reward_state = KeptRewards { present: kept(REWARD)?, trained: kept(TRAINED_REWARD)?, stages };
        let learned = checkpoint.file(LEARNED).map(serde_json::from_slice).transpose();
        let learned = learned.map_err(|e| bad(LEARNED, &e))?.unwrap_or_default();
        let updates = checkpoint.file(MODELS).map(serde_json::from_slice).transpose();
        let updates = updates.map_err(|e| bad(MODELS, &e))?.unwrap_or_default();
        let models = named::restore(&policy, &checkpoint, &updates, recipe)?;
        Ok(Some(Restored { policy, models, reward_state, learned, place, damaged: checkpoint.damaged }))
    }

    pub(crate) fn save(
        &self,
        folder: &RunFolder,
        place: &Place,
        kept: &KeptRewards,
        learned: &BTreeMap<String, Learned>,
        models: &Models,
    ) -> Result<(), RunError> {
        let mut files = vec![(PLACE, serde_json::to_vec(place).expect("plain data becomes JSON"))];
        files.push(match &self.origin {
            Some(origin) => (ORIGIN, origin.fingerprint.clone().into_bytes()),
            None => (TOKENIZER, self.tokenizer().to_json().into_bytes()),
        });
        files.push((WEIGHTS, self.kept().to_safetensors()));
        files.push((OPTIMISER, self.trainer.optimiser_to_safetensors()));
        if !learned.is_empty() {
            files.push((LEARNED, serde_json::to_vec(learned).expect("plain data becomes JSON")));
        }
        if !kept.stages.is_empty() {
            files.push((STAGE_REWARDS, serde_json::to_vec(&kept.stages).expect("plain data becomes JSON")));
        }
        let kept = [(REWARD, &kept.present), (TRAINED_REWARD, &kept.trained)];
        for (name, state) in kept.into_iter().filter(|(_, state)| !state.is_empty()) {
            files.push((name, serde_json::to_vec(state).expect("plain data becomes JSON")));
        }
        let beside = Beside::of(self, models);
        let mut files: Vec<(&str, Content<'_>)> =
            files.iter().map(|(name, bytes)| (*name, Content::Bytes(bytes))).collect();
        // These do not change any more: they are made, hashed and written once.
        let make_warm = || self.warm.as_ref().map_or_else(Vec::new, Kept::to_safetensors);
        let make_trained = || self.trained.as_ref().map_or_else(Vec::new, Kept::to_safetensors);
        let hash = |make: &dyn Fn() -> Vec<u8>| merit_core::hex(&Sha256::digest(make()));
        if self.warm.is_some() {
            let sha256 = self.saved[0].get_or_init(|| hash(&make_warm));
            files.push((WARM, Content::Kept { sha256, make: &make_warm }));
        }
        if self.trained.is_some() {
            let sha256 = self.saved[1].get_or_init(|| hash(&make_trained));
            files.push((TRAINED, Content::Kept { sha256, make: &make_trained }));
        }
        files.extend(beside.bytes.iter().map(|(name, bytes)| (name.as_str(), Content::Bytes(bytes))));
        let kept = beside.kept.iter();
        files.extend(kept.map(|(name, sha256, make)| (name.as_str(), Content::Kept { sha256, make })));
        Ok(folder.save_checkpoint_with(place.checkpoint, &files)?)
    }
}

type Make<'a> = Box<dyn Fn() -> Vec<u8> + 'a>;

/// What is saved beside the policy: models, and the policy after the stages that later ones come back to.
struct Beside<'a> {
    bytes: Vec<(String, Vec<u8>)>,
    /// What seldom changes: names, hashes, and how the bytes are made.
    kept: Vec<(String, String, Make<'a>)>,
}

impl<'a> Beside<'a> {
    fn of(policy: &'a Policy, models: &'a Models) -> Self {
        let (mut bytes, mut kept): (Vec<_>, Vec<(String, String, Make<'a>)>) = (Vec::new(), Vec::new());
        for (phase, After { kept: weights, saved }) in &policy.after {
            let hash = saved.get_or_init(|| merit_core::hex(&Sha256::digest(weights.to_safetensors())));
            let name = format!("{}{}{}", AFTER[0], phase.replace(':', "."), AFTER[1]);
            kept.push((name, hash.clone(), Box::new(|| weights.to_safetensors())));
        }
        let mut updates = BTreeMap::new();
        for (name, model) in models {
            let held = model.lock();
            let (weights, optimiser) = held.files(name);
            updates.insert(name, held.updates);
            bytes.extend(held.optimiser().map(|moments| (optimiser, moments)));
            kept.push((weights, held.hash(), Box::new(|| model.lock().to_bytes())));
        }
        if !updates.is_empty() {
            bytes.push((MODELS.to_owned(), serde_json::to_vec(&updates).expect("plain data becomes JSON")));
        }
        Self { bytes, kept }
    }
}
