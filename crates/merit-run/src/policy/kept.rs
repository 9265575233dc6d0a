//! A policy as it is kept, in a checkpoint or for a later stage.

use crate::RunError;
use crate::model::{ModelConfig, Trained};
use crate::origin::Origin;
use merit_model::{Adapter, ModelError, Trainer, TrainerSettings, Weights, Workers};
use std::sync::Arc;

/// A policy that is kept: all its weights, or what was trained on top of its origin.
#[derive(Clone)]
pub(crate) enum Kept {
    Weights(Arc<Weights>),
    Adapter(Box<Adapter>),
}

impl Kept {
    pub(crate) fn to_safetensors(&self) -> Vec<u8> {
        match self {
            Self::Weights(weights) => weights.to_safetensors(),
            Self::Adapter(adapter) => adapter.to_safetensors(),
        }
    }

    /// Reads what was kept of a policy with this origin.
    pub(crate) fn from_safetensors(bytes: &[u8], origin: Option<&Origin>) -> Result<Self, ModelError> {
        match origin {
            Some(origin) if matches!(origin.settings().train, Trained::Lora(_)) => {
                let adapter = Adapter::from_safetensors(bytes, origin.base().config())?;
                Ok(Self::Adapter(Box::new(adapter)))
            }
            _ => Ok(Self::Weights(Arc::new(Weights::from_safetensors(bytes)?))),
        }
    }

    /// All its weights; those of an adapter are merged into what it was made on.
    pub(crate) fn weights(
        &self,
        origin: Option<&Origin>,
        threads: usize,
    ) -> Result<Arc<Weights>, ModelError> {
        match (self, origin) {
            (Self::Weights(weights), _) => Ok(Arc::clone(weights)),
            (Self::Adapter(adapter), Some(origin)) => {
                let workers = Workers::new(threads).unwrap_or_else(|_| Workers::single());
                Ok(Arc::new(adapter.merge(origin.base(), &workers)?))
            }
            (Self::Adapter(_), None) => unreachable!("adapters are made of an origin"),
        }
    }

    pub(super) fn trainer(
        self,
        origin: Option<&Origin>,
        settings: &TrainerSettings,
    ) -> Result<Trainer, RunError> {
        let settings = settings.clone();
        Ok(match (self, origin) {
            (Self::Weights(weights), _) => Trainer::new(weights, settings)?,
            (Self::Adapter(adapter), Some(origin)) => {
                Trainer::with_adapter(Arc::clone(origin.base()), *adapter, settings)?
            }
            (Self::Adapter(_), None) => {
                return Err(RunError::Checkpoint {
                    why: "an adapter without the model it belongs to".into(),
                });
            }
        })
    }
}

/// How the work of training is cut up, and what its products round to.
pub(super) fn settings(model: &ModelConfig, origin: Option<&Origin>, threads: usize) -> TrainerSettings {
    match (model, origin) {
        (_, Some(origin)) => origin.trainer_settings(threads),
        (model, None) => {
            let precision = model.precision();
            // Short episodes and small batches: shards of this size keep every lane busy.
            TrainerSettings { threads, shard_tokens: 256, precision, ..TrainerSettings::default() }
        }
    }
}
