//! Real models: from the files that `merit_formats` opens to trainable weights or to weights packed for sampling, and back
//! to tensors that its writers take.
//!
//! Names and shapes were checked against the decoder's shape when the files were opened, and are checked once more where
//! each tensor lands. Memory is asked for before it is taken.

use crate::checkpoint::{fault, for_each_index};
use crate::layout::{TensorKind, TensorPlace, VALUE_BIAS, VALUE_WEIGHT};
use crate::memory::require;
use crate::{DecoderConfig, ModelError, Weights};
use merit_formats::{FormatError, ModelFiles, NamedTensor, TensorRole, expected_tensors};
use merit_kernels::pack::transpose;
use std::borrow::Cow;
use std::collections::HashMap;

/// How a model is taken from its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// The longest context to make room for; a model that has a shorter one keeps its own.
    pub context: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { context: 8192 }
    }
}

impl LoadOptions {
    pub(crate) fn config(self, files: &ModelFiles) -> Result<DecoderConfig, ModelError> {
        if self.context == 0 {
            return Err(ModelError::Config(
                "a context of 0 positions holds nothing; ask for 1 or more".into(),
            ));
        }
        let own = files.config();
        Ok(DecoderConfig { max_context: own.max_context.min(self.context), ..own.clone() })
    }
}

/// The tensors of a model's files, by name, as what the engine multiplies and adds.
pub(crate) struct Source<'a> {
    files: &'a ModelFiles,
    roles: HashMap<String, (TensorRole, Vec<usize>)>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(files: &'a ModelFiles) -> Self {
        let all = expected_tensors(files.config()).into_iter();
        Self { files, roles: all.map(|tensor| (tensor.name, (tensor.role, tensor.shape))).collect() }
    }

    /// The values of a tensor in the order of the file, `[out, in]`.
    pub(crate) fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let Some((role, known)) = self.roles.get(name) else {
            return Err(fault(name, "is not part of this decoder".into()));
        };
        let gain = *role == TensorRole::Gain;
        let values = if gain { self.files.gain(name)? } else { self.files.values(name)? };
        if known != shape || values.len() != shape.iter().product::<usize>() {
            return Err(fault(name, format!("has shape {known:?}, want {shape:?}")));
        }
        Ok(values)
    }
}

impl Weights {
    /// Trainable weights from a model's files, whatever their encoding; there is no value head yet.
    pub fn from_files(files: &ModelFiles, options: LoadOptions) -> Result<Self, ModelError> {
        let config = options.config(files)?;
        require(&format!("the weights of {}", files.path().display()), 4 * config.parameters())?;
        let mut weights = Self::zeros(&config)?;
        let source = Source::new(files);
        let places = weights.layout().tensors.clone();
        for place in &places {
            let values = source.values(&place.name, &place.shape())?;
            place_values(place, &values, weights.values_mut());
        }
        Ok(weights)
    }

    /// Every tensor of the decoder by its name in `transformers`, gains as what multiplies: what `merit_formats::save_hf`
    /// and `save_gguf` take. A value head is no part of it; see [`Weights::value_head_to_safetensors`].
    pub fn named_tensors(&self) -> impl Iterator<Item = Result<NamedTensor<'_>, FormatError>> {
        let places = self.layout().tensors.iter();
        let decoder = places.filter(|place| place.name != VALUE_WEIGHT && place.name != VALUE_BIAS);
        decoder.map(|place| {
            let values = if place.kind == TensorKind::Linear {
                let mut values = Vec::with_capacity(place.rows * place.columns);
                for_each_index(place, |index| values.push(self.values()[index]));
                Cow::Owned(values)
            } else {
                Cow::Borrowed(&self.values()[place.offset..place.offset + place.rows * place.columns])
            };
            Ok(NamedTensor { name: place.name.clone(), shape: place.shape(), values })
        })
    }
}

/// Puts a tensor of a file where it belongs in the flat vector.
pub(crate) fn place_values(place: &TensorPlace, values: &[f32], flat: &mut [f32]) {
    let to = &mut flat[place.offset..];
    if place.kind == TensorKind::Linear {
        transpose(values, place.columns, place.rows, place.rows, to, place.stride);
    } else {
        to[..values.len()].copy_from_slice(values);
    }
}
