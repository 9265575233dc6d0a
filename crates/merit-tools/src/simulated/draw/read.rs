//! From a schema to a plan; what cannot be drawn from is refused with its place.

use super::number::{Decimals, Integers};
use super::plan::Plan;
use serde_json::{Map, Value};

/// Deepest nesting, references followed.
const MAX_DEPTH: usize = 24;
/// Most subschemas, references followed.
const MAX_NODES: usize = 2_000;
/// Longest list and text that has to be drawn.
const MAX_ITEMS: u64 = 200;
const MAX_TEXT: u64 = 10_000;
/// Elements beyond the least, where a list has no most.
const MORE_ITEMS: usize = 3;

/// Keywords that a plan is made of.
const DRAWN: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "$ref",
];
/// Keywords that say nothing of the value.
const ASIDE: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "format",
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "deprecated",
    "readOnly",
    "writeOnly",
];

pub(super) fn read(schema: &Value) -> Result<Plan, String> {
    Reader { root: schema, nodes: 0 }.plan(schema, "", 0)
}

struct Reader<'a> {
    root: &'a Value,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn plan(&mut self, schema: &'a Value, at: &str, depth: usize) -> Result<Plan, String> {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(format!("at `{at}` refers to itself, or is too deep or large to draw from"));
        }
        let map = match schema {
            Value::Bool(true) => return Ok(any()),
            Value::Object(map) => map,
            _ => return Err(format!("at `{at}` allows no value")),
        };
        let is_known = |key: &&String| DRAWN.contains(&key.as_str()) || ASIDE.contains(&key.as_str());
        if let Some(key) = map.keys().find(|key| !is_known(key) && !key.starts_with("x-")) {
            return Err(format!("at `{at}` has `{key}`, which cannot be drawn from"));
        }
        if let Some(target) = map.get("$ref") {
            let target = self.reference(target).ok_or_else(|| format!("at `{at}`: `$ref` leads nowhere"))?;
            return self.plan(target, &format!("{at}/$ref"), depth + 1);
        }
        if let Some(value) = map.get("const") {
            return Ok(Plan::Values(vec![value.clone()]));
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            return match values.is_empty() {
                true => Err(format!("at `{at}`: `enum` is empty")),
                false => Ok(Plan::Values(values.clone())),
            };
        }
        if let Some((keyword, Value::Array(list))) =
            map.get_key_value("anyOf").or_else(|| map.get_key_value("oneOf"))
        {
            let plans = list.iter().enumerate();
            let plans = plans.map(|(i, schema)| self.plan(schema, &format!("{at}/{keyword}/{i}"), depth + 1));
            return plans.collect::<Result<_, String>>().map(Plan::OneOf);
        }
        let mut plans = Vec::new();
        for kind in kinds(map) {
            plans.push(self.of_kind(kind, map, at, depth).map_err(|why| match why.starts_with("at `") {
                true => why,
                false => format!("at `{at}` {why}"),
            })?);
        }
        if plans.len() > 1 {
            Ok(Plan::OneOf(plans))
        } else {
            plans.pop().ok_or_else(|| format!("at `{at}` allows no type"))
        }
    }

    fn of_kind(
        &mut self,
        kind: &str,
        map: &'a Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<Plan, String> {
        match kind {
            "null" => Ok(Plan::Values(vec![Value::Null])),
            "boolean" => Ok(Plan::Bool),
            "integer" => Integers::read(map).map(Plan::Integer),
            "number" => Decimals::read(map).map(Plan::Number),
            "string" => {
                let least = count(map, "minLength", MAX_TEXT)?.unwrap_or(0);
                let most =
                    map.get("maxLength").and_then(Value::as_u64).map(|most| most.min(MAX_TEXT) as usize);
                if most.is_some_and(|most| most < least) {
                    return Err("has `minLength` above `maxLength`".to_owned());
                }
                Ok(Plan::Text { least, most })
            }
            "array" => self.array(map, at, depth),
            "object" => self.object(map, at, depth),
            other => Err(format!("names no type of JSON: `{other}`")),
        }
    }

    fn array(&mut self, map: &'a Map<String, Value>, at: &str, depth: usize) -> Result<Plan, String> {
        let first = match map.get("prefixItems") {
            Some(Value::Array(list)) => list
                .iter()
                .enumerate()
                .map(|(i, schema)| self.plan(schema, &format!("{at}/prefixItems/{i}"), depth + 1))
                .collect::<Result<Vec<Plan>, String>>()?,
            _ => Vec::new(),
        };
        let is_closed = map.get("items") == Some(&Value::Bool(false));
        let rest = match map.get("items").filter(|_| !is_closed) {
            Some(schema) => self.plan(schema, &format!("{at}/items"), depth + 1)?,
            None => any(),
        };
        let least = count(map, "minItems", MAX_ITEMS)?.unwrap_or(0);
        let most = map.get("maxItems").and_then(Value::as_u64).map(|most| most.min(MAX_ITEMS) as usize);
        let usual = if least == 0 && first.is_empty() { 1 } else { least.max(first.len()) };
        let most = match (most, is_closed) {
            (Some(most), false) => most,
            (most, true) => most.unwrap_or(usize::MAX).min(first.len()),
            (None, false) => usual + MORE_ITEMS,
        };
        if least > most {
            return Err("has `minItems` above what it may have".to_owned());
        }
        let is_unique = map.get("uniqueItems") == Some(&Value::Bool(true));
        // An empty list tells an agent little, so lists that may be empty are only where they must.
        Ok(Plan::Array { first, rest: Box::new(rest), least: usual.min(most), most, is_unique })
    }

    fn object(&mut self, map: &'a Map<String, Value>, at: &str, depth: usize) -> Result<Plan, String> {
        let none = Map::new();
        let properties = map.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = match map.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut plans = Vec::new();
        let mut names: Vec<(&'a String, &'a Value)> =
            properties.map(|map| map.iter().collect()).unwrap_or_default();
        names.sort_by_key(|(name, _)| *name);
        for (name, schema) in names {
            let plan = self.plan(schema, &format!("{at}/properties/{name}"), depth + 1)?;
            plans.push((name.clone(), plan, required.contains(&name.as_str())));
        }
        let declared = properties.unwrap_or(&none);
        for name in required.iter().filter(|name| !declared.contains_key(**name)) {
            let plan = match map.get("additionalProperties") {
                Some(schema) => self.plan(schema, &format!("{at}/additionalProperties"), depth + 1)?,
                None => any(),
            };
            plans.push(((*name).to_owned(), plan, true));
        }
        Ok(Plan::Object(plans))
    }

    /// The subschema that a reference within the document names.
    fn reference(&self, target: &Value) -> Option<&'a Value> {
        let pointer = target.as_str()?.strip_prefix('#')?;
        if pointer.is_empty() { Some(self.root) } else { self.root.pointer(pointer) }
    }
}

/// A value of which nothing is said.
fn any() -> Plan {
    Plan::Text { least: 0, most: None }
}

/// The types of a schema: those it names, else what its keywords are about.
fn kinds(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("type") {
        Some(Value::String(kind)) => return vec![kind],
        Some(Value::Array(kinds)) => return kinds.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let has = |keys: &[&str]| keys.iter().any(|key| map.contains_key(*key));
    if has(&["properties", "required", "additionalProperties"]) {
        vec!["object"]
    } else if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        vec!["array"]
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        vec!["number"]
    } else {
        vec!["string"]
    }
}

fn count(map: &Map<String, Value>, keyword: &str, most: u64) -> Result<Option<usize>, String> {
    match map.get(keyword).and_then(Value::as_u64) {
        Some(count) if count > most => Err(format!("has `{keyword}` above {most}, which is not drawn")),
        Some(count) => Ok(usize::try_from(count).ok()),
        None => Ok(None),
    }
}
