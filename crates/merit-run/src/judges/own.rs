//! Judges for whom a model of the recipe itself answers: the policy, or one of `[models]`.
//!
//! In: the settings of `[judges]`, and the weights that the driver lends for a step. Out: annotations by the judge's name. Answers are
//! drawn by the run's seed, and none is kept beyond the episodes that are scored together, so that a run that was ended and goes
//! on hears and pays the same. What a judge has paid is part of the run's place.

use super::asker::ModelAsker;
use super::backend::JudgeBackend;
use super::in_recipe::RecipeJudge;
use super::{annotations, wording};
use crate::RunError;
use crate::annotators::{Speaker, Spoken};
use crate::policy::{Models, Policy};
use crate::recipe::Recipe;
use merit_core::{Annotation, Episode, Seed};
use merit_evolve::Library;
use merit_judge::{AskedJudge, Kept};
use merit_model::{Generator, GeneratorSettings, PackedWeights, Sampler};
use merit_rollout::ChatFormat;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A model that is lent to a judge.
#[derive(Default)]
pub(crate) struct Lent(Mutex<Option<Now>>);

/// The model at one moment.
#[derive(Clone)]
struct Now {
    weights: Arc<PackedWeights>,
    chat: ChatFormat,
    threads: usize,
    /// Which weights: two of one version are the same.
    version: String,
}

impl Lent {
    fn now(&self) -> MutexGuard<'_, Option<Now>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which weights are lent; empty where there are none yet.
    pub(super) fn version(&self) -> String {
        self.now().as_ref().map_or_else(String::new, |now| now.version.clone())
    }

    /// A sampler of the weights of now, and their version.
    pub(super) fn sampler(&self) -> Result<(String, ChatFormat, Box<dyn Sampler>), RunError> {
        let now = self.now().clone();
        let now = now.ok_or_else(|| RunError::Annotator("the model of the judge is not there yet".into()))?;
        let settings = GeneratorSettings { threads: now.threads, ..GeneratorSettings::default() };
        let generator = Generator::over(now.weights, Arc::clone(now.chat.tokenizer()), settings)?;
        Ok((now.version, now.chat, Box::new(generator)))
    }
}

/// A judge for whom a model of the recipe answers.
pub(crate) struct OwnJudge {
    backend: JudgeBackend,
    judge: Mutex<AskedJudge>,
    per_turn: bool,
    lent: Arc<Lent>,
}

impl OwnJudge {
    fn judge(&self) -> MutexGuard<'_, AskedJudge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Speaker for OwnJudge {
    fn says(&self, name: &str, episodes: &[Arc<Episode>]) -> Result<Vec<Spoken>, String> {
        let mut judge = self.judge();
        judge.forget();
        let version = self.lent.version();
        let said = |said: Result<Annotation, String>| {
            said.map(|one| Some(Annotation { version: version.clone(), ..one }))
        };
        Ok(annotations(name, &mut *judge, episodes, self.per_turn).into_iter().map(said).collect())
    }

    fn counts(&self) -> bool {
        true
    }
}

/// The weights of one moment of a run.
pub(crate) struct Moment<'a> {
    pub(crate) policy: &'a Policy,
    /// The policy as it is sampled.
    pub(crate) weights: Arc<PackedWeights>,
    pub(crate) models: &'a Models,
    pub(crate) threads: usize,
    /// Which weights the policy has: two of one version are the same.
    pub(crate) version: String,
}

/// The judges of a recipe for whom a model of it answers, by name.
#[derive(Default)]
pub(crate) struct OwnJudges(BTreeMap<String, Arc<OwnJudge>>);

impl OwnJudges {
    /// Those of `recipe`, which have paid so many answers before.
    pub(crate) fn of(recipe: &Recipe, seed: &Seed, paid: &BTreeMap<String, u64>) -> Result<Self, RunError> {
        let own = recipe.judges.iter().filter_map(|(name, judge)| match judge {
            RecipeJudge::Asked(settings) if settings.backend.is_own() => Some((name, settings)),
            _ => None,
        });
        let one = own.map(|(name, settings)| {
            let lent = Arc::new(Lent::default());
            let seed = seed.child("judge", settings.seed).child(name, 0);
            let asker = Box::new(ModelAsker::new(settings).of_lent(Arc::clone(&lent), seed));
            let wording = wording(settings, Path::new("."), &Library::default())?;
            let before = paid.get(name).copied().unwrap_or_default();
            let judge = AskedJudge::new(asker, wording, settings.asking(), Kept::in_memory());
            let judge = Mutex::new(judge.having_paid(before));
            let (backend, per_turn) = (settings.backend.clone(), settings.per_turn);
            Ok((name.clone(), Arc::new(OwnJudge { backend, judge, per_turn, lent })))
        });
        Ok(Self(one.collect::<Result<_, RunError>>()?))
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<OwnJudge>> {
        self.0.get(name).cloned()
    }

    /// What each has paid so far.
    pub(crate) fn paid(&self) -> BTreeMap<String, u64> {
        self.0.iter().map(|(name, judge)| (name.clone(), judge.judge().paid())).collect()
    }

    /// Lends them the weights of now.
    pub(crate) fn lend(&self, moment: &Moment<'_>) -> Result<(), RunError> {
        for judge in self.0.values() {
            let (weights, version) = match &judge.backend {
                JudgeBackend::Model { model } => {
                    let Some(named) = moment.models.get(model) else { continue };
                    let held = named.lock();
                    let weights = held.sampled(moment.policy.precision());
                    (weights.ok_or_else(|| not_a_decoder(model))?, format!("{} updates", held.updates))
                }
                _ => (Arc::clone(&moment.weights), moment.version.clone()),
            };
            let (chat, threads) = (moment.policy.chat().clone(), moment.threads);
            *judge.lent.now() = Some(Now { weights, chat, threads, version });
        }
        Ok(())
    }

    /// Refuses a judge whose model was not fitted yet.
    pub(crate) fn ready(&self, name: &str, models: &Models) -> Result<(), RunError> {
        match self.0.get(name).map(|judge| &judge.backend) {
            Some(JudgeBackend::Model { model }) if !models.contains_key(model) => {
                Err(RunError::NotFitted { model: model.clone() })
            }
            _ => Ok(()),
        }
    }
}

fn not_a_decoder(model: &str) -> RunError {
    RunError::Judge(format!("model `{model}` is a bag of words, which cannot answer a question"))
}
