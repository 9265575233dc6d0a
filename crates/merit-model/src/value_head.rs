//! The value head as a file of its own, beside a model that other programs load without it.

use crate::checkpoint::{fault, gather_all, parse, scatter_all, serialise};
use crate::layout::{Layout, TensorPlace, VALUE_BIAS, VALUE_WEIGHT};
use crate::{DecoderConfig, ModelError, Weights};

/// The name of the file in a model's folder.
pub const VALUE_HEAD_FILE: &str = "value_head.safetensors";

impl Weights {
    /// The same weights with a value head of zeros, unless they have one.
    #[must_use]
    pub fn with_value_head(self) -> Self {
        if self.config().value_head {
            return self;
        }
        let config = DecoderConfig { value_head: true, ..self.config().clone() };
        let layout = Layout::new(&config);
        let mut values = self.into_values();
        // The value head comes last, so everything before it stays where it is.
        values.resize(layout.len, 0.0);
        Self::from_parts(config, layout, values)
    }

    /// The value head as safetensors bytes; `None` without one.
    pub fn value_head_to_safetensors(&self) -> Option<Vec<u8>> {
        let places = value_places(self.layout());
        let tensors = gather_all(&places, self.values(), "");
        let width = self.config().d_model.to_string();
        (!places.is_empty()).then(|| serialise(&tensors, (WIDTH_KEY, width)))
    }

    /// Replaces the value head by one that [`Weights::value_head_to_safetensors`] wrote; nothing changes on an error.
    pub fn load_value_head(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let places = value_places(self.layout());
        if places.is_empty() {
            return Err(ModelError::Config("these weights have no value head to load into".into()));
        }
        let file = parse(bytes)?;
        if let Some(extra) =
            file.names().into_iter().find(|name| !places.iter().any(|place| place.name == **name))
        {
            return Err(fault(extra, "does not belong to a value head".into()));
        }
        let start = places[0].offset;
        let mut read = self.values()[start..].to_vec();
        let own: Vec<TensorPlace> = places
            .iter()
            .map(|place| TensorPlace { offset: place.offset - start, ..place.clone() })
            .collect();
        scatter_all(&own, &file, "", &mut read)?;
        self.values_mut()[start..].copy_from_slice(&read);
        Ok(())
    }
}

const WIDTH_KEY: &str = "merit_value_head_width";

fn value_places(layout: &Layout) -> Vec<TensorPlace> {
    let is_value = |place: &&TensorPlace| place.name == VALUE_WEIGHT || place.name == VALUE_BIAS;
    layout.tensors.iter().filter(is_value).cloned().collect()
}
