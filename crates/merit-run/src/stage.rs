//! The stages of a run in order, and the place a checkpoint remembers.

use crate::recipe::Recipe;
use merit_core::Arm;
use serde::{Deserialize, Serialize};

/// One stage of a run. Stages are done in order; each begins with what the one before left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Tokenizer, demonstrations, supervised updates.
    Warm,
    /// Greedy held-out evaluation of the warm-started policy.
    Before,
    /// Learning by reward from the warm start.
    Learn(Arm),
    /// Greedy held-out evaluation of what was learned.
    After(Arm),
}

impl Stage {
    /// The stages of `recipe`.
    pub(crate) fn all(recipe: &Recipe) -> Vec<Self> {
        let learned = recipe.arms().into_iter().flat_map(|arm| [Self::Learn(arm.clone()), Self::After(arm)]);
        [Self::Warm, Self::Before].into_iter().chain(learned).collect()
    }

    /// Roughly how much of the run it is, in training steps, for the time left.
    pub(crate) fn weight(&self, recipe: &Recipe) -> f64 {
        let per_step = f64::from(recipe.budget.groups) * f64::from(recipe.budget.group_size);
        match self {
            Self::Warm => recipe.warm_start.steps as f64 * recipe.warm_start.batch as f64 * 1.5,
            Self::Before | Self::After(_) => f64::from(recipe.evaluation.tasks),
            Self::Learn(_) => recipe.budget.steps as f64 * per_step * 2.0,
        }
    }

    /// In words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Warm => "warm start on demonstrations".into(),
            Self::Before => "held-out evaluation before learning".into(),
            Self::Learn(Arm::Main) => "learning by reward".into(),
            Self::After(Arm::Main) => "held-out evaluation after learning".into(),
            Self::Learn(Arm::Control(name)) => format!("control `{name}`: learning by reward"),
            Self::After(Arm::Control(name)) => format!("control `{name}`: held-out evaluation"),
        }
    }
}

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Index of the stage.
    pub(crate) stage: usize,
    /// Steps of it that are done.
    pub(crate) step: u64,
    /// Checkpoints written so far; each has a higher number than the last.
    pub(crate) checkpoint: u64,
}
