//! `merit verify json`: is it JSON, of the demanded shape, and does it say the right thing?

use super::kept::Kept;
use super::refusal;
use super::verifier::{Common, Judged, Verifier, present};
use crate::terminal::piece;
use merit_verify::json::{Conclusion, JsonConfig, JsonVerdict, JsonVerifier};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Schemas that are kept compiled.
const SCHEMAS: usize = 256;

pub(super) struct Json {
    config: JsonConfig,
    /// By the text of the schema; empty for the policy's own, or none.
    by_schema: Kept<JsonVerifier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    policy: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Cow<'a, str>,
    /// Takes the place of the policy's.
    #[serde(borrow, default)]
    schema: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    reference: Option<Value>,
}

impl Verifier for Json {
    type Policy = JsonConfig;
    type Record<'a> = Record<'a>;
    type Verdict = JsonVerdict;

    fn compile(config: JsonConfig) -> Result<Self, String> {
        // Weights may be on layers that only a schema has, which the records bring.
        let schema = config.schema.clone().or(Some(Value::Bool(true)));
        JsonVerifier::compile(JsonConfig { schema, ..config.clone() }).map_err(|e| e.to_string())?;
        Ok(Self { config, by_schema: Kept::new(SCHEMAS) })
    }

    fn common<'a>(record: &Self::Record<'a>) -> Common<'a> {
        Common { id: record.id, policy: record.policy }
    }

    fn judge(&self, record: &Record<'_>) -> Result<Judged<JsonVerdict>, String> {
        let text = record.schema.map_or("", RawValue::get);
        let verifier = self.by_schema.get(text, || self.with_schema(record.schema))?;
        let verdict = verifier.verify(&record.output, record.reference.as_ref());
        let passed = match verdict.conclusion {
            Conclusion::Right => Some(true),
            Conclusion::Wrong | Conclusion::ParseFailed { .. } | Conclusion::TooLarge { .. } => Some(false),
            Conclusion::CheckFailed { .. } => None,
        };
        Ok(Judged { passed, score: verdict.score, verdict })
    }

    fn explain(verdict: &JsonVerdict) -> Vec<String> {
        let mut lines: Vec<String> = match &verdict.conclusion {
            Conclusion::Right | Conclusion::Wrong => Vec::new(),
            Conclusion::ParseFailed { why } => vec![format!("not JSON as demanded: {}", piece(why))],
            Conclusion::TooLarge { why } => vec![piece(why)],
            Conclusion::CheckFailed { why } => vec![format!("the check failed: {}", piece(why))],
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

impl Json {
    fn with_schema(&self, schema: Option<&RawValue>) -> Result<JsonVerifier, String> {
        let mut config = self.config.clone();
        if let Some(schema) = schema {
            let schema = serde_json::from_str(schema.get());
            config.schema = Some(schema.map_err(|e| format!("`schema`: {}", refusal::words(&e)))?);
        }
        JsonVerifier::compile(config).map_err(|e| e.to_string())
    }
}
