//! Structured output, after RL-Struct's layered reward: strict JSON, the expected keys, the demanded types, the right content.
//!
//! The value is the weighted mean of the layers that apply. Text that is not the demanded JSON is a parse failure, unless
//! `broken = "credit"` lets the layers that are defined on broken text count. The schema stands in the file, or with each
//! task. Content is compared where `reference` says with what; by default only valid JSON earns content, and an empty value
//! or the schema handed back earns nothing.

use crate::KEPT;
use merit_reward::prelude::*;
use merit_reward::terms::check_pointer;
use merit_verify::Conclusion;
use merit_verify::json::{JsonConfig as Check, JsonVerdict, JsonVerifier, parse};
use merit_verify::records::Kept;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Structured output in layers: strict JSON, expected keys, demanded types, right content.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Json {
    /// Where the JSON is looked for.
    #[serde(default)]
    pub reading: Reading,
    /// What the content is compared with; `answer` is the task's right answer as JSON text. Absent: it is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The place of the schema in the task's payload. Absent: the check's own, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_at: Option<String>,
    /// What text that is not the demanded JSON is.
    #[serde(default)]
    pub broken: BrokenJson,
    /// How the output is judged.
    #[serde(default)]
    pub check: Check,
}

impl Component for Json {
    const ABOUT: About = About {
        name: "json",
        summary: "Structured output in layers: strict JSON, expected keys, demanded types, right content.",
        paper: "RL-Struct: A Lightweight Reinforcement Learning Framework for Reliable Structured Output in LLMs (2025)",
    };
    const EXAMPLE: &'static str = r#"
reference = { pointer = "/order" }
broken = "credit"

[check]
extract = "fenced"
gate = "valid"
weights = { parse = 0.05, structure = 0.05, types = 0.1, content = 0.8 }
schema = { type = "object", required = ["item"], properties = { item = { type = "string" }, n = { type = "integer" } } }
"#;

    fn check(&self) -> Result<(), Refusal> {
        self.reading.check()?;
        self.reference.as_ref().map_or(Ok(()), Reference::check)?;
        let Some(pointer) = &self.schema_at else { return Ok(()) };
        check_pointer("schema_at", pointer)?;
        if self.check.schema.is_some() {
            let why = "the schema stands both in `check.schema` and at `schema_at`; give one of them";
            return Err(Refusal::new(why));
        }
        Ok(())
    }
}

impl PreparedTerm for Json {
    type Prepared = Prepared;

    fn kind(&self) -> TermKind {
        TermKind { parses: self.broken == BrokenJson::ParseFailure, ..TermKind::PARSED_VERDICT }
    }

    fn prepare(&self) -> Result<Prepared, Refusal> {
        // Where every task brings a schema, the check is held against any: layers of structure can apply.
        let schema =
            self.check.schema.clone().or_else(|| self.schema_at.is_some().then(|| Value::Object(Map::new())));
        let verifier = JsonVerifier::compile(Check { schema, ..self.check.clone() });
        let verifier = verifier.map_err(|why| Refusal::new(format!("`check`: {why}")))?;
        Ok(Prepared { verifier: Arc::new(verifier), kept: Kept::new(KEPT) })
    }

    fn evaluate(&self, with: &Prepared, context: &EvalContext<'_>) -> Result<TermResult, TermResult> {
        let episode = context.episode;
        let verifier = self.verifier(with, episode)?;
        let reference = self.reference.as_ref().map(|from| self.reference_of(from, episode)).transpose()?;
        let text = self.reading.judged(episode)?;
        Ok(self.result(&verifier.verify(&text, reference.as_ref())))
    }
}

/// Verifiers of the check's own schema and of those that stand with tasks.
pub struct Prepared {
    verifier: Arc<JsonVerifier>,
    kept: Kept<Value, JsonVerifier>,
}

/// What text that is not the demanded JSON is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BrokenJson {
    /// A parse failure, whatever could be made of it.
    #[default]
    ParseFailure,
    /// Value what its layers earn.
    Credit,
}

impl Json {
    fn verifier(&self, with: &Prepared, episode: &Episode) -> Result<Arc<JsonVerifier>, TermResult> {
        let Some(pointer) = &self.schema_at else { return Ok(Arc::clone(&with.verifier)) };
        let missing =
            || TermResult::not_applicable(format!("the task's payload has no schema at `{pointer}`"));
        let schema = episode.task.payload.pointer(pointer).filter(|s| !s.is_null()).ok_or_else(missing)?;
        let make = || {
            let check = Check { schema: Some(schema.clone()), ..self.check.clone() };
            JsonVerifier::compile(check).map_err(|why| format!("the task's schema at `{pointer}`: {why}"))
        };
        with.kept.get(schema, make).map_err(TermResult::broken)
    }

    fn reference_of(&self, from: &Reference, episode: &Episode) -> Result<Value, TermResult> {
        let value = from.of(episode).ok_or_else(|| TermResult::not_applicable(from.missing()))?.into_owned();
        if !matches!(from, Reference::Answer) {
            return Ok(value);
        }
        let parsed = parse(value.as_str().unwrap_or_default(), &self.check.limits);
        let strict = parsed.is_strict();
        parsed
            .value
            .filter(|_| strict)
            .ok_or_else(|| TermResult::broken("the task's right answer is not strict JSON"))
    }

    fn result(&self, verdict: &JsonVerdict) -> TermResult {
        let layers = Evidence::new("compared", layers(verdict));
        match (&verdict.conclusion, verdict.score) {
            (Conclusion::Unreadable { why }, Some(score)) if self.broken == BrokenJson::Credit => {
                let read = format!("not the demanded JSON: {why}");
                TermResult::value(score, Evidence::new("parsed", read)).with_evidence(layers)
            }
            (Conclusion::Pass | Conclusion::Fail, Some(_)) => {
                let read = Evidence::new("parsed", "strict JSON");
                TermResult::judged(verdict, Pay::Score, read).with_evidence(layers)
            }
            _ => TermResult::judged(verdict, Pay::Score, layers),
        }
    }
}

/// Every layer that applies, and the first place that cost it.
fn layers(verdict: &JsonVerdict) -> String {
    let shown = verdict.layers().into_iter().filter_map(|(name, layer)| {
        let value = layer.value?;
        let first = layer.failures.first().map_or_else(String::new, |f| format!(" ({}: {})", f.path, f.why));
        Some(format!("{name} {value:.4}{first}"))
    });
    shown.collect::<Vec<String>>().join(", ")
}
