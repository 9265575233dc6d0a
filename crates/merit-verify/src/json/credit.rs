//! How much of a schema a value fulfils: the structure and types layers of RL-Struct.
//!
//! Structure is (expected keys present − unexpected keys)₊ / expected keys; types is the share of expected places
//! whose value obeys its own rules. Only what the schema expects fills the denominators: optional extras can lower a
//! share and never raise it, and an array weighs as much as its shortest allowed form, so neither padding nor length
//! earns anything. A missing key is wrong in both. Of several alternatives the one that fits best counts.

use super::canonical::brief;
use super::limits::{Budget, Exhausted};
use super::path::Pointer;
use super::schema::{Failure, FailureKind, NodeId, Schema, Validation, local_failure};
use super::verdict::EVIDENCE_KEPT;
use serde_json::{Map, Value};

/// What was expected, and what of it was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Keys and elements that have to be there.
    pub(crate) expected: f64,
    pub(crate) present: f64,
    /// Keys and elements that have no business there.
    pub(crate) unknown: f64,
    /// Places whose value is checked.
    pub(crate) checked: f64,
    pub(crate) right: f64,
    /// Optional places with a wrong value.
    pub(crate) wrong_extras: f64,
    pub(crate) structure_failures: Vec<Failure>,
    pub(crate) type_failures: Vec<Failure>,
}

impl Tally {
    /// The structure layer; absent when the schema expects no key.
    pub(crate) fn structure(&self) -> Option<f64> {
        if self.expected > 0.0 {
            return Some(((self.present - self.unknown).max(0.0) / self.expected).min(1.0));
        }
        (self.unknown > 0.0).then_some(0.0)
    }

    /// The types layer; absent when there is nothing to check.
    pub(crate) fn types(&self) -> Option<f64> {
        if self.checked > 0.0 {
            return Some(((self.right - self.wrong_extras).max(0.0) / self.checked).min(1.0));
        }
        (self.wrong_extras > 0.0).then_some(0.0)
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.add_scaled(other, 1, 1);
    }

    /// Adds `num / den` of another tally; multiplied first, so that n n-ths are exactly 1.
    pub(super) fn add_scaled(&mut self, other: Tally, num: usize, den: usize) {
        let part = |count: f64| count * num as f64 / den as f64;
        self.expected += part(other.expected);
        self.present += part(other.present);
        self.unknown += part(other.unknown);
        self.checked += part(other.checked);
        self.right += part(other.right);
        self.wrong_extras += part(other.wrong_extras);
        let room = EVIDENCE_KEPT.saturating_sub(self.structure_failures.len());
        self.structure_failures.extend(other.structure_failures.into_iter().take(room));
        let room = EVIDENCE_KEPT.saturating_sub(self.type_failures.len());
        self.type_failures.extend(other.type_failures.into_iter().take(room));
    }

    /// The tally of something that was not asked for: what is wrong in it counts, what is right does not.
    pub(super) fn unasked(self) -> Self {
        let wrong_extras = (self.checked - self.right).max(0.0) + self.wrong_extras;
        let unknown = self.unknown + (self.expected - self.present).max(0.0);
        Self { wrong_extras, unknown, expected: 0.0, present: 0.0, checked: 0.0, right: 0.0, ..self }
    }

    fn note_structure(&mut self, path: &str, kind: FailureKind, why: &str) {
        if self.structure_failures.len() < EVIDENCE_KEPT {
            self.structure_failures.push(Failure { path: path.to_owned(), kind, why: why.to_owned() });
        }
    }

    fn note_type(&mut self, path: &str, kind: FailureKind, why: String) {
        if self.type_failures.len() < EVIDENCE_KEPT {
            self.type_failures.push(Failure { path: path.to_owned(), kind, why });
        }
    }

    /// How well a branch fits, for choosing among alternatives.
    fn fit(&self) -> f64 {
        self.structure().unwrap_or(1.0) + self.types().unwrap_or(1.0)
    }
}

/// The walk of a value along its schema.
pub(crate) struct Walk<'a> {
    schema: &'a Schema,
    budget: &'a mut Budget,
    pointer: Pointer,
    /// How many levels below the last value that is there.
    absent: usize,
}

/// How far into what is missing the expectations are counted; a schema may describe itself without end.
const MOST_ABSENT: usize = 8;

type Tallied = Result<Tally, Exhausted>;

impl<'a> Walk<'a> {
    pub(crate) fn new(schema: &'a Schema, budget: &'a mut Budget) -> Self {
        Self { schema, budget, pointer: Pointer::default(), absent: 0 }
    }

    /// The tally of a whole document, or of its absence.
    pub(crate) fn run(&mut self, value: Option<&Value>) -> Tallied {
        self.place(self.schema.root(), value)
    }

    /// The tally of a value, or of its absence, at a place that `id` describes.
    fn place(&mut self, id: NodeId, value: Option<&Value>) -> Tallied {
        let above = self.absent;
        self.absent = if value.is_none() { above + 1 } else { 0 };
        let tally =
            if self.absent > MOST_ABSENT { Ok(Tally::default()) } else { self.rules(id, value, true) };
        self.absent = above;
        let mut tally = tally?;
        // A place without expectations of its own is itself what is expected.
        if tally.checked == 0.0 {
            tally.checked = 1.0;
            tally.wrong_extras = 0.0;
            let holds = match value {
                Some(value) => Validation::new(self.schema, self.budget).holds(id, value)?,
                None => false,
            };
            tally.right = f64::from(u8::from(holds));
            if !holds && tally.type_failures.is_empty() {
                let why = value.map_or_else(
                    || "nothing is there".to_owned(),
                    |value| format!("{} is not allowed", brief(value)),
                );
                tally.note_type(self.pointer.as_str(), FailureKind::Value, why);
            }
        }
        Ok(tally)
    }

    /// What one subschema and those beside it expect of the contents; `owns` when it judges unknown keys.
    fn rules(&mut self, id: NodeId, value: Option<&Value>, owns: bool) -> Tallied {
        self.budget.spend(1)?;
        let schema = self.schema;
        let node = schema.node(id);
        let mut tally = Tally::default();
        let mut contents = value;
        if let Some(value) = value
            && let Some((kind, why)) = local_failure(node, value, self.budget)?
        {
            tally.note_type(self.pointer.as_str(), kind, why);
            if kind == FailureKind::Type {
                // Of the wrong type, it has none of the contents, which are then missing.
                contents = None;
            } else {
                tally.wrong_extras += 1.0;
            }
        }
        match contents {
            Some(Value::Array(items)) => self.elements(id, items, &mut tally)?,
            Some(Value::Object(map)) => self.keys(id, Some(map), owns, &mut tally)?,
            _ => self.keys(id, None, false, &mut tally)?,
        }
        for next in node.reference.iter().chain(&node.all_of) {
            tally.add(self.rules(*next, contents, false)?);
        }
        for alternatives in [&node.any_of, &node.one_of] {
            tally.add(self.best(alternatives, contents)?);
        }
        if let (Some(condition), Some(value)) = (node.condition, contents) {
            let holds = Validation::new(schema, self.budget).holds(condition, value)?;
            if let Some(branch) = if holds { node.then } else { node.otherwise } {
                tally.add(self.rules(branch, contents, false)?);
            }
        }
        Ok(tally)
    }

    fn best(&mut self, alternatives: &[NodeId], value: Option<&Value>) -> Tallied {
        let mut best: Option<(bool, Tally)> = None;
        for id in alternatives {
            let tally = self.rules(*id, value, false)?;
            let holds = match value {
                Some(value) => Validation::new(self.schema, self.budget).holds(*id, value)?,
                None => false,
            };
            let is_better =
                best.as_ref().is_none_or(|(held, other)| (holds, tally.fit()) > (*held, other.fit()));
            if is_better {
                best = Some((holds, tally));
            }
        }
        Ok(best.map(|(_, tally)| tally).unwrap_or_default())
    }

    fn keys(
        &mut self,
        id: NodeId,
        map: Option<&Map<String, Value>>,
        owns: bool,
        tally: &mut Tally,
    ) -> Result<(), Exhausted> {
        let schema = self.schema;
        let rules = &schema.node(id).object;
        for key in &rules.required {
            let value = map.and_then(|map| map.get(key));
            let mark = self.pointer.key(key);
            tally.expected += 1.0;
            tally.present += f64::from(u8::from(value.is_some()));
            if value.is_none() {
                tally.note_structure(
                    self.pointer.as_str(),
                    FailureKind::Missing,
                    "a key that the schema requires",
                );
            }
            let inner = match rules.properties.get(key) {
                Some(id) => self.place(*id, value)?,
                None => {
                    Tally { checked: 1.0, right: f64::from(u8::from(value.is_some())), ..Tally::default() }
                }
            };
            tally.add(inner);
            self.pointer.back(mark);
        }
        let optional = map.into_iter().flatten().filter(|(key, _)| !rules.required.contains(key));
        for (key, value) in optional {
            self.budget.spend(1)?;
            let mark = self.pointer.key(key);
            if owns && self.is_unknown(id, key)? {
                tally.unknown += 1.0;
                let why = "a key that the schema does not have";
                tally.note_structure(self.pointer.as_str(), FailureKind::Unknown, why);
            } else {
                self.extra(id, key, value, tally)?;
            }
            self.pointer.back(mark);
        }
        Ok(())
    }

    /// An optional key: what is wrong inside it is held against the whole, what is right is not asked for.
    fn extra(&mut self, id: NodeId, key: &str, value: &Value, tally: &mut Tally) -> Result<(), Exhausted> {
        let rules = &self.schema.node(id).object;
        let mut found: Vec<NodeId> = rules.properties.get(key).copied().into_iter().collect();
        found.extend(rules.patterns.iter().filter(|(pattern, _)| pattern.is_match(key)).map(|(_, id)| *id));
        if found.is_empty() {
            found.extend(rules.additional);
        }
        for id in found {
            let inner = self.place(id, Some(value))?;
            tally.add(inner.unasked());
        }
        Ok(())
    }

    fn elements(&mut self, id: NodeId, items: &[Value], tally: &mut Tally) -> Result<(), Exhausted> {
        let rules = &self.schema.node(id).array;
        let demanded = usize::try_from(rules.min.unwrap_or(0)).unwrap_or(usize::MAX);
        let mut inner = Tally::default();
        for (i, item) in items.iter().enumerate() {
            let Some(id) = rules.prefix.get(i).copied().or(rules.items) else { break };
            let mark = self.pointer.index(i);
            let element = self.place(id, Some(item))?;
            self.pointer.back(mark);
            inner.add(element);
        }
        // An array of any length weighs as much as the shortest that is allowed, or one element.
        tally.add_scaled(inner, demanded.max(1), items.len().max(demanded).max(1));
        tally.expected += demanded as f64;
        tally.present += items.len().min(demanded) as f64;
        tally.checked += demanded.saturating_sub(items.len()) as f64;
        let most = usize::try_from(rules.max.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        tally.unknown += items.len().saturating_sub(most) as f64;
        Ok(())
    }

    /// Whether `key` is none of those that a subschema, or one beside it, speaks of.
    fn is_unknown(&mut self, id: NodeId, key: &str) -> Result<bool, Exhausted> {
        let (names_keys, names_this) = self.speaks_of(id, key)?;
        Ok(names_keys && !names_this)
    }

    /// Whether the subschemas at one place name keys at all, and whether they name `key`.
    fn speaks_of(&mut self, id: NodeId, key: &str) -> Result<(bool, bool), Exhausted> {
        self.budget.spend(1)?;
        let schema = self.schema;
        let node = schema.node(id);
        let rules = &node.object;
        let opens = rules.additional.is_some_and(|id| schema.node(id).always != Some(false));
        let mut names_keys =
            !rules.properties.is_empty() || !rules.patterns.is_empty() || rules.additional.is_some();
        let mut names_this = opens
            || rules.properties.contains_key(key)
            || rules.required.iter().any(|required| required == key)
            || rules.patterns.iter().any(|(pattern, _)| pattern.is_match(key));
        for next in node.in_place().filter(|id| Some(*id) != node.not) {
            let (keys, this) = self.speaks_of(next, key)?;
            names_keys |= keys;
            names_this |= this;
        }
        Ok((names_keys, names_this))
    }
}
