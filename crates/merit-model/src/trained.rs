//! What is trained: all weights, or an adapter on top of weights that stay as they are.

use crate::layout::TensorPlace;
use crate::lora::Adapter;
use crate::lora_gradient::PackedAdapter;
use crate::pass::Goal;
use crate::{DecoderConfig, Weights};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) enum Trained {
    All(Arc<Weights>),
    Adapter(Box<Adapted>),
}

/// An adapter on top of weights that stay as they are.
#[derive(Debug)]
pub(crate) struct Adapted {
    pub(crate) base: Arc<Weights>,
    pub(crate) adapter: Adapter,
    /// As backward passes read it; absent until the policy is packed.
    pub(crate) thin: Option<PackedAdapter>,
}

impl Trained {
    pub(crate) fn base(&self) -> &Arc<Weights> {
        match self {
            Self::All(weights) => weights,
            Self::Adapter(adapted) => &adapted.base,
        }
    }

    pub(crate) fn config(&self) -> &DecoderConfig {
        self.base().config()
    }

    pub(crate) fn values(&self) -> &[f32] {
        match self {
            Self::All(weights) => weights.values(),
            Self::Adapter(adapted) => adapted.adapter.values(),
        }
    }

    pub(crate) fn places(&self) -> &[TensorPlace] {
        match self {
            Self::All(weights) => &weights.layout().tensors,
            Self::Adapter(adapted) => adapted.adapter.places(),
        }
    }

    /// What an update changes, and the tensors it consists of.
    pub(crate) fn parts(&mut self) -> (&mut [f32], &[TensorPlace]) {
        match self {
            Self::All(weights) => Arc::make_mut(weights).parts_mut(),
            Self::Adapter(adapted) => adapted.adapter.parts_mut(),
        }
    }

    pub(crate) fn goal(&self) -> Goal<'_> {
        match self {
            Self::All(weights) => Goal::All(weights.layout()),
            Self::Adapter(adapted) => Goal::Adapter(adapted.thin.as_ref().expect("packed with the policy")),
        }
    }
}
