//! The verifier of structured output: extraction, then one layer after the other.

use super::canonical::equal;
use super::config::{ConfigError, Empty, Gate, JsonConfig};
use super::content::Comparison;
use super::credit::Walk;
use super::extract::{Found, extract, first_fault};
use super::limits::{Budget, Exhausted, TooLarge};
use super::nested;
use super::schema::{Failure, FailureKind, Schema, Validation};
use super::verdict::{JsonDetail, JsonVerdict, Layer};
use merit_core::{Conclusion, Judgement};
use serde_json::Value;
use std::borrow::Cow;

/// Judges structured output. Holds no state between outputs; may be shared by threads.
///
/// ```
/// use merit_verify::Conclusion;
/// use merit_verify::json::{JsonConfig, JsonVerifier};
/// use serde_json::json;
/// let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
/// let verifier = JsonVerifier::compile(JsonConfig { schema: Some(schema), ..JsonConfig::default() })?;
/// let verdict = verifier.verify(r#"{"n": 4}"#, Some(&json!({"n": 4})));
/// assert_eq!((verdict.conclusion, verdict.score), (Conclusion::Pass, Some(1.0)));
/// # Ok::<(), merit_verify::json::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct JsonVerifier {
    config: JsonConfig,
    schema: Option<Schema>,
}

impl JsonVerifier {
    /// Checks the configuration and compiles its schema.
    pub fn compile(config: JsonConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let schema = config
            .schema
            .as_ref()
            .map(|source| Schema::compile(source, config.unknown_keywords))
            .transpose()?;
        schema.iter().try_for_each(|schema| schema.refuse_depth(&config.limits))?;
        Ok(Self { config, schema })
    }

    /// Judges `output`, its content against `reference` where one is given.
    pub fn verify(&self, output: &str, reference: Option<&Value>) -> JsonVerdict {
        let mut detail = self.blank();
        let reference = match reference.map(|reference| self.read_reference(reference)).transpose() {
            Ok(reference) => reference,
            Err(limit) => {
                let why = format!("the reference is {limit}");
                return Judgement::unmeasured(Conclusion::bad_reference(why), detail);
            }
        };
        let reference = reference.as_deref();
        let wanted = |value: &Value| self.may_be_meant(value, reference);
        let found = extract(output, self.config.extract, &self.config.limits, &wanted);
        if let Some(limit) = found.parsed.too_large {
            detail.parse.value = Some(0.0);
            return Judgement::unmeasured(Conclusion::refused(format!("the output is {limit}")), detail);
        }
        match self.judge(&mut detail, found, reference) {
            Ok(conclusion) => Judgement { conclusion, score: detail.total(), detail },
            Err(exhausted) => Judgement::unmeasured(Conclusion::grader_failed(exhausted.to_string()), detail),
        }
    }

    fn read_reference<'r>(&self, reference: &'r Value) -> Result<Cow<'r, Value>, TooLarge> {
        self.config.limits.admit(reference)?;
        if self.config.nested.is_empty() {
            return Ok(Cow::Borrowed(reference));
        }
        let mut unfolded = reference.clone();
        nested::unfold(&mut unfolded, &self.config.nested, &self.config.limits);
        self.config.limits.admit(&unfolded)?;
        Ok(Cow::Owned(unfolded))
    }

    /// The value with the documents inside its strings read; what is wrong with the first that holds none.
    fn unfold(&self, value: Option<Value>) -> (Option<Value>, Option<String>) {
        let Some(mut value) = value else { return (None, None) };
        if self.config.nested.is_empty() {
            return (Some(value), None);
        }
        let failed = nested::unfold(&mut value, &self.config.nested, &self.config.limits);
        if let Err(limit) = self.config.limits.admit(&value) {
            return (None, Some(format!("with the JSON inside its strings the output is {limit}")));
        }
        (Some(value), failed.first().map(|path| format!("the string at `{path}` holds no JSON")))
    }

    fn blank(&self) -> JsonDetail {
        let layer = |weight| Layer { weight, ..Layer::default() };
        let weights = self.config.weights;
        JsonDetail {
            parse: layer(weights.parse),
            structure: layer(weights.structure),
            types: layer(weights.types),
            content: layer(weights.content),
            valid: None,
            value: None,
            extracted: None,
            faults: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    /// Whether a value found in prose can be the answer: of a type that the schema or the reference has.
    fn may_be_meant(&self, value: &Value, reference: Option<&Value>) -> bool {
        let kinds = self.schema.as_ref().and_then(|schema| schema.node(schema.root()).kinds);
        match (kinds, reference) {
            (Some(kinds), _) => kinds.accepts(value),
            (None, Some(reference)) => std::mem::discriminant(reference) == std::mem::discriminant(value),
            (None, None) => true,
        }
    }

    fn judge(
        &self,
        verdict: &mut JsonDetail,
        found: Found,
        reference: Option<&Value>,
    ) -> Result<Conclusion, Exhausted> {
        let mut budget = Budget::new(self.config.limits.steps);
        let fault = first_fault(&found);
        let (value, unread) = self.unfold(found.parsed.value);
        let fault = fault.or(unread);
        let is_strict = fault.is_none() && value.is_some();
        verdict.parse.value = Some(f64::from(u8::from(is_strict)));
        verdict.parse.failures.extend(fault.as_ref().map(|why| note(FailureKind::Value, why)));
        verdict.extracted = value.as_ref().map(|_| (found.start, found.end));
        verdict.faults = found.parsed.faults;
        verdict.duplicates = found.parsed.duplicates;

        self.judge_shape(verdict, value.as_ref(), &mut budget)?;
        self.judge_content(verdict, value.as_ref(), reference, is_strict, &mut budget)?;
        if let Some(why) = value.as_ref().and_then(|value| self.worthless(value, reference)) {
            take_credit(verdict, why);
        }
        verdict.value = value;
        let is_full = verdict.layers().iter().all(|(_, layer)| layer.value.is_none_or(|value| value >= 1.0));
        Ok(match fault {
            Some(why) => Conclusion::unreadable(why),
            None if !is_strict => Conclusion::unreadable("no JSON in the output"),
            None => Conclusion::of(is_full && verdict.valid != Some(false)),
        })
    }

    /// The layers of structure and types.
    fn judge_shape(
        &self,
        verdict: &mut JsonDetail,
        value: Option<&Value>,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let mut tally = Walk::new(schema, budget).run(value)?;
        for path in &verdict.duplicates {
            tally.unknown += 1.0;
            let why = "a key that is written twice".to_owned();
            tally
                .structure_failures
                .insert(0, Failure { path: path.clone(), kind: FailureKind::Unknown, why });
        }
        verdict.structure.value = tally.structure();
        verdict.types.value = tally.types();
        verdict.structure.failures = tally.structure_failures;
        verdict.types.failures = tally.type_failures;
        if let Some(value) = value {
            let mut validation = Validation::new(schema, budget);
            let is_valid = validation.run(value)?;
            verdict.valid = Some(is_valid);
            // What partial credit does not count (alternatives, `not`, dependencies) still has to be shown.
            if !is_valid && verdict.types.failures.is_empty() {
                verdict.types.failures = validation.failures;
            }
        }
        Ok(())
    }

    fn judge_content(
        &self,
        verdict: &mut JsonDetail,
        value: Option<&Value>,
        reference: Option<&Value>,
        is_strict: bool,
        budget: &mut Budget,
    ) -> Result<(), Exhausted> {
        let Some(reference) = reference else { return Ok(()) };
        let agreement =
            Comparison::new(&self.config.content, &verdict.duplicates, budget).run(reference, value)?;
        verdict.content.value = agreement.share();
        verdict.content.failures = agreement.failures;
        let closed = match self.config.gate {
            Gate::None => None,
            _ if !is_strict => Some("content counts only in strict JSON"),
            Gate::Valid if verdict.valid == Some(false) => {
                Some("content counts only where the schema is satisfied")
            }
            Gate::Parsed | Gate::Valid => None,
        };
        if let (Some(why), Some(share)) = (closed, verdict.content.value.as_mut()) {
            *share = 0.0;
            verdict.content.failures.insert(0, note(FailureKind::Value, why));
        }
        Ok(())
    }

    /// Why a value that parses earns nothing: it is empty, or the schema handed back.
    fn worthless(&self, value: &Value, reference: Option<&Value>) -> Option<&'static str> {
        if reference.is_some_and(|reference| equal(reference, value)) {
            return None;
        }
        let is_empty = match value {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        if is_empty && self.config.empty == Empty::Refuse {
            return Some("an empty value earns nothing");
        }
        let is_schema = self.schema.as_ref().is_some_and(|schema| equal(schema.source(), value));
        is_schema.then_some("the schema handed back earns nothing")
    }
}

fn note(kind: FailureKind, why: &str) -> Failure {
    Failure { path: String::new(), kind, why: why.to_owned() }
}

fn take_credit(verdict: &mut JsonDetail, why: &'static str) {
    for layer in [&mut verdict.parse, &mut verdict.structure, &mut verdict.types, &mut verdict.content] {
        if let Some(value) = layer.value.as_mut().filter(|value| **value > 0.0) {
            *value = 0.0;
            layer.failures.insert(0, note(FailureKind::Value, why));
        }
    }
}
