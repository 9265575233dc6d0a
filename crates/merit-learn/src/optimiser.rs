//! AdamW (Loshchilov and Hutter, arXiv:1711.05101) as a recipe writes it; the arithmetic is the trainer's.

use crate::LearnError;
use crate::config::require;
use merit_api::trainer::AdamWSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of AdamW.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdamW {
    /// Learning rate before the schedule. The default suits the embedded models; billions of parameters want about 1e-6.
    #[serde(alias = "learning_rate")]
    #[schemars(extend("aliases" = ["learning_rate"]))]
    pub lr: f64,
    /// Decay of the mean gradient.
    pub beta1: f64,
    /// Decay of the mean squared gradient.
    pub beta2: f64,
    /// Added to the root of the mean squared gradient.
    pub eps: f64,
    /// Decoupled weight decay.
    pub weight_decay: f64,
    /// Gradients longer than this are shortened to it; 0 leaves them.
    pub clip_norm: f64,
}

impl Default for AdamW {
    fn default() -> Self {
        Self { lr: 3e-4, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0.0, clip_norm: 1.0 }
    }
}

impl AdamW {
    /// What the trainer is told, with the learning rate of the moment.
    pub(crate) fn settings(&self, learning_rate: f64) -> AdamWSettings {
        AdamWSettings {
            lr: learning_rate as f32,
            beta1: self.beta1 as f32,
            beta2: self.beta2 as f32,
            eps: self.eps as f32,
            weight_decay: self.weight_decay as f32,
            clip_norm: (self.clip_norm > 0.0).then_some(self.clip_norm as f32),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), LearnError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        let fraction = |x: f64| (0.0..1.0).contains(&x);
        let is = |x: f64, want: &str| format!("is {x}; it must be {want}");
        require(positive(self.lr), "optimiser.lr", || is(self.lr, "a positive number, such as 3e-4"))?;
        require(fraction(self.beta1), "optimiser.beta1", || is(self.beta1, "at least 0 and below 1"))?;
        require(fraction(self.beta2), "optimiser.beta2", || is(self.beta2, "at least 0 and below 1"))?;
        require(positive(self.eps), "optimiser.eps", || is(self.eps, "a positive number, such as 1e-8"))?;
        require(not_negative(self.weight_decay), "optimiser.weight_decay", || {
            is(self.weight_decay, "at least 0")
        })?;
        require(not_negative(self.clip_norm), "optimiser.clip_norm", || {
            is(self.clip_norm, "at least 0, where 0 means no clipping")
        })
    }
}
