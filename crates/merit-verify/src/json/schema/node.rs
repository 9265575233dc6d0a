//! The compiled form of a schema: every subschema is a row of one table, and names others by their index.

use regex::Regex;
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// The row of a subschema.
pub(crate) type NodeId = usize;

#[derive(Debug, Clone)]
pub struct Schema {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    /// How many subschemas at most look at one value in a row, beside the first.
    pub(super) longest_chain: usize,
    pub(super) source: Value,
}

impl Schema {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// The schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }
}

/// One subschema; absent keywords are empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// `true` or `false` as a schema.
    pub(crate) always: Option<bool>,
    pub(crate) kinds: Option<Kinds>,
    pub(crate) one_of_values: Option<Vec<Value>>,
    pub(crate) constant: Option<Value>,
    pub(crate) number: NumberRules,
    pub(crate) string: StringRules,
    pub(crate) array: ArrayRules,
    pub(crate) object: ObjectRules,
    pub(crate) reference: Option<NodeId>,
    pub(crate) all_of: Vec<NodeId>,
    pub(crate) any_of: Vec<NodeId>,
    pub(crate) one_of: Vec<NodeId>,
    pub(crate) not: Option<NodeId>,
    pub(crate) condition: Option<NodeId>,
    pub(crate) then: Option<NodeId>,
    pub(crate) otherwise: Option<NodeId>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct NumberRules {
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) above: Option<Number>,
    pub(crate) below: Option<Number>,
    pub(crate) multiple_of: Option<Number>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct StringRules {
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
    pub(crate) pattern: Option<Regex>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ArrayRules {
    pub(crate) prefix: Vec<NodeId>,
    pub(crate) items: Option<NodeId>,
    pub(crate) contains: Option<NodeId>,
    pub(crate) min_contains: Option<u64>,
    pub(crate) max_contains: Option<u64>,
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
    pub(crate) is_unique: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ObjectRules {
    pub(crate) properties: BTreeMap<String, NodeId>,
    pub(crate) patterns: Vec<(Regex, NodeId)>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) names: Option<NodeId>,
    pub(crate) required: Vec<String>,
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
    pub(crate) required_with: Vec<(String, Vec<String>)>,
    pub(crate) schema_with: Vec<(String, NodeId)>,
}

impl Node {
    /// Subschemas that look at the same value as this one.
    pub(crate) fn in_place(&self) -> impl Iterator<Item = NodeId> {
        let lists = [&self.all_of, &self.any_of, &self.one_of];
        let singles = [self.reference, self.not, self.condition, self.then, self.otherwise];
        let dependent = self.object.schema_with.iter().map(|(_, id)| *id);
        lists.into_iter().flatten().copied().chain(singles.into_iter().flatten()).chain(dependent)
    }
}

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds(u8);

const NAMES: [(&str, u8); 7] = [
    ("null", 1),
    ("boolean", 2),
    ("integer", 4),
    ("number", 8),
    ("string", 16),
    ("array", 32),
    ("object", 64),
];

impl Kinds {
    /// The set with `name` added; `None` when it is no type.
    pub(crate) fn with(self, name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, bit)| Self(self.0 | bit))
    }

    pub(crate) fn accepts(self, value: &Value) -> bool {
        let bits = match value {
            Value::Null => 1,
            Value::Bool(_) => 2,
            Value::Number(n) if crate::json::number::is_integral(n) => 4 | 8,
            Value::Number(_) => 8,
            Value::String(_) => 16,
            Value::Array(_) => 32,
            Value::Object(_) => 64,
        };
        self.0 & bits != 0
    }

    /// The types in words.
    pub(crate) fn names(self) -> String {
        let names: Vec<&str> =
            NAMES.iter().filter(|(_, bit)| self.0 & bit != 0).map(|(name, _)| *name).collect();
        names.join(" or ")
    }
}

/// The type of a value in words.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
