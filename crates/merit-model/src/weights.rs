//! The weights of one policy version: a configuration and one flat vector.

use crate::layout::{Layout, TensorKind, TensorPlace};
use crate::{DecoderConfig, ModelError, checkpoint};
use merit_core::Seed;

/// All weights of a decoder.
#[derive(Debug, Clone)]
pub struct Weights {
    config: DecoderConfig,
    layout: Layout,
    values: Vec<f32>,
}

impl Weights {
    /// Fresh weights: normal numbers of spread `1 / sqrt(in)`, smaller where they feed the residual stream; gains are 1.
    ///
    /// ```
    /// use merit_core::Seed;
    /// use merit_model::{DecoderConfig, Weights};
    /// let text = r#"{"vocab":37,"layers":2,"d_model":24,"heads":3,"kv_heads":1,"d_ff":40,"max_context":64}"#;
    /// let config: DecoderConfig = serde_json::from_str(text)?;
    /// let weights = Weights::init(&config, Seed::root(1))?;
    /// assert_eq!(weights.values().len(), config.parameters());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn init(config: &DecoderConfig, seed: Seed) -> Result<Self, ModelError> {
        let mut weights = Self::zeros(config)?;
        let residual = 1.0 / (2.0 * config.layers as f64).sqrt();
        for (index, place) in weights.layout.tensors.iter().enumerate() {
            let mut stream = seed.child("tensor", index as u64).stream();
            let spread = match place.kind {
                TensorKind::Vector => continue,
                TensorKind::Embedding => 0.02_f64.max(0.5 / (config.d_model as f64).sqrt()),
                TensorKind::Linear => 1.0 / (place.rows as f64).sqrt(),
            };
            let into_residual = place.name.contains("o_proj") || place.name.contains("down_proj");
            let spread = if into_residual { spread * residual } else { spread };
            for row in 0..place.rows {
                let start = place.offset + row * place.stride;
                for value in &mut weights.values[start..start + place.columns] {
                    *value = (stream.normal() * spread) as f32;
                }
            }
        }
        for place in &weights.layout.tensors {
            if place.name.contains("norm") {
                weights.values[place.offset..place.offset + place.columns].fill(1.0);
            }
        }
        Ok(weights)
    }

    pub(crate) fn zeros(config: &DecoderConfig) -> Result<Self, ModelError> {
        config.validate()?;
        let layout = Layout::new(config);
        Ok(Self { config: config.clone(), values: vec![0.0; layout.len], layout })
    }

    /// Reads what [`Weights::to_safetensors`] wrote. Never panics; a fault names the tensor.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, ModelError> {
        checkpoint::read_weights(bytes)
    }

    /// A safetensors file with the configuration in its metadata; the same weights always give the same bytes.
    pub fn to_safetensors(&self) -> Vec<u8> {
        checkpoint::write_weights(self)
    }

    /// The shape.
    pub fn config(&self) -> &DecoderConfig {
        &self.config
    }

    /// All weights in one vector, in an order private to this crate's version.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The same, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Name, shape in a file and number of weights of each tensor.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, Vec<usize>)> {
        self.layout.tensors.iter().map(|place| (place.name.as_str(), place.shape()))
    }

    pub(crate) fn from_parts(config: DecoderConfig, layout: Layout, values: Vec<f32>) -> Self {
        debug_assert_eq!(layout.len, values.len());
        Self { config, layout, values }
    }

    pub(crate) fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// The weights to be changed, and the tensors they consist of.
    pub(crate) fn parts_mut(&mut self) -> (&mut [f32], &[TensorPlace]) {
        (&mut self.values, &self.layout.tensors)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }
}
