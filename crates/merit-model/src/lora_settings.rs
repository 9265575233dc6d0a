//! What an adapter changes, and how much: the projections of a block, rank and scale.

use crate::packed::Fused;
use crate::{DecoderConfig, ModelError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A projection that an adapter can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The projection of the queries.
    QProj,
    /// The projection of the keys.
    KProj,
    /// The projection of the values.
    VProj,
    /// The output of attention.
    OProj,
    /// The gate of the feed-forward.
    GateProj,
    /// What the gate lets through.
    UpProj,
    /// The output of the feed-forward.
    DownProj,
}

impl Target {
    /// Every target, in the order of a block.
    pub const ALL: [Self; 7] =
        [Self::QProj, Self::KProj, Self::VProj, Self::OProj, Self::GateProj, Self::UpProj, Self::DownProj];

    /// Its name in files, as `q_proj`.
    pub fn name(self) -> &'static str {
        match self {
            Self::QProj => "q_proj",
            Self::KProj => "k_proj",
            Self::VProj => "v_proj",
            Self::OProj => "o_proj",
            Self::GateProj => "gate_proj",
            Self::UpProj => "up_proj",
            Self::DownProj => "down_proj",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Its place in a block's names.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::QProj | Self::KProj | Self::VProj | Self::OProj => "self_attn",
            Self::GateProj | Self::UpProj | Self::DownProj => "mlp",
        }
    }

    /// The matrix it is part of, and its columns there.
    pub(crate) fn columns(self, config: &DecoderConfig) -> (Fused, Range<usize>) {
        let (ff, d) = (config.d_ff, config.d_model);
        let (key, value) = (config.key_column(0), config.value_column(0));
        match self {
            Self::QProj => (Fused::Qkv, 0..key),
            Self::KProj => (Fused::Qkv, key..value),
            Self::VProj => (Fused::Qkv, value..config.qkv_width()),
            Self::OProj => (Fused::Output, 0..d),
            Self::GateProj => (Fused::GateUp, 0..ff),
            Self::UpProj => (Fused::GateUp, ff..2 * ff),
            Self::DownProj => (Fused::Down, 0..d),
        }
    }
}

/// The size and reach of an adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdapterSettings {
    /// Width between the two thin matrices.
    pub rank: usize,
    /// The product is multiplied by `alpha / rank`.
    pub alpha: f32,
    /// What is changed, in every block.
    pub targets: Vec<Target>,
}

impl Default for AdapterSettings {
    fn default() -> Self {
        Self { rank: 16, alpha: 32.0, targets: Target::ALL.to_vec() }
    }
}

impl AdapterSettings {
    pub(crate) fn check(&self, config: &DecoderConfig) -> Result<(), ModelError> {
        let refuse = |reason: String| Err(ModelError::Adapter(reason));
        let most = config.d_model.min(config.d_ff).min(config.attention_width());
        if self.rank == 0 || self.rank > most {
            return refuse(format!("`rank` is {}; it must lie between 1 and {most}", self.rank));
        }
        if !(self.alpha.is_finite() && self.alpha > 0.0) {
            return refuse(format!("`alpha` is {}; it must be positive", self.alpha));
        }
        if self.targets.is_empty() {
            return refuse("`targets` is empty, so nothing would be trained".into());
        }
        for (index, target) in self.targets.iter().enumerate() {
            if self.targets[..index].contains(target) {
                return refuse(format!("`targets` names `{}` twice", target.name()));
            }
        }
        Ok(())
    }

    pub(crate) fn scale(&self) -> f32 {
        self.alpha / self.rank as f32
    }
}
