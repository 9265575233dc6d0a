//! Does a value satisfy a schema? Failures come with the pointer of the value and what kind of failure it is.

use super::local::local_failure;
use super::node::{Node, NodeId, ObjectRules, Schema};
use crate::json::canonical::{Numbers, spell};
use crate::json::limits::{Budget, Exhausted};
use crate::json::path::Pointer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What kind of rule a value breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A key that has to be there is not.
    Missing,
    /// A key or element that must not be there is.
    Unknown,
    /// The value has the wrong type.
    Type,
    /// The value has the right type and breaks another rule.
    Value,
}

/// A rule that a value breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Pointer of the value; for a missing or unknown key, of that key.
    pub path: String,
    pub kind: FailureKind,
    /// What was demanded and what was found.
    pub why: String,
}

/// One validation: failures so far, the first of them kept.
pub(crate) struct Validation<'a> {
    schema: &'a Schema,
    budget: &'a mut Budget,
    pointer: Pointer,
    /// How many failures to keep; alternatives are tried without keeping any.
    keep: usize,
    pub(crate) failures: Vec<Failure>,
}

/// Most failures that are kept as evidence.
pub(crate) const FAILURES_KEPT: usize = 16;

type Checked = Result<bool, Exhausted>;

impl<'a> Validation<'a> {
    pub(crate) fn new(schema: &'a Schema, budget: &'a mut Budget) -> Self {
        Self { schema, budget, pointer: Pointer::default(), keep: FAILURES_KEPT, failures: Vec::new() }
    }

    /// Whether `value` satisfies the schema.
    pub(crate) fn run(&mut self, value: &Value) -> Checked {
        self.check(self.schema.root(), value)
    }

    /// Whether `value` satisfies one subschema, without evidence.
    pub(crate) fn holds(&mut self, id: NodeId, value: &Value) -> Checked {
        let keep = std::mem::replace(&mut self.keep, 0);
        let holds = self.check(id, value);
        self.keep = keep;
        holds
    }

    fn fail(&mut self, kind: FailureKind, why: impl FnOnce() -> String) -> bool {
        if self.failures.len() < self.keep {
            let path = self.pointer.as_str().to_owned();
            self.failures.push(Failure { path, kind, why: why() });
        }
        false
    }

    fn check(&mut self, id: NodeId, value: &Value) -> Checked {
        self.budget.spend(1)?;
        let schema = self.schema;
        let node = schema.node(id);
        let mut holds = match local_failure(node, value, self.budget)? {
            Some((kind, why)) => self.fail(kind, || why),
            None => true,
        };
        // Without evidence to gather, the first failure decides.
        if !holds && self.keep == 0 {
            return Ok(false);
        }
        match value {
            Value::Object(map) => holds &= self.object(&node.object, map)?,
            Value::Array(items) => holds &= self.array(node, items)?,
            _ => {}
        }
        Ok(self.combined(node, value)? && holds)
    }

    fn combined(&mut self, node: &Node, value: &Value) -> Checked {
        let mut holds = true;
        for id in node.reference.iter().chain(&node.all_of) {
            holds &= self.check(*id, value)?;
        }
        if !node.any_of.is_empty() && self.count_holding(&node.any_of, value, 1)? == 0 {
            let alternatives = node.any_of.len();
            holds =
                self.fail(FailureKind::Value, || format!("satisfies none of {alternatives} alternatives"));
        }
        if !node.one_of.is_empty() {
            let alternatives = node.one_of.len();
            holds &= match self.count_holding(&node.one_of, value, 2)? {
                1 => true,
                0 => {
                    self.fail(FailureKind::Value, || format!("satisfies none of {alternatives} alternatives"))
                }
                _ => self.fail(FailureKind::Value, || "satisfies more than one alternative".to_owned()),
            };
        }
        if let Some(id) = node.not
            && self.holds(id, value)?
        {
            holds = self.fail(FailureKind::Value, || "satisfies what it must not".to_owned());
        }
        let dependent = node.object.schema_with.iter().filter(|(key, _)| value.get(key).is_some());
        for (_, id) in dependent {
            holds &= self.check(*id, value)?;
        }
        if let Some(condition) = node.condition {
            let branch = if self.holds(condition, value)? { node.then } else { node.otherwise };
            if let Some(id) = branch {
                holds &= self.check(id, value)?;
            }
        }
        Ok(holds)
    }

    fn count_holding(&mut self, ids: &[NodeId], value: &Value, enough: usize) -> Result<usize, Exhausted> {
        let mut count = 0;
        for id in ids {
            if self.holds(*id, value)? {
                count += 1;
            }
            if count == enough {
                break;
            }
        }
        Ok(count)
    }

    fn object(&mut self, rules: &ObjectRules, map: &Map<String, Value>) -> Checked {
        let mut holds = self.required(rules, map);
        for (key, value) in map {
            self.budget.spend(1)?;
            let mark = self.pointer.key(key);
            if let Some(id) = rules.names {
                holds &= self.check(id, &Value::String(key.clone()))?;
            }
            let mut is_declared = false;
            if let Some(id) = rules.properties.get(key) {
                is_declared = true;
                holds &= self.check(*id, value)?;
            }
            for (pattern, id) in &rules.patterns {
                self.budget.spend(1 + key.len() as u64 / 16)?;
                if pattern.is_match(key) {
                    is_declared = true;
                    holds &= self.check(*id, value)?;
                }
            }
            if let Some(id) = rules.additional.filter(|_| !is_declared) {
                holds &= match self.schema.node(id).always {
                    Some(false) => {
                        self.fail(FailureKind::Unknown, || "a key that the schema does not allow".to_owned())
                    }
                    _ => self.check(id, value)?,
                };
            }
            self.pointer.back(mark);
        }
        Ok(holds)
    }

    fn required(&mut self, rules: &ObjectRules, map: &Map<String, Value>) -> bool {
        let dependent =
            rules.required_with.iter().filter(|(key, _)| map.contains_key(key)).flat_map(|(_, keys)| keys);
        let mut holds = true;
        for key in rules.required.iter().chain(dependent).filter(|key| !map.contains_key(*key)) {
            let mark = self.pointer.key(key);
            holds = self.fail(FailureKind::Missing, || "a key that the schema requires".to_owned());
            self.pointer.back(mark);
        }
        holds
    }

    fn array(&mut self, node: &Node, items: &[Value]) -> Checked {
        let rules = &node.array;
        let mut holds = true;
        for (i, item) in items.iter().enumerate() {
            let Some(id) = rules.prefix.get(i).copied().or(rules.items) else { break };
            let mark = self.pointer.index(i);
            holds &= match self.schema.node(id).always {
                Some(false) => {
                    self.fail(FailureKind::Unknown, || "an element that the schema does not allow".to_owned())
                }
                _ => self.check(id, item)?,
            };
            self.pointer.back(mark);
        }
        if let Some(id) = rules.contains {
            let mut count = 0u64;
            for item in items {
                count += u64::from(self.holds(id, item)?);
            }
            let (min, max) = (rules.min_contains.unwrap_or(1), rules.max_contains.unwrap_or(u64::MAX));
            if count < min || count > max {
                let why = move || {
                    format!(
                        "{count} elements are of the kind that `contains` counts, not {min} or more within the limit"
                    )
                };
                holds = self.fail(FailureKind::Value, why);
            }
        }
        if rules.is_unique && items.len() > 1 {
            self.budget.spend(items.len() as u64)?;
            let mut seen = BTreeSet::new();
            if !items.iter().all(|item| seen.insert(spell(item, Numbers::Value))) {
                holds = self.fail(FailureKind::Value, || "the same element twice".to_owned());
            }
        }
        Ok(holds)
    }
}
