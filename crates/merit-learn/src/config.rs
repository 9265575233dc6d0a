//! The learner's part of a recipe. Defaults are a recipe that works: one clipped step per batch, token mean, AdamW.

use crate::{AdamW, LearnError, Mask, Normaliser, Objective, Schedule, Selector};
use serde::{Deserialize, Serialize};

/// Everything the learner reads from a recipe.
///
/// ```
/// let text = r#"
/// epochs = 1
/// minibatches = 2
/// normaliser = { type = "token" }
/// selector = { type = "drop-constant-groups" }
/// mask = { type = "policy" }
/// optimiser = { type = "adamw", lr = 3e-4, clip_norm = 1.0 }
/// schedule = { type = "cosine", warmup = 5, floor = 0.1 }
///
/// [objective]
/// type = "policy-gradient"
/// clip_low = 0.2
/// clip_high = 0.28
/// kl = { coefficient = 0.01, estimator = "k3" }
/// "#;
/// let config: merit_learn::LearnConfig = toml::from_str(text)?;
/// config.validate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// The loss of one token.
    pub objective: Objective,
    /// How the losses of tokens become the loss of a batch.
    pub normaliser: Normaliser,
    /// Which samples count, and how much.
    pub selector: Selector,
    /// Which of the policy's tokens are trained.
    pub mask: Mask,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// How the learning rate changes over steps.
    pub schedule: Schedule,
    /// How often the batch is gone through.
    pub epochs: usize,
    /// Optimiser steps per epoch; each normalises over its own samples.
    pub minibatches: usize,
}

/// The optimisers by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Optimiser {
    /// Adam with decoupled weight decay.
    AdamW(AdamW),
}

impl Default for Optimiser {
    fn default() -> Self {
        Self::AdamW(AdamW::default())
    }
}

impl Default for LearnConfig {
    fn default() -> Self {
        Self {
            objective: Objective::default(),
            normaliser: Normaliser::default(),
            selector: Selector::default(),
            mask: Mask::default(),
            optimiser: Optimiser::default(),
            schedule: Schedule::default(),
            epochs: 1,
            minibatches: 1,
        }
    }
}

impl LearnConfig {
    /// A plain supervised recipe: what warm starts and imitation use.
    pub fn supervised() -> Self {
        Self { objective: Objective::Sft {}, ..Self::default() }
    }

    /// Refuses what cannot work, with the reason.
    pub fn validate(&self) -> Result<(), LearnError> {
        let Optimiser::AdamW(adamw) = &self.optimiser;
        self.objective.validate()?;
        self.normaliser.validate()?;
        adamw.validate()?;
        self.schedule.validate()?;
        require(self.epochs > 0, "epochs", || "is 0; go through the batch at least once".into())?;
        require(self.minibatches > 0, "minibatches", || "is 0; 1 takes the whole batch at once".into())
    }
}

/// `Ok` when `holds`, else the reason why `key` cannot be so.
pub(crate) fn require(
    holds: bool,
    key: &'static str,
    why: impl FnOnce() -> String,
) -> Result<(), LearnError> {
    if holds { Ok(()) } else { Err(LearnError::Config { key, why: why() }) }
}
