//! The keys of one table, read out of a schema: name, type, default and meaning, in words.

use serde_json::{Map, Value};

/// One key of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// As a document writes it.
    pub name: String,
    /// Its type, in words.
    pub of: String,
    /// What holds where it is left out: `required`, `absent`, or a value in TOML.
    pub default: String,
    pub meaning: String,
    /// The definitions that its type names.
    pub refers: Vec<String>,
}

/// The tables that a schema allows: one, or several of which a document holds one.
pub fn tables(schema: &Value) -> Vec<&Value> {
    let Some(choices) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) else {
        return if schema.get("properties").is_some() { vec![schema] } else { Vec::new() };
    };
    let own = choices.iter().filter(|choice| choice.get("$ref").is_none());
    own.flat_map(tables).collect()
}

/// The words that a schema allows, with what each means.
pub fn words(schema: &Value) -> Vec<(String, String)> {
    let one = |schema: &Value| -> Vec<(String, String)> {
        let meaning = description(schema);
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let words = schema.get("const").into_iter().chain(listed).filter_map(Value::as_str);
        words.map(|word| (word.to_owned(), meaning.clone())).collect()
    };
    match schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) {
        Some(choices) => choices.iter().flat_map(one).collect(),
        None => one(schema).into_iter().map(|(word, _)| (word, String::new())).collect(),
    }
}

/// Whether a definition is a list of components, each of which has a definition of its own.
pub(super) fn names_components(schema: &Value) -> bool {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    choices.is_some_and(|choices| {
        choices
            .iter()
            .any(|choice| choice.as_object().is_some_and(|c| c.len() == 1 && c.contains_key("$ref")))
    })
}

/// The keys of a table: `type` first, then what is required, then the others by name.
pub fn keys(document: &Value, table: &Value) -> Vec<Key> {
    let none = Map::new();
    let properties = table.get("properties").and_then(Value::as_object).unwrap_or(&none);
    // A key that is required in one of its spellings stands first among them.
    let required = |name: &str| {
        let listed = table["required"].as_array().into_iter().flatten();
        let spelt = table["allOf"].as_array().into_iter().flatten().map(|of| &of["anyOf"][0]["required"][0]);
        listed.chain(spelt).any(|key| key == name)
    };
    let mut keys: Vec<Key> = properties
        .iter()
        .map(|(name, schema)| {
            let mut refers = Vec::new();
            let of = type_words(document, schema, &mut refers);
            let default = if required(name) { "required".into() } else { default(schema) };
            let mut meaning = meaning(document, schema);
            // The key that makes a variant what it is: the variant's description is its own.
            if meaning.is_empty() && (schema.get("const").is_some() || properties.len() == 1) {
                meaning = description(table);
            }
            Key { name: name.clone(), of, default, meaning, refers }
        })
        .collect();
    keys.sort_by_key(|key| (key.name != "type", !required(&key.name)));
    keys
}

/// The definition behind `$ref`, or the schema itself.
pub fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
    name.and_then(|name| document["$defs"].get(name)).unwrap_or(schema)
}

/// What a schema says of itself, without the example for programs that ends some comments.
pub(super) fn description(schema: &Value) -> String {
    let words = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    words.split("```").next().unwrap_or_default().trim_end().to_owned()
}

/// Its own description, else that of what it refers to.
fn meaning(document: &Value, schema: &Value) -> String {
    let own = description(schema);
    let items = schema.get("items").map(|items| description(resolve(document, items)));
    let below = description(resolve(document, schema));
    [own, below, items.unwrap_or_default()].into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn default(schema: &Value) -> String {
    let Some(value) = schema.get("default") else { return "absent".into() };
    let short = toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string());
    match value.get("type").and_then(Value::as_str) {
        Some(name) if short.len() > 48 => format!("{{ type = \"{name}\", … }}"),
        _ if short.len() > 48 && value.is_object() => "{ … }".into(),
        _ => short,
    }
}

/// A type in words. `refers` gets the definitions that it names.
pub(super) fn type_words(document: &Value, schema: &Value, refers: &mut Vec<String>) -> String {
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        let name = path.trim_start_matches("#/$defs/");
        let target = resolve(document, schema);
        let words = words(target);
        let is_words = !words.is_empty() && tables(target).is_empty() && !names_components(target);
        if target.get("properties").is_none()
            && target.get("oneOf").is_none()
            && target.get("anyOf").is_none()
        {
            return type_words(document, target, refers);
        }
        refers.push(name.to_owned());
        return if is_words { listed(&words) } else { heading(name) };
    }
    if let Some(choices) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) {
        let words: Vec<String> = choices.iter().map(|choice| type_words(document, choice, refers)).collect();
        return words.join(" or ");
    }
    if schema.get("const").is_some() || schema.get("enum").is_some() {
        return listed(&words(schema));
    }
    match schema.get("type") {
        Some(Value::String(name)) => plain(document, name, schema, refers),
        Some(Value::Array(names)) => {
            let words =
                names.iter().filter_map(Value::as_str).map(|name| plain(document, name, schema, refers));
            words.collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".into(),
    }
}

fn plain(document: &Value, name: &str, schema: &Value, refers: &mut Vec<String>) -> String {
    let of = |below: Option<&Value>, refers: &mut Vec<String>| {
        let below = below.filter(|below| below.is_object());
        below.map(|below| format!(" of {}", type_words(document, below, refers))).unwrap_or_default()
    };
    match name {
        "string" => "text".into(),
        "boolean" => "true or false".into(),
        "array" => match schema.get("prefixItems").and_then(Value::as_array) {
            Some(items) => {
                let items: Vec<String> =
                    items.iter().map(|item| type_words(document, item, refers)).collect();
                format!("list of {}", items.join(" and "))
            }
            None => format!("list{}", of(schema.get("items"), refers)),
        },
        "object" => format!("table{}", of(schema.get("additionalProperties"), refers)),
        other => other.into(),
    }
}

fn listed(words: &[(String, String)]) -> String {
    words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A definition's name in words: `ErrorRates` is `error rates`.
pub fn heading(name: &str) -> String {
    let mut words = String::new();
    for (i, letter) in name.replace(['-', '.'], " ").char_indices() {
        if i > 0 && (letter.is_uppercase() || letter.is_ascii_digit()) && !words.ends_with(' ') {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
