//! Does the output say what the reference says? The share of the reference's fields that agree, less what was added.
//!
//! A field is a scalar or an empty container of the reference. Elements of an unordered array are right as a whole or
//! not at all. A place whose key was written twice agrees with nothing.

use super::canonical::{brief, equal};
use super::config::{Compare, ContentConfig, ExtraFields};
use super::limits::{Budget, Exhausted};
use super::matching;
use super::number;
use super::path::Pointer;
use super::schema::{Failure, FailureKind};
use super::verdict::EVIDENCE_KEPT;
use serde_json::{Map, Value};

/// What a comparison of fields counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agreement {
    pub(crate) fields: f64,
    pub(crate) agreeing: f64,
    pub(crate) extra: f64,
    pub(crate) failures: Vec<Failure>,
}

impl Agreement {
    /// The content layer; absent when no field is compared.
    pub(crate) fn share(&self) -> Option<f64> {
        (self.fields > 0.0).then(|| (self.agreeing - self.extra).max(0.0) / self.fields)
    }

    fn is_full(&self) -> bool {
        self.agreeing == self.fields && self.extra == 0.0
    }
}

/// A comparison of an output with its reference.
pub(crate) struct Comparison<'a> {
    pub(crate) config: &'a ContentConfig,
    /// Pointers of keys that occur twice in the output.
    pub(crate) duplicates: &'a [String],
    pub(crate) budget: &'a mut Budget,
    pointer: Pointer,
    found: Agreement,
}

type Walked = Result<(), Exhausted>;

impl<'a> Comparison<'a> {
    pub(crate) fn new(config: &'a ContentConfig, duplicates: &'a [String], budget: &'a mut Budget) -> Self {
        Self { config, duplicates, budget, pointer: Pointer::default(), found: Agreement::default() }
    }

    /// Compares the whole documents.
    pub(crate) fn run(mut self, reference: &Value, output: Option<&Value>) -> Result<Agreement, Exhausted> {
        self.walk(reference, output)?;
        Ok(self.found)
    }

    fn rule(&self) -> Compare {
        let rules = &self.config.fields;
        let pointer = self.pointer.as_str();
        rules.iter().find(|rule| rule.path.matches(pointer)).map_or(Compare::Exact, |rule| rule.compare)
    }

    fn fail(&mut self, kind: FailureKind, why: impl FnOnce() -> String) {
        if self.found.failures.len() < EVIDENCE_KEPT {
            let path = self.pointer.as_str().to_owned();
            self.found.failures.push(Failure { path, kind, why: why() });
        }
    }

    fn walk(&mut self, reference: &Value, output: Option<&Value>) -> Walked {
        self.budget.spend(1)?;
        let rule = self.rule();
        if matches!(rule, Compare::Ignore) {
            return Ok(());
        }
        let mut output = output;
        if output.is_some() && self.duplicates.iter().any(|path| path == self.pointer.as_str()) {
            self.fail(FailureKind::Value, || "the key is written twice, so it says nothing".to_owned());
            output = None;
        }
        match (reference, output) {
            (Value::Array(want), Some(Value::Array(got)))
                if matches!(rule, Compare::Unordered) && !want.is_empty() =>
            {
                self.unordered(want, got)
            }
            (Value::Object(want), got) if !want.is_empty() => self.object(want, got),
            (Value::Array(want), got) if !want.is_empty() => self.array(want, got),
            (want, got) => {
                self.field(want, got, rule);
                Ok(())
            }
        }
    }

    fn object(&mut self, want: &Map<String, Value>, output: Option<&Value>) -> Walked {
        let got = output.and_then(Value::as_object);
        if output.is_some() && got.is_none() {
            self.fail(FailureKind::Type, || "not an object".to_owned());
        }
        for (key, value) in want {
            let mark = self.pointer.key(key);
            self.walk(value, got.and_then(|got| got.get(key)))?;
            self.pointer.back(mark);
        }
        for key in got.into_iter().flat_map(Map::keys).filter(|key| !want.contains_key(*key)) {
            let mark = self.pointer.key(key);
            self.extra()?;
            self.pointer.back(mark);
        }
        Ok(())
    }

    fn array(&mut self, want: &[Value], output: Option<&Value>) -> Walked {
        let got = output.and_then(Value::as_array);
        if output.is_some() && got.is_none() {
            self.fail(FailureKind::Type, || "not an array".to_owned());
        }
        for (i, value) in want.iter().enumerate() {
            let mark = self.pointer.index(i);
            self.walk(value, got.and_then(|got| got.get(i)))?;
            self.pointer.back(mark);
        }
        for i in want.len()..got.map_or(0, Vec::len) {
            let mark = self.pointer.index(i);
            self.extra()?;
            self.pointer.back(mark);
        }
        Ok(())
    }

    fn extra(&mut self) -> Walked {
        self.budget.spend(1)?;
        if self.config.extra_fields == ExtraFields::Subtract && !matches!(self.rule(), Compare::Ignore) {
            self.found.extra += 1.0;
            self.fail(FailureKind::Unknown, || "the reference does not have it".to_owned());
        }
        Ok(())
    }

    fn unordered(&mut self, want: &[Value], got: &[Value]) -> Walked {
        // Past this many elements the rest is surplus anyway; the cost stays in proportion to the reference.
        let looked_at = got.len().min(want.len().saturating_mul(2).saturating_add(16));
        let pairs = matching::pair(want.len(), looked_at, &mut *self.budget, |w, g, budget| {
            let duplicates = [];
            let mut aside = Comparison::new(self.config, &duplicates, budget);
            aside.pointer = self.pointer.clone();
            aside.pointer.index(w);
            aside.walk(&want[w], Some(&got[g]))?;
            Ok(aside.found.is_full())
        })?;
        for (i, (value, pair)) in want.iter().zip(&pairs).enumerate() {
            let mark = self.pointer.index(i);
            self.walk(value, pair.map(|_| value))?;
            self.pointer.back(mark);
        }
        let over = got.len().saturating_sub(want.len());
        if over > 0 && self.config.extra_fields == ExtraFields::Subtract {
            self.found.extra += over as f64;
            self.fail(FailureKind::Unknown, || format!("{over} elements more than the reference has"));
        }
        Ok(())
    }

    fn field(&mut self, want: &Value, got: Option<&Value>, rule: Compare) {
        self.found.fields += 1.0;
        match got {
            Some(got) if agrees(want, got, rule) => self.found.agreeing += 1.0,
            Some(got) => self.fail(FailureKind::Value, || format!("{} is not {}", brief(got), brief(want))),
            None => self.fail(FailureKind::Missing, || format!("nothing where {} should be", brief(want))),
        }
    }
}

fn agrees(want: &Value, got: &Value, rule: Compare) -> bool {
    match (rule, want, got) {
        (Compare::Number { absolute, relative }, Value::Number(want), Value::Number(got)) => {
            let (want, got) = (number::double(want), number::double(got));
            (want - got).abs() <= absolute + relative * want.abs()
        }
        (Compare::Text { ignore_case, ignore_space }, Value::String(want), Value::String(got)) => {
            let fold = |text: &str| {
                let text = if ignore_space {
                    text.split_whitespace().collect::<Vec<_>>().join(" ")
                } else {
                    text.to_owned()
                };
                if ignore_case { text.to_lowercase() } else { text }
            };
            fold(want) == fold(got)
        }
        _ => equal(want, got),
    }
}
