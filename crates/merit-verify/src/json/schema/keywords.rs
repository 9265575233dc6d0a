//! Each keyword of a subschema, read into its place in the node.

use super::compile::{Compiler, SchemaError, escape};
use super::node::{Kinds, Node};
use super::scope::{Scope, bad};
use serde_json::Value;

pub(super) fn read(
    compiler: &mut Compiler<'_>,
    at: &str,
    schema: &Value,
    depth: usize,
) -> Result<Node, SchemaError> {
    let map = match schema {
        Value::Bool(always) => return Ok(Node { always: Some(*always), ..Node::default() }),
        Value::Object(map) => map,
        _ => return Err(bad(at, "schema", "is neither an object nor a boolean")),
    };
    let mut scope = Scope { compiler, at, depth };
    let mut node = Node::default();
    if scope.compiler.ref_stands_alone && map.contains_key("$ref") {
        scope.definitions(map)?;
        node.reference = Some(scope.reference(&map["$ref"])?);
        return Ok(node);
    }
    for (keyword, value) in map {
        let is_known = scope.general(&mut node, keyword, value)?
            || scope.number(&mut node, keyword, value)?
            || scope.sized(&mut node, keyword, value)?
            || scope.array(&mut node, keyword, value)?
            || scope.object(&mut node, keyword, value)?
            || scope.combined(&mut node, keyword, value)?;
        if !is_known {
            scope.not_known(keyword)?;
        }
    }
    if let (Some(Value::Array(_)), Some(rest)) = (map.get("items"), map.get("additionalItems")) {
        node.array.items = Some(scope.child("additionalItems", rest)?);
    }
    scope.definitions(map)?;
    Ok(node)
}

impl Scope<'_, '_> {
    fn general(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<bool, SchemaError> {
        match keyword {
            "type" => {
                let names = match value {
                    Value::String(name) => vec![name.clone()],
                    value => self.strings(keyword, value)?,
                };
                let kinds = names.iter().try_fold(Kinds::default(), |kinds, name| kinds.with(name));
                match kinds.filter(|_| !names.is_empty()) {
                    Some(kinds) => node.kinds = Some(kinds),
                    None => return self.bad(keyword, format!("names no type of JSON: {value}")),
                }
            }
            "enum" => match value {
                Value::Array(values) => node.one_of_values = Some(values.clone()),
                _ => return self.bad(keyword, "is not an array"),
            },
            "const" => node.constant = Some(value.clone()),
            "$ref" => node.reference = Some(self.reference(value)?),
            "$id" if self.at.is_empty() || value.as_str().is_some_and(|id| id.starts_with('#')) => {}
            "$id" => return self.bad(keyword, "starts another document; put it at the root"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn number(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<bool, SchemaError> {
        let place = match keyword {
            "minimum" => &mut node.number.minimum,
            "maximum" => &mut node.number.maximum,
            "exclusiveMinimum" => &mut node.number.above,
            "exclusiveMaximum" => &mut node.number.below,
            "multipleOf" => &mut node.number.multiple_of,
            _ => return Ok(false),
        };
        *place = self.a_number(keyword, value)?;
        if keyword == "multipleOf" && value.as_f64().is_none_or(|n| n <= 0.0) {
            return self.bad(keyword, "is not above 0");
        }
        Ok(true)
    }

    fn sized(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<bool, SchemaError> {
        let place = match keyword {
            "minLength" => &mut node.string.min,
            "maxLength" => &mut node.string.max,
            "minItems" => &mut node.array.min,
            "maxItems" => &mut node.array.max,
            "minContains" => &mut node.array.min_contains,
            "maxContains" => &mut node.array.max_contains,
            "minProperties" => &mut node.object.min,
            "maxProperties" => &mut node.object.max,
            _ => return Ok(false),
        };
        *place = self.count(keyword, value)?;
        Ok(true)
    }

    fn array(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<bool, SchemaError> {
        match keyword {
            "prefixItems" => node.array.prefix = self.children(keyword, value)?,
            // A list under `items` is draft 7's `prefixItems`; the rest is then under `additionalItems`.
            "items" if value.is_array() => {
                node.array.prefix = if value.as_array().is_some_and(Vec::is_empty) {
                    Vec::new()
                } else {
                    self.children(keyword, value)?
                };
            }
            "items" => node.array.items = Some(self.child(keyword, value)?),
            // Read with `items`, beside which alone it means something.
            "additionalItems" => {}
            "contains" => node.array.contains = Some(self.child(keyword, value)?),
            "uniqueItems" => match value {
                Value::Bool(unique) => node.array.is_unique = *unique,
                _ => return self.bad(keyword, "is not a boolean"),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn object(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<bool, SchemaError> {
        match keyword {
            "properties" => {
                node.object.properties = self.named_children(keyword, value)?.into_iter().collect()
            }
            "patternProperties" => {
                for (pattern, id) in self.named_children(keyword, value)? {
                    node.object.patterns.push((self.a_pattern(keyword, &pattern)?, id));
                }
            }
            "additionalProperties" => node.object.additional = Some(self.child(keyword, value)?),
            "propertyNames" => node.object.names = Some(self.child(keyword, value)?),
            "required" => node.object.required = self.strings(keyword, value)?,
            "dependentRequired" | "dependencies" | "dependentSchemas" => {
                self.dependent(node, keyword, value)?
            }
            "pattern" => match value {
                Value::String(pattern) => node.string.pattern = Some(self.a_pattern(keyword, pattern)?),
                _ => return self.bad(keyword, "is not a string"),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn dependent(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<(), SchemaError> {
        let Value::Object(entries) = value else { return self.bad(keyword, "is not an object") };
        for (key, entry) in entries {
            if keyword != "dependentSchemas" && entry.is_array() {
                node.object.required_with.push((key.clone(), self.strings(keyword, entry)?));
            } else if keyword == "dependentRequired" {
                return self.bad(keyword, "holds something else than arrays of strings");
            } else {
                let id = self.child(&format!("{keyword}/{}", escape(key)), entry)?;
                node.object.schema_with.push((key.clone(), id));
            }
        }
        Ok(())
    }

    fn combined(&mut self, node: &mut Node, keyword: &str, value: &Value) -> Result<bool, SchemaError> {
        match keyword {
            "allOf" => node.all_of = self.children(keyword, value)?,
            "anyOf" => node.any_of = self.children(keyword, value)?,
            "oneOf" => node.one_of = self.children(keyword, value)?,
            "not" => node.not = Some(self.child(keyword, value)?),
            "if" => node.condition = Some(self.child(keyword, value)?),
            "then" => node.then = Some(self.child(keyword, value)?),
            "else" => node.otherwise = Some(self.child(keyword, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
