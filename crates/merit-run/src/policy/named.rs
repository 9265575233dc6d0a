//! Models beside the policy, which `[models.NAME]` names: each begins as a copy of the policy or fresh in its shape, learns in
//! stages of `fit`, and says how good an episode is.

use super::Policy;
use super::bag::Words;
use crate::RunError;
use crate::models::{FitLoss, Like, NamedModel, StartOf};
use crate::recipe::Recipe;
use merit_core::{Seed, TokenId};
use merit_model::{
    ModelError, PackedWeights, Precision, RewardHead, RewardModel, TrainSequence, Trainer, TrainerSettings,
    Weights,
};
use merit_store::Checkpoint;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A model that a stage fits and others ask.
#[derive(Clone)]
pub(crate) struct SharedModel(Arc<Mutex<Named>>);

/// The models of a run that were fitted at least once, by name.
pub(crate) type Models = BTreeMap<String, SharedModel>;

impl SharedModel {
    pub(crate) fn new(model: Named) -> Self {
        Self(Arc::new(Mutex::new(model)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Named> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model under training or at work.
pub(crate) struct Named {
    pub(crate) judge: Judge,
    /// Updates that it has seen.
    pub(crate) updates: u64,
    settings: TrainerSettings,
    /// The hash of its weights, once they were saved and as long as they stay.
    saved: OnceLock<String>,
}

/// How a model says how good an episode is.
pub(crate) enum Judge {
    /// By a scalar head behind the last token.
    Scalar(Box<RewardModel>),
    /// By the chance of `yes` as the next token.
    Verdict { trainer: Box<Trainer>, yes: TokenId, no: TokenId },
    /// By the words in it.
    Bag(Box<Words>),
}

impl Named {
    /// A model that was never fitted.
    pub(crate) fn newborn(
        policy: &Policy,
        model: &NamedModel,
        loss: FitLoss,
        seed: Seed,
    ) -> Result<Self, RunError> {
        if model.like == Like::Bag {
            return Ok(Self::of_words(policy, Words::newborn(policy.chat.tokenizer().clone(), &seed), 0));
        }
        let weights = match model.start.unwrap_or_default() {
            StartOf::Policy => Weights::clone(&policy.present()),
            StartOf::Fresh => Weights::init(policy.trainer.weights().config(), seed)?,
        };
        let head = RewardHead::new(vec![0.0; weights.config().d_model], 0.0);
        let weights = if loss == FitLoss::Token { weights } else { weights.with_reward_head(&head)? };
        Self::over(policy, weights, loss, 0)
    }

    fn of_words(policy: &Policy, words: Words, updates: u64) -> Self {
        let judge = Judge::Bag(Box::new(words));
        Self { judge, updates, settings: policy.settings.clone(), saved: OnceLock::new() }
    }

    fn over(policy: &Policy, weights: Weights, loss: FitLoss, updates: u64) -> Result<Self, RunError> {
        let settings = policy.settings.clone();
        let trainer = Trainer::new(weights, settings.clone())?;
        let judge = match loss {
            FitLoss::BradleyTerry | FitLoss::Regression => {
                Judge::Scalar(Box::new(RewardModel::over(trainer)?))
            }
            FitLoss::Token => {
                let (yes, no) = (verdict(policy, "+")?, verdict(policy, "-")?);
                Judge::Verdict { trainer: Box::new(trainer), yes, no }
            }
        };
        Ok(Self { judge, updates, settings, saved: OnceLock::new() })
    }

    /// The same with a fresh optimiser.
    pub(crate) fn restart(&mut self) -> Result<(), RunError> {
        let fresh = |trainer: &Trainer| Trainer::new(trainer.snapshot(), self.settings.clone());
        match &mut self.judge {
            Judge::Scalar(model) => **model = RewardModel::over(fresh(model.trainer())?)?,
            Judge::Verdict { trainer, .. } => **trainer = fresh(trainer)?,
            Judge::Bag(words) => words.restart(),
        }
        Ok(())
    }

    /// Takes note of an update.
    pub(crate) fn updated(&mut self) {
        self.updates += 1;
        self.saved = OnceLock::new();
    }

    /// Its decoder as a sampler reads it. Absent: it is a bag.
    pub(crate) fn sampled(&self, precision: Precision) -> Option<Arc<PackedWeights>> {
        Some(Arc::new(PackedWeights::for_sampling(self.trainer()?.snapshot(), precision)))
    }

    /// The most tokens of an episode that it reads; what is longer loses its beginning.
    pub(crate) fn reads(&self) -> usize {
        self.trainer().map_or(usize::MAX, |trainer| trainer.weights().config().max_context - 1)
    }

    /// How good each sequence is: the scalar, or the chance of a good verdict.
    pub(crate) fn score(&mut self, sequences: &[&[TokenId]]) -> Result<Vec<f64>, RunError> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let most = self.reads();
        let sequences: Vec<&[TokenId]> = sequences.iter().map(|tokens| tail(tokens, most)).collect();
        match &mut self.judge {
            Judge::Scalar(model) => Ok(model.score(&sequences)?.into_iter().map(f64::from).collect()),
            Judge::Bag(words) => Ok(sequences.iter().map(|tokens| words.score(tokens)).collect()),
            Judge::Verdict { trainer, yes, .. } => {
                let asked: Vec<Vec<TokenId>> =
                    sequences.iter().map(|tokens| [tokens, &[*yes][..]].concat()).collect();
                let needed: Vec<Vec<bool>> = asked.iter().map(|tokens| last_of(tokens.len())).collect();
                let both = asked.iter().zip(&needed);
                let batch: Vec<TrainSequence<'_>> =
                    both.map(|(tokens, needed)| TrainSequence { tokens, needed }).collect();
                let said = trainer.score(&batch, 1.0)?;
                let chance =
                    |logprobs: &[f32]| logprobs.last().map_or(0.0, |logprob| f64::from(*logprob).exp());
                Ok(said.iter().map(|scores| chance(&scores.logprobs)).collect())
            }
        }
    }

    /// The decoder under training; absent: it is a bag.
    fn trainer(&self) -> Option<&Trainer> {
        match &self.judge {
            Judge::Scalar(model) => Some(model.trainer()),
            Judge::Verdict { trainer, .. } => Some(trainer),
            Judge::Bag(_) => None,
        }
    }

    /// Its weights as they are kept.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match &self.judge {
            Judge::Scalar(model) => model.trainer().weights().to_safetensors(),
            Judge::Verdict { trainer, .. } => trainer.weights().to_safetensors(),
            Judge::Bag(words) => words.to_bytes(),
        }
    }

    /// The hash of what [`Self::to_bytes`] gives.
    pub(super) fn hash(&self) -> String {
        self.saved.get_or_init(|| merit_core::hex(&Sha256::digest(self.to_bytes()))).clone()
    }

    /// What its optimiser keeps; absent between fits.
    pub(super) fn optimiser(&self) -> Option<Vec<u8>> {
        match &self.judge {
            Judge::Bag(words) => words.optimiser(),
            _ => self.trainer().filter(|one| one.updates() > 0).map(Trainer::optimiser_to_safetensors),
        }
    }

    /// The names of its files in a checkpoint.
    pub(super) fn files(&self, name: &str) -> (String, String) {
        files(name, if matches!(self.judge, Judge::Bag(_)) { Like::Bag } else { Like::Policy })
    }

    fn load_optimiser(&mut self, bytes: &[u8]) -> Result<(), String> {
        let unusable = |error: ModelError| error.to_string();
        match &mut self.judge {
            Judge::Scalar(model) => model.load_optimiser(bytes).map_err(unusable),
            Judge::Verdict { trainer, .. } => trainer.load_optimiser(bytes).map_err(unusable),
            Judge::Bag(words) => {
                let fits = words.load_optimiser(bytes);
                fits.then_some(()).ok_or_else(|| "it is not what a bag keeps".to_owned())
            }
        }
    }
}

/// The last tokens, as many as are read.
pub(crate) fn tail(tokens: &[TokenId], most: usize) -> &[TokenId] {
    &tokens[tokens.len().saturating_sub(most)..]
}

/// True at the last of so many.
pub(crate) fn last_of(len: usize) -> Vec<bool> {
    (1..=len).map(|at| at == len).collect()
}

fn verdict(policy: &Policy, word: &str) -> Result<TokenId, RunError> {
    match policy.tokenizer().encode(word)[..] {
        [token] => Ok(token),
        _ => Err(RunError::Verdict { word: word.to_owned() }),
    }
}

/// The names of a model's files in a checkpoint.
fn files(name: &str, like: Like) -> (String, String) {
    let end = match like {
        Like::Policy => "safetensors",
        Like::Bag => "f64",
    };
    (format!("model-{name}.{end}"), format!("model-optimiser-{name}.{end}"))
}

/// The models of a checkpoint, which holds `updates` of each; the recipe says what each is and what it is fitted by.
pub(super) fn restore(
    policy: &Policy,
    checkpoint: &Checkpoint,
    updates: &BTreeMap<String, u64>,
    recipe: &Recipe,
) -> Result<Models, RunError> {
    let bad =
        |file: &str, why: &dyn std::fmt::Display| RunError::Checkpoint { why: format!("`{file}`: {why}") };
    let (mut models, losses) = (Models::new(), crate::models::losses(recipe));
    for (name, updates) in updates {
        let like = recipe.models.get(name).map_or(Like::Policy, |model| model.like);
        let (weights, optimiser) = files(name, like);
        let loss =
            losses.get(name).ok_or_else(|| bad(&weights, &"no stage of the recipe fits this model"))?;
        let bytes = checkpoint.file(&weights).ok_or_else(|| bad(&weights, &"it is missing"))?;
        let mut model = match like {
            Like::Policy => {
                let read = Weights::from_safetensors(bytes).map_err(|e| bad(&weights, &e))?;
                Named::over(policy, read, *loss, *updates)?
            }
            Like::Bag => {
                let words = Words::kept(policy.chat.tokenizer().clone(), bytes);
                let words = words.ok_or_else(|| bad(&weights, &"it is no bag of words"))?;
                Named::of_words(policy, words, *updates)
            }
        };
        if let Some(bytes) = checkpoint.file(&optimiser) {
            model.load_optimiser(bytes).map_err(|e| bad(&optimiser, &e))?;
        }
        models.insert(name.clone(), SharedModel::new(model));
    }
    Ok(models)
}
