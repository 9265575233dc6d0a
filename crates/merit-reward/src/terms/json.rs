//! Structured output, after RL-Struct's layered reward: strict JSON, the expected keys, the demanded types, the right content.
//!
//! The value is the weighted mean of the layers that apply. Text that is not the demanded JSON is a parse failure, unless
//! `broken = "credit"` lets the layers that are defined on broken text count. The schema stands in the file, or with each
//! task. Content is compared where `reference` says with what; by default only valid JSON earns content, and an empty value
//! or the schema handed back earns nothing.

use super::kept::Kept;
use super::pay::Pay;
use super::reading::{Reading, Reference, check_pointer};
use crate::term::{Finding, Nature, Settings, Term, TermConfig, View, term_config};
use crate::{Component, Problem};
use merit_core::{About, Episode, Evidence};
use merit_verify::Conclusion;
use merit_verify::json::{JsonConfig as Check, JsonVerdict, JsonVerifier, parse};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

pub(crate) const JSON: Component = Component {
    about: About {
        name: "json",
        summary: "Structured output in layers: strict JSON, expected keys, demanded types, right content.",
        paper: "RL-Struct: A Lightweight Reinforcement Learning Framework for Reliable Structured Output in LLMs (2025)",
    },
    example: r#"
type = "json"
reference = { pointer = "/order" }
broken = "credit"

[check]
extract = "fenced"
gate = "valid"
weights = { parse = 0.05, structure = 0.05, types = 0.1, content = 0.8 }
schema = { type = "object", required = ["item"], properties = { item = { type = "string" }, n = { type = "integer" } } }
"#,
};

term_config! {
    /// `json`
    pub struct JsonConfig of JSON {
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
}

/// What text that is not the demanded JSON is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokenJson {
    /// A parse failure, whatever could be made of it.
    #[default]
    ParseFailure,
    /// Worth what its layers earn.
    Credit,
}

impl TermConfig for JsonConfig {
    fn settings(&self) -> Settings {
        self.common()
    }

    fn nature(&self) -> Nature {
        Nature { parses: self.broken == BrokenJson::ParseFailure, ..Nature::PARSED_VERDICT }
    }

    fn term(&self) -> Result<Box<dyn Term>, Problem> {
        self.reading.check()?;
        self.reference.as_ref().map_or(Ok(()), Reference::check)?;
        if let Some(pointer) = &self.schema_at {
            check_pointer("schema_at", pointer)?;
            if self.check.schema.is_some() {
                let text = "the schema stands both in `check.schema` and at `schema_at`; give one of them";
                return Err(Problem::Setting(text.to_owned()));
            }
        }
        let verifier = JsonVerifier::compile(self.check.clone());
        let verifier = Arc::new(verifier.map_err(|why| Problem::Setting(format!("`check`: {why}")))?);
        Ok(Box::new(Json { config: self.clone(), verifier, kept: Kept::default() }))
    }
}

struct Json {
    config: JsonConfig,
    verifier: Arc<JsonVerifier>,
    /// Verifiers of schemas that stand with tasks.
    kept: Kept<JsonVerifier>,
}

impl Term for Json {
    fn look(&self, view: &View<'_>) -> Finding {
        self.judge(view.episode).unwrap_or_else(|finding| finding)
    }
}

impl Json {
    fn judge(&self, episode: &Episode) -> Result<Finding, Finding> {
        let verifier = self.verifier(episode)?;
        let reference =
            self.config.reference.as_ref().map(|from| self.reference(from, episode)).transpose()?;
        let text = self.config.reading.judged(episode)?;
        Ok(self.finding(&verifier.verify(&text, reference.as_ref())))
    }

    fn verifier(&self, episode: &Episode) -> Result<Arc<JsonVerifier>, Finding> {
        let Some(pointer) = &self.config.schema_at else { return Ok(Arc::clone(&self.verifier)) };
        let missing = || Finding::not_applicable(format!("the task's payload has no schema at `{pointer}`"));
        let schema = episode.task.payload.pointer(pointer).filter(|s| !s.is_null()).ok_or_else(missing)?;
        let make = || {
            let check = Check { schema: Some(schema.clone()), ..self.config.check.clone() };
            JsonVerifier::compile(check).map_err(|why| format!("the task's schema at `{pointer}`: {why}"))
        };
        self.kept.get(schema, make).map_err(Finding::broken)
    }

    fn reference(&self, from: &Reference, episode: &Episode) -> Result<Value, Finding> {
        let value = from.of(episode).ok_or_else(|| Finding::not_applicable(from.missing()))?.into_owned();
        if !matches!(from, Reference::Answer) {
            return Ok(value);
        }
        let parsed = parse(value.as_str().unwrap_or_default(), &self.config.check.limits);
        let strict = parsed.is_strict();
        parsed
            .value
            .filter(|_| strict)
            .ok_or_else(|| Finding::broken("the task's right answer is not strict JSON"))
    }

    fn finding(&self, verdict: &JsonVerdict) -> Finding {
        let layers = Evidence::new("compared", layers(verdict));
        match (&verdict.conclusion, verdict.score) {
            (Conclusion::Unreadable { why }, Some(score)) if self.config.broken == BrokenJson::Credit => {
                let read = format!("not the demanded JSON: {why}");
                Finding::value(score, Evidence::new("parsed", read)).with_evidence(layers)
            }
            (Conclusion::Pass | Conclusion::Fail, Some(_)) => {
                let read = Evidence::new("parsed", "strict JSON");
                Finding::judged(verdict, Pay::Score, read).with_evidence(layers)
            }
            _ => Finding::judged(verdict, Pay::Score, layers),
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
