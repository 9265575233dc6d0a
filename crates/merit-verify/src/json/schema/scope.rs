//! What reading a keyword needs: subschemas by name, counts, patterns, and a clear word about what is wrong.

use super::compile::{Compiler, SchemaError, UnknownKeywords, escape};
use super::node::NodeId;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};

/// Keywords that say something about a value without checking it.
const ANNOTATIONS: [&str; 15] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "readOnly",
    "writeOnly",
    "deprecated",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$vocabulary",
    "$anchor",
];
const ASSERTIONS: [&str; 41] = [
    "type",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "$id",
];
const UNSUPPORTED: [&str; 6] = [
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
];
/// What a pattern may compile to, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

pub(super) fn bad(at: &str, keyword: &str, why: impl Into<String>) -> SchemaError {
    SchemaError::Keyword { at: at.to_owned(), keyword: keyword.to_owned(), why: why.into() }
}

/// A subschema while it is read.
pub(super) struct Scope<'a, 'b> {
    pub(super) compiler: &'a mut Compiler<'b>,
    pub(super) at: &'a str,
    pub(super) depth: usize,
}

impl Scope<'_, '_> {
    pub(super) fn bad<T>(&self, keyword: &str, why: impl Into<String>) -> Result<T, SchemaError> {
        Err(bad(self.at, keyword, why))
    }

    pub(super) fn not_known(&self, keyword: &str) -> Result<(), SchemaError> {
        if ANNOTATIONS.contains(&keyword)
            || matches!(keyword, "$defs" | "definitions")
            || keyword.starts_with("x-")
        {
            return Ok(());
        }
        let (at, keyword) = (self.at.to_owned(), keyword.to_owned());
        if UNSUPPORTED.contains(&keyword.as_str()) {
            return Err(SchemaError::Unsupported { at, keyword });
        }
        if self.compiler.unknown == UnknownKeywords::Ignore {
            return Ok(());
        }
        let known = ASSERTIONS.iter().chain(&ANNOTATIONS).copied();
        let nearest = merit_core::registry::nearest(&keyword, known);
        Err(SchemaError::UnknownKeyword { at, keyword, nearest })
    }

    pub(super) fn child(&mut self, keyword: &str, schema: &Value) -> Result<NodeId, SchemaError> {
        let at = format!("{}/{}", self.at, keyword);
        self.compiler.node_at(&at, schema, self.depth + 1)
    }

    pub(super) fn children(&mut self, keyword: &str, schemas: &Value) -> Result<Vec<NodeId>, SchemaError> {
        let Value::Array(schemas) = schemas else { return self.bad(keyword, "is not an array of schemas") };
        if schemas.is_empty() {
            return self.bad(keyword, "is empty; give at least one schema");
        }
        schemas.iter().enumerate().map(|(i, schema)| self.child(&format!("{keyword}/{i}"), schema)).collect()
    }

    pub(super) fn named_children(
        &mut self,
        keyword: &str,
        schemas: &Value,
    ) -> Result<Vec<(String, NodeId)>, SchemaError> {
        let Value::Object(schemas) = schemas else { return self.bad(keyword, "is not an object of schemas") };
        let child = |(name, schema): (&String, &Value)| {
            Ok((name.clone(), self.child(&format!("{keyword}/{}", escape(name)), schema)?))
        };
        schemas.iter().map(child).collect()
    }

    /// Definitions are compiled even if nothing refers to them, so that their mistakes are found.
    pub(super) fn definitions(&mut self, map: &Map<String, Value>) -> Result<(), SchemaError> {
        for keyword in ["$defs", "definitions"] {
            if let Some(schemas) = map.get(keyword) {
                self.named_children(keyword, schemas)?;
            }
        }
        Ok(())
    }

    pub(super) fn reference(&mut self, value: &Value) -> Result<NodeId, SchemaError> {
        let Value::String(reference) = value else { return self.bad("$ref", "is not a string") };
        self.compiler.resolve(self.at, reference, self.depth)
    }

    pub(super) fn count(&self, keyword: &str, value: &Value) -> Result<Option<u64>, SchemaError> {
        let whole = value
            .as_u64()
            .or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0).map(|n| n as u64));
        if whole.is_none() { self.bad(keyword, "is not a whole number of 0 or more") } else { Ok(whole) }
    }

    pub(super) fn a_number(&self, keyword: &str, value: &Value) -> Result<Option<Number>, SchemaError> {
        match value {
            Value::Number(n) => Ok(Some(n.clone())),
            _ => self.bad(keyword, "is not a number"),
        }
    }

    pub(super) fn a_pattern(&self, keyword: &str, pattern: &str) -> Result<Regex, SchemaError> {
        let built = RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
        built.map_err(|e| {
            bad(self.at, keyword, format!("`{pattern}` is no pattern this validator can run: {e}"))
        })
    }

    pub(super) fn strings(&self, keyword: &str, value: &Value) -> Result<Vec<String>, SchemaError> {
        let strings = value.as_array().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        strings.ok_or_else(|| bad(self.at, keyword, "is not an array of strings"))
    }
}
