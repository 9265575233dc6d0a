//! The verifier over records, each with an output and perhaps a schema and a reference; and its verdict in words.

use super::given::given_as;
use super::{JsonConfig, JsonDetail, JsonVerdict, JsonVerifier};
use crate::records::{Kept, present};
use merit_core::printable::piece;
use merit_core::{Conclusion, Envelope, Verifier};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Schemas that are kept compiled.
const SCHEMAS: usize = 256;

/// Judges records of structured output; schemas that records bring are compiled once.
#[derive(Debug)]
pub struct JsonRecords {
    config: JsonConfig,
    /// By the text of the schema; empty for that of the settings, or none.
    by_schema: Kept<String, JsonVerifier>,
}

/// An output, and what it is held against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JsonRecord<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "policy")]
    settings: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Cow<'a, str>,
    /// Takes the place of that in the settings.
    #[serde(borrow, default)]
    schema: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    reference: Option<&'a RawValue>,
}

impl Verifier for JsonRecords {
    type Settings = JsonConfig;
    type Record<'a> = JsonRecord<'a>;
    type Detail = JsonDetail;

    fn compile(config: JsonConfig) -> Result<Self, String> {
        // Weights may be on layers that only a schema has, which the records bring.
        let schema = config.schema.clone().or(Some(Value::Bool(true)));
        JsonVerifier::compile(JsonConfig { schema, ..config.clone() }).map_err(|e| e.to_string())?;
        Ok(Self { config, by_schema: Kept::new(SCHEMAS) })
    }

    fn envelope<'a>(record: &Self::Record<'a>) -> Envelope<'a> {
        Envelope { id: record.id, settings: record.settings }
    }

    fn judge(&self, record: &JsonRecord<'_>) -> Result<JsonVerdict, String> {
        let text = record.schema.map_or("", RawValue::get);
        let verifier = self.by_schema.get(text, || self.with_schema(record.schema))?;
        let reference = record.reference.map(|given| given_as("reference", given.get())).transpose()?;
        Ok(verifier.verify(&record.output, reference.as_ref()))
    }

    fn explain(verdict: &JsonVerdict) -> Vec<String> {
        let mut lines: Vec<String> = match &verdict.conclusion {
            Conclusion::Pass | Conclusion::Fail => Vec::new(),
            Conclusion::Unreadable { why } => vec![format!("not JSON as demanded: {}", piece(why))],
            other => vec![piece(&other.to_string())],
        };
        for (name, layer) in verdict.layers() {
            let value = layer.value.map_or("does not apply".to_owned(), |value| format!("{value:.4}"));
            lines.push(format!("{name} (weight {}): {value}", layer.weight));
            for failure in &layer.failures {
                let place = if failure.path.is_empty() { "the whole" } else { &failure.path };
                lines.push(format!("  {}: {}", piece(place), piece(&failure.why)));
            }
        }
        lines
    }
}

impl JsonRecords {
    fn with_schema(&self, schema: Option<&RawValue>) -> Result<JsonVerifier, String> {
        let mut config = self.config.clone();
        if let Some(schema) = schema {
            config.schema = Some(given_as("schema", schema.get())?);
        }
        JsonVerifier::compile(config).map_err(|e| e.to_string())
    }
}
