//! Who is evaluated: the trained policy of a run, a model in this process, a server, or the world's own demonstrator.

use crate::RunError;
use crate::act::generator;
use crate::origin::fingerprint;
use crate::parts::Parts;
use crate::policy::Policy;
use crate::recipe::Recipe;
use crate::roles::{Backend, EmbeddedModel};
use merit_core::{PolicyVersion, Seed};
use merit_model::Sampler;
use merit_reward::RewardState;
use merit_rollout::{ChatFormat, EpisodePlan};
use merit_store::RunFolder;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Who plays in an evaluation.
#[derive(Debug, Clone)]
pub enum Player {
    /// The trained policy of the run in this folder.
    Run(PathBuf),
    /// A model, a server or the world's demonstrator.
    Backend(Backend),
}

/// A player at the table: what samples for it, and what its reward goes by.
pub(super) struct Seated<'a> {
    pub(super) chat: ChatFormat,
    pub(super) sampler: Box<dyn Sampler + 'a>,
    pub(super) version: PolicyVersion,
    pub(super) state: RewardState,
}

impl Player {
    /// What tells it from every other: the run and how far it is, the hash of the weights, or the settings of the server.
    pub fn identity(&self) -> Result<String, RunError> {
        let told = match self {
            Self::Run(path) => {
                let folder = RunFolder::open_read_only(path)?;
                let (info, last) = (folder.info()?, folder.latest_checkpoint()?.map(|found| found.step));
                json!({ "run": info.recipe_hash, "seed": info.seed, "started": info.started_ms, "step": last })
            }
            Self::Backend(Backend::Embedded(EmbeddedModel { file, context })) => {
                json!({ "weights": fingerprint(Path::new(file))?, "context": context })
            }
            Self::Backend(backend) => json!(backend),
        };
        Ok(told.to_string())
    }

    /// Lifts limits that are not meant for it.
    pub(super) fn loosen(&self, parts: &mut Parts) {
        if let Self::Backend(backend) = self {
            backend.loosen(&mut parts.recipe.rollout);
        }
    }

    /// Opens it for the episodes of `plans`.
    pub(super) fn open<'a>(
        &self,
        parts: &'a Parts,
        plans: &[EpisodePlan],
        threads: usize,
    ) -> Result<Seated<'a>, RunError> {
        let path = match self {
            Self::Run(path) => path,
            Self::Backend(backend) => {
                let seed = Seed::clone(&parts.seed).child("endpoint", 0);
                let (chat, sampler) = backend.open(parts.env.as_ref(), plans, threads, seed)?;
                let (version, state) = (PolicyVersion(0), RewardState::default());
                return Ok(Seated { chat, sampler, version, state });
            }
        };
        let folder = RunFolder::open_read_only(path)?;
        let recipe = Recipe::of_run(&folder, &parts.recipe.components)?;
        let restored = Policy::restore(&folder, &recipe, threads)?.ok_or_else(|| RunError::Checkpoint {
            why: "there is none yet; let the run go on for a while".into(),
        })?;
        let version = restored.version(&recipe);
        // The state of a reward, such as kept baselines, belongs to the reward that the run was trained with.
        let own = parts.recipe.reward == recipe.reward;
        let state = if own { restored.reward_state.best().clone() } else { RewardState::default() };
        let own = restored.lent(&recipe, parts, threads)?;
        parts.employ(&restored.models, &restored.judges(&folder, &recipe)?, &own)?;
        let policy = restored.policy;
        let sampler = generator((policy.best(), policy.precision()), policy.chat(), threads)?;
        Ok(Seated { chat: policy.chat().clone(), sampler: Box::new(sampler), version, state })
    }
}
