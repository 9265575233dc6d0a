//! The weights of one policy version: a configuration and one flat vector.

use crate::layout::{Layout, TensorKind, TensorPlace};
use crate::{DecoderConfig, ModelError, checkpoint};
use merit_core::{Seed, TokenId};

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

    /// Gives each token of `means` the mean of the rows of the tokens beside it, in the embedding and, where it has rows of its own,
    /// in the head. All other rows stay as they are. A token without others keeps its own rows.
    pub fn begin_as_means(&mut self, means: &[(TokenId, Vec<TokenId>)]) -> Result<(), ModelError> {
        let (width, vocab) = (self.config.d_model, self.config.vocab);
        let mut named = means.iter().flat_map(|(token, of)| of.iter().chain([token]));
        if let Some(token) = named.find(|token| token.0 as usize >= vocab) {
            let why = format!("a row is to be a mean with token {}, but there are {vocab} tokens", token.0);
            return Err(ModelError::Config(why));
        }
        let tables = [self.layout.embedding.start, self.layout.head.start];
        let count = if tables[0] == tables[1] { 1 } else { 2 };
        for table in tables.into_iter().take(count) {
            let row = |token: &TokenId| table + token.0 as usize * width;
            let mean = |of: &Vec<TokenId>, column: usize| {
                let sum: f64 = of.iter().map(|token| f64::from(self.values[row(token) + column])).sum();
                (sum / of.len() as f64) as f32
            };
            let filled = means.iter().filter(|(_, of)| !of.is_empty());
            // All of them before the first is written: means are of rows as they were.
            let rows: Vec<(usize, Vec<f32>)> = filled
                .map(|(token, of)| (row(token), (0..width).map(|column| mean(of, column)).collect()))
                .collect();
            for (start, mean) in rows {
                self.values[start..start + width].copy_from_slice(&mean);
            }
        }
        Ok(())
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

    /// Sizes and style of the decoder.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family_check::{families, tiny};

    fn row(weights: &Weights, table: usize, token: usize) -> Vec<f32> {
        let width = weights.config.d_model;
        weights.values[table + token * width..table + (token + 1) * width].to_vec()
    }

    /// Weights before and after tokens 5 and 6 became means; 6 of a row that changes itself, 7 of nothing.
    fn begun(tied: bool) -> (Weights, Weights) {
        let style = families().into_iter().find(|style| style.tied == tied).unwrap();
        let before = Weights::init(&tiny(style), Seed::root(1)).unwrap();
        let mut after = before.clone();
        let means = [(5, vec![1, 2, 3, 4]), (6, vec![5]), (7, vec![])];
        let means = means.map(|(to, of)| (TokenId(to), of.into_iter().map(TokenId).collect()));
        after.begin_as_means(&means).unwrap();
        (before, after)
    }

    #[test]
    fn tied_and_untied_heads_are_both_extended() {
        for tied in [true, false] {
            let (before, after) = begun(tied);
            let tables = [before.layout.embedding.start, before.layout.head.start];
            assert_eq!(tables[0] == tables[1], tied);
            for table in tables {
                let sum = |column: usize| (1..5).map(|token| row(&before, table, token)[column]).sum::<f32>();
                for (column, mean) in row(&after, table, 5).into_iter().enumerate() {
                    assert!((mean - sum(column) / 4.0).abs() < 1e-6, "{tied} {column}");
                }
                assert_eq!(row(&after, table, 6), row(&before, table, 5), "of what was there before");
            }
        }
    }

    #[test]
    fn old_rows_keep_their_norm() {
        for tied in [true, false] {
            let (before, after) = begun(tied);
            let width = before.config.d_model;
            let tables = [before.layout.embedding.start, before.layout.head.start];
            let new =
                |at: usize| tables.iter().any(|table| (table + 5 * width..table + 7 * width).contains(&at));
            let mut rest = before.values.iter().zip(&after.values).enumerate().filter(|(at, _)| !new(*at));
            assert!(rest.all(|(_, (before, after))| before.to_bits() == after.to_bits()), "{tied}");
            let outside = (TokenId(before.config.vocab as u32), vec![TokenId(1)]);
            let error = before.clone().begin_as_means(&[outside]).unwrap_err().to_string();
            assert!(error.contains("there are"), "{error}");
        }
    }
}
