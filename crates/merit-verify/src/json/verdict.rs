//! What a check of structured output found: one value per layer, each with the places that cost it.

use super::parse::Fault;
use super::schema::Failure;
use merit_core::Judgement;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most failures that are kept per layer.
pub(crate) const EVIDENCE_KEPT: usize = 16;

/// The verdict on one output. `Unreadable`: it is not JSON as demanded. `Refused`: it passes a size limit and was not read. The
/// score is the weighted mean of the layers that apply; absent also where none does.
pub type JsonVerdict = Judgement<JsonDetail>;

/// What was found in each layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JsonDetail {
    /// Is it strict JSON in the demanded wrapping, without repeated keys?
    pub parse: Layer,
    /// Are the expected keys there, and no others?
    pub structure: Layer,
    /// Do the values obey the schema?
    pub types: Layer,
    /// Do the fields say what the reference says?
    pub content: Layer,
    /// Whether the whole schema is satisfied. Absent without a schema, or when nothing could be read.
    pub valid: Option<bool>,
    /// The value as far as it could be read.
    pub value: Option<Value>,
    /// First and last byte position (exclusive) of what was read as the value. Absent when nothing was.
    pub extracted: Option<(usize, usize)>,
    /// Departures from strict JSON, at positions counted from the start of what was extracted.
    pub faults: Vec<Fault>,
    /// Pointers of repeated keys.
    pub duplicates: Vec<String>,
}

/// One layer of credit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// From 0 to 1. Absent when the layer does not apply: no schema, no reference, nothing expected.
    pub value: Option<f64>,
    /// Its share in the score, before the weights of layers that apply are brought to 1.
    pub weight: f64,
    /// The first places that cost it, at most 16.
    pub failures: Vec<Failure>,
}

impl JsonDetail {
    /// The layers by name, in order.
    pub fn layers(&self) -> [(&'static str, &Layer); 4] {
        [
            ("parse", &self.parse),
            ("structure", &self.structure),
            ("types", &self.types),
            ("content", &self.content),
        ]
    }

    /// The score of the layers.
    pub(crate) fn total(&self) -> Option<f64> {
        let applying: Vec<(f64, f64)> = self
            .layers()
            .iter()
            .filter_map(|(_, layer)| layer.value.map(|value| (value, layer.weight)))
            .collect();
        let weight: f64 = applying.iter().map(|(_, weight)| weight).sum();
        let sum: f64 = applying.iter().map(|(value, weight)| value * weight).sum();
        // Without any weight on the layers that apply there is nothing to go by.
        (weight > 0.0).then(|| (sum / weight).clamp(0.0, 1.0))
    }
}
