//! The learner's part of a recipe. Defaults are a recipe that works: one clipped step per batch, token mean, AdamW.

use crate::{
    AdamW, All, Average, LearnError, LossAgg, Mask, Objective, PolicyGradient, PolicyTokens, Schedule,
    Selector, Sft, TokenMean,
};
use merit_core::registry::{Chosen, Component as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything the learner reads from a recipe.
///
/// ```
/// let text = r#"
/// epochs = 1
/// minibatches = 2
/// loss_agg = { type = "token" }
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
/// let components = merit_learn::register(merit_core::registry::Components::default());
/// let config: merit_learn::LearnConfig = components.reading(|| toml::from_str(text))?;
/// config.validate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// What is minimised.
    pub objective: Chosen<dyn Objective>,
    /// How the losses of tokens become the loss of a batch.
    #[serde(alias = "loss_aggregation", alias = "normaliser")]
    #[schemars(extend("aliases" = ["loss_aggregation", "normaliser"]))]
    pub loss_agg: Chosen<dyn LossAgg>,
    /// Which samples count, and how much.
    pub selector: Chosen<dyn Selector>,
    /// Which of the policy's tokens are trained.
    pub mask: Chosen<dyn Mask>,
    /// What turns gradients into updates.
    #[serde(alias = "optimizer")]
    #[schemars(extend("aliases" = ["optimizer"]))]
    pub optimiser: Optimiser,
    /// How the learning rate changes over steps.
    pub schedule: Schedule,
    /// How often the batch is gone through.
    pub epochs: usize,
    /// Optimiser steps per epoch; each normalises over its own samples.
    pub minibatches: usize,
}

/// The optimisers by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
            objective: Chosen::of(PolicyGradient::default(), |s| s),
            loss_agg: Chosen::of(TokenMean {}, |s| s),
            selector: Chosen::of(All {}, |s| s),
            mask: Chosen::of(PolicyTokens {}, |s| s),
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
        Self { objective: Chosen::of(Sft {}, |s| s), ..Self::default() }
    }

    /// Refuses what cannot work, with the reason. Components have refused their own settings when they were read.
    pub fn validate(&self) -> Result<(), LearnError> {
        let Optimiser::AdamW(adamw) = &self.optimiser;
        let (objective, loss_agg) = (self.objective.about().name, self.loss_agg.about().name);
        let averaged = self.objective.average() == Average::Tokens || loss_agg == TokenMean::ABOUT.name;
        require(averaged, "loss_agg", || {
            format!(
                "is `{loss_agg}`, but objective `{objective}` has no losses of tokens: it is averaged over whole \
                 sequences, pairs or groups; leave `loss_agg` out"
            )
        })?;
        require(self.loss_agg.budget().is_none() || self.minibatches == 1, "minibatches", || {
            let count = self.minibatches;
            format!(
                "is {count}, but loss aggregation `{loss_agg}` has one budget for an update; leave `minibatches` out"
            )
        })?;
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
