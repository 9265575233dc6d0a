//! Weights and optimiser state as safetensors bytes.
//!
//! The configuration travels in the file's metadata, so a file is complete. Everything that comes from outside is checked
//! before it is believed.

use crate::layout::{TensorKind, TensorPlace};
use crate::{DecoderConfig, ModelError, Weights};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;

const CONFIG_KEY: &str = "merit_decoder";

/// Named tensors with their shape and little-endian bytes.
pub(crate) type NamedBytes = Vec<(String, Vec<usize>, Vec<u8>)>;

pub(crate) fn write_weights(weights: &Weights) -> Vec<u8> {
    let tensors = gather_all(&weights.layout().tensors, weights.values(), "");
    let config = serde_json::to_string(weights.config()).expect("a plain struct of numbers is JSON");
    serialise(&tensors, (CONFIG_KEY, config))
}

pub(crate) fn read_weights(bytes: &[u8]) -> Result<Weights, ModelError> {
    let config: DecoderConfig = parse_note(bytes, CONFIG_KEY)?;
    config.validate()?;
    // Refused before it is allocated: a small file cannot ask for a large model.
    if config.parameters().saturating_mul(4) > bytes.len() {
        let (want, got) = (config.parameters().saturating_mul(4), bytes.len());
        return Err(ModelError::Checkpoint(format!(
            "the config asks for {want} bytes of weights, the file has {got}"
        )));
    }
    let mut weights = Weights::zeros(&config)?;
    let places = weights.layout().tensors.clone();
    let file = parse(bytes)?;
    if let Some(extra) =
        file.names().into_iter().find(|name| !places.iter().any(|place| place.name == **name))
    {
        return Err(fault(extra, "does not belong to this decoder".into()));
    }
    scatter_all(&places, &file, "", weights.values_mut())?;
    Ok(weights)
}

pub(crate) fn serialise(tensors: &NamedBytes, note: (&str, String)) -> Vec<u8> {
    let views = tensors.iter().map(|(name, shape, bytes)| {
        let view =
            TensorView::new(Dtype::F32, shape.clone(), bytes).expect("bytes are gathered to the shape");
        (name.as_str(), view)
    });
    let notes = HashMap::from([(note.0.to_owned(), note.1)]);
    safetensors::serialize(views, Some(notes)).expect("names are distinct and sizes agree")
}

pub(crate) fn parse(bytes: &[u8]) -> Result<SafeTensors<'_>, ModelError> {
    SafeTensors::deserialize(bytes).map_err(|error| ModelError::Checkpoint(error.to_string()))
}

pub(crate) fn parse_note<T: serde::de::DeserializeOwned>(bytes: &[u8], key: &str) -> Result<T, ModelError> {
    let (_, header) =
        SafeTensors::read_metadata(bytes).map_err(|error| ModelError::Checkpoint(error.to_string()))?;
    let note = header.metadata().as_ref().and_then(|notes| notes.get(key));
    let note = note.ok_or_else(|| ModelError::Checkpoint(format!("no `{key}` in the metadata")))?;
    serde_json::from_str(note).map_err(|error| ModelError::Checkpoint(format!("`{key}`: {error}")))
}

/// Copies the tensors out of a flat vector, each name with `prefix` before it.
pub(crate) fn gather_all(places: &[TensorPlace], values: &[f32], prefix: &str) -> NamedBytes {
    let one = |place: &TensorPlace| (format!("{prefix}{}", place.name), place.shape(), gather(place, values));
    places.iter().map(one).collect()
}

fn gather(place: &TensorPlace, values: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * place.rows * place.columns);
    for_each_index(place, |index| bytes.extend_from_slice(&values[index].to_le_bytes()));
    bytes
}

/// Copies the tensors of a file into a flat vector.
pub(crate) fn scatter_all(
    places: &[TensorPlace],
    file: &SafeTensors,
    prefix: &str,
    values: &mut [f32],
) -> Result<(), ModelError> {
    for place in places {
        let name = format!("{prefix}{}", place.name);
        let view = file.tensor(&name).map_err(|_| fault(&name, "is missing".into()))?;
        if view.dtype() != Dtype::F32 {
            return Err(fault(&name, format!("has type {:?}, want F32", view.dtype())));
        }
        if view.shape() != place.shape() {
            return Err(fault(&name, format!("has shape {:?}, want {:?}", view.shape(), place.shape())));
        }
        let mut numbers = view.data().as_chunks::<4>().0.iter();
        for_each_index(place, |index| {
            values[index] = numbers.next().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        });
    }
    Ok(())
}

/// Visits the flat indices of a tensor in the order of the file.
pub(crate) fn for_each_index(place: &TensorPlace, mut visit: impl FnMut(usize)) {
    let at = |row: usize, column: usize| place.offset + row * place.stride + column;
    if place.kind == TensorKind::Linear {
        (0..place.columns).for_each(|column| (0..place.rows).for_each(|row| visit(at(row, column))));
    } else {
        (0..place.rows).for_each(|row| (0..place.columns).for_each(|column| visit(at(row, column))));
    }
}

pub(crate) fn fault(tensor: &str, reason: String) -> ModelError {
    ModelError::Tensor { tensor: tensor.to_owned(), reason }
}
