//! From a schema as written to its table of nodes: references resolved, patterns compiled, the unknown refused.

use super::keywords;
use super::node::{Node, NodeId, Schema};
use crate::json::limits::{Limits, MAX_DEPTH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What to do with keywords that are not part of JSON Schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownKeywords {
    /// Refuse the schema: a misspelt `requird` would otherwise check nothing. Names that start with `x-` pass.
    #[default]
    Refuse,
    /// Take them for annotations, as the standard does.
    Ignore,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A keyword whose value makes no sense.
    #[error("schema at `{at}`: `{keyword}` {why}")]
    Keyword {
        /// Where in the schema, as a pointer.
        at: String,
        keyword: String,
        why: String,
    },
    /// A keyword that is not part of JSON Schema.
    #[error("schema at `{at}`: no keyword `{keyword}`{}", hint(.nearest))]
    UnknownKeyword {
        /// Where in the schema, as a pointer.
        at: String,
        keyword: String,
        /// A known keyword that is similar.
        nearest: Option<String>,
    },
    /// A keyword of JSON Schema that this validator does not have.
    #[error("schema at `{at}`: `{keyword}` is not supported; state the constraint with the other keywords")]
    Unsupported {
        /// Where in the schema, as a pointer.
        at: String,
        keyword: String,
    },
    /// A reference that leads nowhere in this document.
    #[error(
        "schema at `{at}`: the reference `{reference}` names nothing in this schema; only `#`, `#/pointer` and `#anchor` are followed"
    )]
    Reference {
        /// Where in the schema, as a pointer.
        at: String,
        /// The reference as written.
        reference: String,
    },
    /// The schema refers to itself without descending into the value, or nests too many alternatives in one place.
    #[error(
        "schema at `{at}`: more than {MAX_CHAIN} subschemas look at one value in a row; is there a reference to itself?"
    )]
    Loop {
        /// Where the chain starts.
        at: String,
    },
    /// With this nesting of documents, a check could need more stack than a small thread has.
    #[error(
        "schema: {chain} subschemas in a row look at one value, so that documents may nest at most {most} levels; lower `limits.depth` from {depth}"
    )]
    TooDeep {
        /// The longest row of subschemas at one value.
        chain: usize,
        /// The nesting that was asked for.
        depth: usize,
        /// The nesting that is safe.
        most: usize,
    },
    #[error("the schema has more than {MAX_NODES} subschemas or is nested deeper than {MAX_DEPTH} levels")]
    TooLarge,
    /// The draft is not one of those understood.
    #[error("`$schema` is `{0}`; understood are draft 2020-12, 2019-09, 7 and 6")]
    Draft(String),
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// The longest row of subschemas that look at one value.
const MAX_CHAIN: usize = 16;
/// The most calls that may stand on the stack at once: levels of the document times the row at each.
const MAX_STACKED: usize = 640;
const MAX_NODES: usize = 20_000;
/// Newest first; in the last two, what stands beside `$ref` is ignored.
const DRAFTS: [&str; 4] = [
    "json-schema.org/draft/2020-12/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft-06/schema",
];

impl Schema {
    pub fn compile(source: &Value, unknown: UnknownKeywords) -> Result<Self, SchemaError> {
        let mut compiler = Compiler::new(source, unknown)?;
        let root = compiler.node_at("", source, 0)?;
        let Compiler { nodes, places, .. } = compiler;
        let mut schema = Self { nodes, root, longest_chain: 0, source: source.clone() };
        schema.longest_chain = schema.refuse_loops(&places)?;
        Ok(schema)
    }

    /// Refuses documents so deep that checking them could pass the stack.
    pub(crate) fn refuse_depth(&self, limits: &Limits) -> Result<(), SchemaError> {
        let chain = self.longest_chain + 1;
        let most = MAX_STACKED / chain;
        if limits.depth > most {
            Err(SchemaError::TooDeep { chain, depth: limits.depth, most })
        } else {
            Ok(())
        }
    }

    /// The longest row of subschemas at one value; refuses rows without end.
    fn refuse_loops(&self, places: &BTreeMap<String, NodeId>) -> Result<usize, SchemaError> {
        let mut known = vec![None; self.nodes.len()];
        places.iter().try_fold(0, |longest, (at, id)| {
            let chain = self.chain(*id, 0, &mut known).ok_or_else(|| SchemaError::Loop { at: at.clone() })?;
            Ok(chain.max(longest))
        })
    }

    /// The longest row of subschemas from `id` that look at the same value; `None` past the limit.
    fn chain(&self, id: NodeId, level: usize, known: &mut [Option<usize>]) -> Option<usize> {
        if level > MAX_CHAIN {
            return None;
        }
        if let Some(length) = known[id] {
            return (level + length <= MAX_CHAIN).then_some(length);
        }
        let mut longest = 0;
        for next in self.nodes[id].in_place() {
            longest = longest.max(self.chain(next, level + 1, known)? + 1);
        }
        known[id] = Some(longest);
        Some(longest)
    }
}

/// The state of a compilation.
pub(super) struct Compiler<'a> {
    source: &'a Value,
    pub(super) unknown: UnknownKeywords,
    /// Whether what stands beside `$ref` is ignored, as up to draft 7.
    pub(super) ref_stands_alone: bool,
    nodes: Vec<Node>,
    places: BTreeMap<String, NodeId>,
    anchors: BTreeMap<String, String>,
}

impl<'a> Compiler<'a> {
    fn new(source: &'a Value, unknown: UnknownKeywords) -> Result<Self, SchemaError> {
        let written = source.get("$schema").and_then(Value::as_str).unwrap_or(DRAFTS[0]);
        let draft = written.trim_end_matches('#').split_once("://").map_or(written, |(_, rest)| rest);
        let Some(age) = DRAFTS.iter().position(|known| *known == draft) else {
            return Err(SchemaError::Draft(written.to_owned()));
        };
        let is_old = age >= 2;
        let mut anchors = BTreeMap::new();
        collect_anchors(source, String::new(), 0, &mut anchors)?;
        Ok(Self {
            source,
            unknown,
            ref_stands_alone: is_old,
            nodes: Vec::new(),
            places: BTreeMap::new(),
            anchors,
        })
    }

    /// The node of the subschema at a pointer, compiled on first sight; a subschema inside itself finds its own row.
    pub(super) fn node_at(&mut self, at: &str, schema: &Value, depth: usize) -> Result<NodeId, SchemaError> {
        if let Some(id) = self.places.get(at) {
            return Ok(*id);
        }
        if depth > MAX_DEPTH || self.nodes.len() >= MAX_NODES {
            return Err(SchemaError::TooLarge);
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.places.insert(at.to_owned(), id);
        self.nodes[id] = keywords::read(self, at, schema, depth)?;
        Ok(id)
    }

    /// The node a reference names.
    pub(super) fn resolve(&mut self, at: &str, reference: &str, depth: usize) -> Result<NodeId, SchemaError> {
        let nowhere = || SchemaError::Reference { at: at.to_owned(), reference: reference.to_owned() };
        let base = self.source.get("$id").and_then(Value::as_str).unwrap_or("");
        let base = base.split('#').next().unwrap_or("");
        let fragment = match reference.split_once('#') {
            Some((document, fragment)) if document.is_empty() || document == base => fragment,
            None if !base.is_empty() && reference == base => "",
            _ => return Err(nowhere()),
        };
        let fragment = percent_decode(fragment).ok_or_else(nowhere)?;
        let pointer = match self.anchors.get(&fragment) {
            Some(pointer) => pointer.clone(),
            None => fragment,
        };
        let source = self.source;
        let target = source.pointer(&pointer).ok_or_else(nowhere)?;
        self.node_at(&pointer, target, depth + 1)
    }
}

/// Pointers of all `$anchor`s, and refuses subschemas that start a document of their own.
fn collect_anchors(
    schema: &Value,
    at: String,
    depth: usize,
    anchors: &mut BTreeMap<String, String>,
) -> Result<(), SchemaError> {
    if depth > MAX_DEPTH {
        return Err(SchemaError::TooLarge);
    }
    let children: Vec<(String, &Value)> = match schema {
        Value::Object(map) => {
            if let Some(anchor) = map.get("$anchor").and_then(Value::as_str) {
                anchors.insert(anchor.to_owned(), at.clone());
            }
            if let Some(anchor) = map.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) {
                anchors.insert(anchor.to_owned(), at.clone());
            }
            // Values that are data, not schemas, may hold anything.
            let is_data = |key: &str| matches!(key, "enum" | "const" | "default" | "examples");
            map.iter().filter(|(key, _)| !is_data(key)).map(|(key, value)| (escape(key), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    children
        .into_iter()
        .try_for_each(|(key, value)| collect_anchors(value, format!("{at}/{key}"), depth + 1, anchors))
}

/// A key as a pointer spells it.
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b != b'%' {
            bytes.push(b);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}
