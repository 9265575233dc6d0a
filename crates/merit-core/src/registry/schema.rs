//! The keys of a document as a JSON Schema, computed from the settings structs that read it.
//!
//! In: a type that derives [`JsonSchema`], and the [`Components`] that its documents may name. Out: one schema (draft 2020-12)
//! with meanings from doc comments and defaults from the code. Reference pages are written from it, so that a key has one
//! description. Every component is a definition `kind.name`, for example `credit-rule.grpo`.

use super::{Chosen, Components, Entry, Kind};
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The schema of documents that hold a `T` and name what is in `components`.
pub fn document<T: JsonSchema>(components: &Components) -> Value {
    components.reading(|| {
        let generator = SchemaSettings::draft2020_12().with_transform(Tidy).into_generator();
        generator.into_root_schema_for::<T>().to_value()
    })
}

/// The name of the definition that holds the components of a kind.
pub fn definition(kind: &str) -> String {
    kind.replace(' ', "-")
}

impl<T: Kind + ?Sized> Entry<T> {
    /// Defines the component's table, its own keys and `common` ones, and refers to it.
    pub fn define(&self, generator: &mut SchemaGenerator, common: &Map<String, Value>) -> Schema {
        let name = format!("{}.{}", definition(T::KIND), self.about.name);
        let mut schema = (self.schema)(generator);
        let table = schema.ensure_object();
        table.insert("title".into(), format!("{} ({})", self.about.name, T::KIND).into());
        table.insert("description".into(), self.about.help().into());
        table.entry("type").or_insert_with(|| "object".into());
        if let Value::Object(keys) = table.entry("properties").or_insert_with(|| json!({})) {
            keys.extend(common.iter().map(|(key, schema)| (key.clone(), schema.clone())));
            keys.insert("type".into(), json!({ "const": self.about.name, "description": self.about.help() }));
        }
        if let Value::Array(required) = table.entry("required").or_insert_with(|| json!([])) {
            required.insert(0, "type".into());
        }
        if let Some(example) = example(self.about.name, self.example) {
            table.insert("examples".into(), json!([example]));
        }
        generator.definitions_mut().insert(name.clone(), schema.to_value());
        Schema::new_ref(format!("#/$defs/{name}"))
    }
}

/// The example as a document holds it. `None`: there is none.
fn example(name: &str, text: &str) -> Option<Value> {
    let mut table: toml::Table = toml::from_str(text).ok().filter(|table: &toml::Table| !table.is_empty())?;
    table.insert("type".into(), name.into());
    serde_json::to_value(table).ok()
}

impl<T: Kind + ?Sized> JsonSchema for Chosen<T> {
    fn schema_name() -> Cow<'static, str> {
        definition(T::KIND).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let components = Components::lent();
        let entries = components.entries::<T>();
        let description = format!("A {}: a table whose `type` is its name, or the name alone.", T::KIND);
        if entries.is_empty() {
            return json_schema!({ "description": description, "type": ["object", "string"] });
        }
        let tables: Vec<_> = entries.iter().map(|entry| entry.define(generator, &Map::new())).collect();
        let alone = |entry: &&Entry<T>| (entry.read)(toml::Table::new()).is_ok();
        let names: Vec<_> = entries.iter().filter(alone).map(|entry| entry.about.name).collect();
        let names = (!names.is_empty()).then(|| json_schema!({ "type": "string", "enum": names }));
        let choices: Vec<Schema> = names.into_iter().chain(tables).collect();
        json_schema!({ "description": description, "oneOf": choices })
    }
}

/// A table with any keys, for the schema of what is laid over another document: `#[schemars(with = "AnyTable")]`.
#[derive(Debug)]
pub struct AnyTable;

impl JsonSchema for AnyTable {
    fn schema_name() -> Cow<'static, str> {
        "any-table".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// Leaves out what TOML does not have (null) and what a reader does not need; writes defaults as a person would.
#[derive(Debug, Clone)]
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(table) = schema.as_object_mut() {
            unwritten_defaults(table);
        }
        transform_subschemas(self, schema);
        let Some(table) = schema.as_object_mut() else { return };
        table.remove("format");
        if let Some(Value::Array(types)) = table.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = &mut types[..] {
                let only = only.take();
                table.insert("type".into(), only);
            }
        }
        without_null(table);
        add_aliases(table);
        if table.get("default").is_some_and(Value::is_null) {
            table.remove("default");
        }
        if let Some(default) = table.get_mut("default") {
            shorten(default);
        }
        if let Some(Value::String(text)) = table.get_mut("description") {
            *text = prose(text);
        }
    }
}

/// A default that is not written (`skip_serializing_if`) is the empty one of its type: no, 0, no text, no items, no keys.
fn unwritten_defaults(table: &mut Map<String, Value>) {
    let required = table.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(keys)) = table.get_mut("properties") else { return };
    for (_, key) in keys.iter_mut().filter(|(name, _)| !required.iter().any(|key| key == *name)) {
        let Value::Object(key) = key else { continue };
        if ["default", "const", "enum"].iter().any(|word| key.contains_key(*word)) {
            continue;
        }
        let empty = match key.get("type").and_then(Value::as_str) {
            Some("boolean") => json!(false),
            Some("integer") => json!(0),
            Some("string") => json!(""),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => continue,
        };
        key.insert("default".into(), empty);
    }
}

/// Every key that says its `aliases` (serde keeps its own list to itself) gets them beside it; where it is required, one of them is.
fn add_aliases(table: &mut Map<String, Value>) {
    let Some(Value::Object(keys)) = table.get_mut("properties") else { return };
    let mut spellings: Vec<Vec<String>> = Vec::new();
    for key in keys.keys().cloned().collect::<Vec<_>>() {
        let Some(Value::Array(aliases)) = keys[&key].as_object_mut().and_then(|key| key.remove("aliases"))
        else {
            continue;
        };
        for alias in aliases.iter().filter_map(Value::as_str) {
            let mut same = keys[&key].clone();
            same["description"] = format!("Another spelling of `{key}`.").into();
            same["deprecated"] = true.into();
            keys.insert(alias.to_owned(), same);
        }
        let aliases = aliases.iter().filter_map(Value::as_str).map(str::to_owned);
        spellings.push(std::iter::once(key).chain(aliases).collect());
    }
    let Some(Value::Array(required)) = table.get_mut("required") else { return };
    let mut any: Vec<Value> = Vec::new();
    for spellings in spellings {
        let before = required.len();
        required.retain(|key| *key != spellings[0]);
        if required.len() < before {
            let one = spellings.iter().map(|key| json!({ "required": [key] }));
            any.push(json!({ "anyOf": one.collect::<Vec<_>>() }));
        }
    }
    if !any.is_empty() {
        table.insert("allOf".into(), any.into());
    }
}

/// `anyOf` a schema and null becomes that schema.
fn without_null(table: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = table.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = &mut choices[..] {
        let only = std::mem::take(only);
        table.remove("anyOf");
        for (key, value) in only {
            table.entry(key).or_insert(value);
        }
    }
}

/// A number that was an `f32` gets the digits that an `f32` needs.
fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let long = number.as_f64().unwrap_or_default();
            let short = long as f32;
            if f64::from(short) == long
                && let Ok(digits) = short.to_string().parse::<f64>()
            {
                *value = digits.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(table) => table.values_mut().for_each(shorten),
        _ => {}
    }
}

/// A doc comment as prose: lines are joined, links of rustdoc become plain code.
fn prose(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    paragraphs.collect::<Vec<_>>().join("\n\n").replace("[`", "`").replace("`]", "`")
}
