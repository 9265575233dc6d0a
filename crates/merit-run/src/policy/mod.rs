//! The policy of a run: tokenizer, weights under training, and the weights that later stages come back to.

mod bag;
mod checkpoint;
mod kept;
mod named;
mod words;

pub(crate) use checkpoint::{KeptRewards, Learned};
pub(crate) use kept::Kept;
pub(crate) use named::{Judge, Models, Named, SharedModel, last_of, tail};

use crate::RunError;
use crate::elsewhere::{SentPolicy, Setup};
use crate::lessons::Lessons;
use crate::model::ModelConfig;
use crate::origin::Origin;
use crate::parts::Parts;
use crate::progress::Event;
use crate::recipe::Recipe;
use merit_core::TokenId;
use merit_model::{
    FrozenPolicy, ModelError, PackedWeights, Precision, Tokenizer, Trainer, TrainerSettings, Weights, Workers,
};
use merit_rollout::{ChatFormat, ToolRuntime};
use merit_store::RunFolder;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// What a run trains; a checkpoint holds all of it.
pub(crate) struct Policy {
    chat: ChatFormat,
    trainer: Trainer,
    /// The model's files; absent for a decoder made on the spot.
    origin: Option<Origin>,
    /// How it is trained; samplers have as many threads and round alike.
    settings: TrainerSettings,
    /// After the warm start, from which every arm begins; in a recipe of stages, where the present one began.
    warm: Option<Kept>,
    /// After the recipe's own learning; controls do not touch it.
    trained: Option<Kept>,
    /// After the stages that later ones come back to, by their phase.
    after: BTreeMap<String, After>,
    /// Hashes of the two as they are saved, known after their first checkpoint.
    saved: [OnceLock<String>; 2],
    /// That policy as objectives refer to it; packed at its first use.
    reference: Option<Arc<FrozenPolicy>>,
}

/// The policy after a stage.
struct After {
    kept: Kept,
    /// Its hash, known once it was saved.
    saved: OnceLock<String>,
}

impl From<Kept> for After {
    fn from(kept: Kept) -> Self {
        Self { kept, saved: OnceLock::new() }
    }
}

impl Policy {
    /// A newborn policy: of random weights, or of a model's files. A tokenizer that is known already, as JSON, is not trained again.
    pub(crate) fn create(
        parts: &Parts,
        lessons: Option<&Lessons>,
        tokenizer: Option<&str>,
        tools: &ToolRuntime,
        threads: usize,
        watch: &mut dyn FnMut(Event),
    ) -> Result<Self, RunError> {
        let seed = parts.seed.child("weights", 0);
        let (chat, kept, origin) = match &parts.recipe.model {
            ModelConfig::Fresh(model) => {
                let (tokenizer, weights) = match model.begun()? {
                    Some((tokenizer, weights)) => (Arc::new(tokenizer), weights),
                    None => {
                        let known = tokenizer.and_then(|json| Tokenizer::from_json(json).ok());
                        let tokenizer = match known {
                            Some(known) => Arc::new(known),
                            None => Arc::new(crate::warm::tokenizer(parts, model, lessons, tools, watch)?),
                        };
                        let mut weights = Weights::init(&model.decoder(tokenizer.vocab_len()), seed)?;
                        weights.begin_as_means(&words::means(&parts.env.words(), &tokenizer))?;
                        (tokenizer, weights)
                    }
                };
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
        words::check(parts.env.as_ref(), chat.tokenizer())?;
        let settings = kept::settings(&parts.recipe.model, origin.as_ref(), threads);
        let trainer = kept.trainer(origin.as_ref(), &settings)?;
        Ok(Self {
            chat,
            trainer,
            origin,
            settings,
            warm: None,
            trained: None,
            after: BTreeMap::new(),
            saved: Default::default(),
            reference: None,
        })
    }

    /// Leaves the trained policy beside the record, for use elsewhere: one file for a decoder made on the spot, a
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

    /// The policy at the beginning, which does not change while learning goes on.
    pub(crate) fn reference(&mut self) -> Result<Arc<FrozenPolicy>, RunError> {
        if let Some(reference) = &self.reference {
            return Ok(Arc::clone(reference));
        }
        let workers = Workers::new(self.settings.threads).map_err(ModelError::from)?;
        let packed = Arc::new(PackedWeights::for_sampling(self.warm()?, self.precision()));
        Ok(Arc::clone(self.reference.insert(Arc::new(FrozenPolicy::new(packed, workers)))))
    }

    /// Lets the policy of the beginning go; it is made again when it is asked for.
    pub(crate) fn forget_reference(&mut self) {
        self.reference = None;
    }

    /// The present policy as a sampler reads it. With an adapter these are the trainer's own packed weights; nothing is merged
    /// or packed anew.
    pub(crate) fn packed(&mut self) -> Arc<PackedWeights> {
        match self.trainer.adapter() {
            Some(_) => self.trainer.policy(),
            None => Arc::new(PackedWeights::for_sampling(self.trainer.snapshot(), self.precision())),
        }
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
        self.settings.precision
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
        self.saved[0] = OnceLock::new();
        self.reference = None;
    }

    pub(crate) fn keep_trained(&mut self) {
        self.trained = Some(self.kept());
        self.saved[1] = OnceLock::new();
    }

    /// Goes on from where it stands, which stages that come back and objectives that refer to a policy take as the beginning; with a
    /// fresh optimiser.
    pub(crate) fn begin_here(&mut self) -> Result<(), RunError> {
        self.keep_warm();
        self.restart()
    }

    /// Begins anew from the warm start, with a fresh optimiser.
    pub(crate) fn restart(&mut self) -> Result<(), RunError> {
        self.trainer = self.kept_warm()?.trainer(self.origin.as_ref(), &self.settings)?;
        Ok(())
    }

    /// Keeps the present policy for stages that come back to it.
    pub(crate) fn keep_after(&mut self, phase: &str) {
        self.after.insert(phase.to_owned(), self.kept().into());
    }

    /// Goes back to where it stood after a stage.
    pub(crate) fn go_back(&mut self, phase: &str) -> Result<(), RunError> {
        self.trainer = self.kept_after(phase)?.clone().trainer(self.origin.as_ref(), &self.settings)?;
        Ok(())
    }

    /// Its weights as they stood after a stage.
    pub(crate) fn after(&self, phase: &str) -> Result<Arc<Weights>, RunError> {
        Ok(self.weights_of(self.kept_after(phase)?))
    }

    fn kept_after(&self, phase: &str) -> Result<&Kept, RunError> {
        let known = self.after.get(phase).map(|after| &after.kept);
        known.ok_or_else(|| RunError::Checkpoint { why: format!("the weights after `{phase}` are missing") })
    }

    /// Goes on with other weights of the same shape, and a fresh optimiser.
    pub(crate) fn become_weights(&mut self, weights: Weights) -> Result<(), RunError> {
        self.trainer = Trainer::new(weights, self.settings.clone())?;
        self.begin_here()
    }

    /// What a shared warm start keeps of the present policy: its tokenizer, where it is its own, and its weights.
    pub(crate) fn to_start(&self) -> (Option<String>, Vec<u8>) {
        let tokenizer = self.origin.is_none().then(|| self.tokenizer().to_json());
        (tokenizer, self.kept().to_safetensors())
    }

    /// Takes over the weights of a shared warm start; `false`, and nothing has changed, where they do not fit.
    pub(crate) fn take_start(&mut self, start: &crate::starts::KeptStart) -> Result<bool, RunError> {
        let own = self.origin.is_none().then(|| self.tokenizer().to_json());
        let read = Kept::from_safetensors(&start.weights, self.origin.as_ref());
        let Some(kept) = read.ok().filter(|_| own == start.tokenizer) else { return Ok(false) };
        self.trainer = kept.trainer(self.origin.as_ref(), &self.settings)?;
        Ok(true)
    }

    /// The present policy as other processes get it.
    pub(crate) fn sent(&self) -> SentPolicy {
        SentPolicy::new(self.kept())
    }

    /// What other processes are told of it, to play in the world of `recipe`.
    pub(crate) fn setup(&self, recipe: &Recipe) -> Setup {
        Setup {
            tokenizer: self.origin.is_none().then(|| self.tokenizer().to_json()),
            fingerprint: self.fingerprint().map(str::to_owned),
            model: recipe.model.clone(),
            world: recipe.world.clone(),
        }
    }

    /// The hash of the model's files, where there are any.
    pub(crate) fn fingerprint(&self) -> Option<&str> {
        self.origin.as_ref().map(|origin| origin.fingerprint.as_str())
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
        let weights = kept.weights(self.origin.as_ref(), self.settings.threads);
        weights.expect("the shapes were compared when the adapter was made")
    }
}
