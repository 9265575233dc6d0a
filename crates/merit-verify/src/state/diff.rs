//! What changed from one state to another, fact by fact.
//!
//! A fact is a scalar or an empty container at its place. What appears or vanishes with a whole subtree is listed leaf by
//! leaf, so that sizes are comparable. Elements of an unordered array are facts as a whole; their place is spelt
//! `/array/{hash}`, which is the same for the same element. In an ordered array, places are positions.

use super::canonical::StateHash;
use super::config::StateConfig;
use crate::json::canonical::spell;
use crate::json::path::{Pointer, named};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A change of one fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// What happened to a fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum ChangeKind {
    /// The place has a value that it did not have before.
    Added { value: Value },
    /// The place has lost its value.
    Removed { value: Value },
    /// It has another value.
    Changed { from: Value, to: Value },
}

/// All changes from one state to another, by place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StateDiff {
    /// In the order of their places.
    pub changes: Vec<Change>,
}

impl StateDiff {
    /// Whether the states are the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// The changes from `from` to `to`, both canonical. `is_part`: keys that `to` does not have are no change.
pub(super) fn diff(config: &StateConfig, from: &Value, to: &Value, is_part: bool) -> StateDiff {
    let mut differ = Differ { config, is_part, at: Pointer::default(), changes: Vec::new() };
    differ.walk(from, to);
    let mut changes = differ.changes;
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    StateDiff { changes }
}

/// How many facts a canonical value holds.
pub(super) fn facts(config: &StateConfig, value: &Value) -> usize {
    let mut differ = Differ { config, is_part: false, at: Pointer::default(), changes: Vec::new() };
    differ.leaves(value, &|value| ChangeKind::Added { value });
    differ.changes.len()
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => true,
    }
}

struct Differ<'a> {
    config: &'a StateConfig,
    is_part: bool,
    at: Pointer,
    changes: Vec<Change>,
}

impl Differ<'_> {
    fn note(&mut self, kind: ChangeKind) {
        self.changes.push(Change { path: self.at.as_str().to_owned(), kind });
    }

    fn walk(&mut self, from: &Value, to: &Value) {
        match (from, to) {
            (Value::Object(a), Value::Object(b)) => {
                for (key, old) in a {
                    let mark = self.at.key(key);
                    match b.get(key) {
                        Some(new) => self.walk(old, new),
                        None if self.is_part => {}
                        None => self.leaves(old, &|value| ChangeKind::Removed { value }),
                    }
                    self.at.back(mark);
                }
                for (key, new) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                    let mark = self.at.key(key);
                    self.leaves(new, &|value| ChangeKind::Added { value });
                    self.at.back(mark);
                }
            }
            (Value::Array(a), Value::Array(b)) if named(&self.config.unordered, self.at.as_str()) => {
                self.bags(a, b)
            }
            (Value::Array(a), Value::Array(b)) => {
                for i in 0..a.len().max(b.len()) {
                    let mark = self.at.index(i);
                    match (a.get(i), b.get(i)) {
                        (Some(old), Some(new)) => self.walk(old, new),
                        (Some(old), None) => self.leaves(old, &|value| ChangeKind::Removed { value }),
                        (None, Some(new)) => self.leaves(new, &|value| ChangeKind::Added { value }),
                        (None, None) => {}
                    }
                    self.at.back(mark);
                }
            }
            (a, b)
                if is_leaf(a)
                    && is_leaf(b)
                    && spell(a, self.config.numbers) == spell(b, self.config.numbers) => {}
            (a, b) if !is_leaf(a) || !is_leaf(b) => {
                self.leaves(a, &|value| ChangeKind::Removed { value });
                self.leaves(b, &|value| ChangeKind::Added { value });
            }
            (a, b) => self.note(ChangeKind::Changed { from: a.clone(), to: b.clone() }),
        }
    }

    /// Every fact of a subtree that appears or vanishes.
    fn leaves(&mut self, value: &Value, kind: &dyn Fn(Value) -> ChangeKind) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    let mark = self.at.key(key);
                    self.leaves(value, kind);
                    self.at.back(mark);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                if named(&self.config.unordered, self.at.as_str()) {
                    self.bag_leaves(items, kind);
                    return;
                }
                for (i, value) in items.iter().enumerate() {
                    let mark = self.at.index(i);
                    self.leaves(value, kind);
                    self.at.back(mark);
                }
            }
            leaf => self.note(kind(leaf.clone())),
        }
    }

    fn bag_leaves(&mut self, items: &[Value], kind: &dyn Fn(Value) -> ChangeKind) {
        for (name, element) in self.bag(items) {
            let mark = self.at.key(&name);
            self.note(kind(element.clone()));
            self.at.back(mark);
        }
    }

    fn bags(&mut self, a: &[Value], b: &[Value]) {
        let (old, new) = (self.bag(a), self.bag(b));
        for (name, element) in old.iter().filter(|(name, _)| !new.contains_key(*name)) {
            let mark = self.at.key(name);
            self.note(ChangeKind::Removed { value: (*element).clone() });
            self.at.back(mark);
        }
        for (name, element) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            let mark = self.at.key(name);
            self.note(ChangeKind::Added { value: (*element).clone() });
            self.at.back(mark);
        }
    }

    /// The elements of an unordered array by name; equal elements are numbered.
    fn bag<'v>(&self, items: &'v [Value]) -> BTreeMap<String, &'v Value> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut bag = BTreeMap::new();
        for item in items {
            let spelling = spell(item, self.config.numbers);
            let hash = StateHash::of(&spelling).to_string();
            let short = hash.get(..16).unwrap_or_default().to_owned();
            let count = seen.entry(spelling).or_insert(0);
            *count += 1;
            let name = if *count == 1 { format!("{{{short}}}") } else { format!("{{{short}}}#{count}") };
            bag.insert(name, item);
        }
        bag
    }
}
