//! Everything about one component, for a terminal: its keys, the tables they name, its example.

use super::keys::{Key, heading, keys, names_components, tables};
use merit_core::registry::Listed;
use serde_json::Value;
use std::fmt::Write as _;

/// The keys of a component, then those of every table that they name, then the example.
pub fn sheet(document: &Value, listed: &Listed) -> String {
    let mut text = String::new();
    let own = keys(document, &document["$defs"][listed.definition()]);
    rows(&mut text, &own);
    let mut named: Vec<String> = own.into_iter().flat_map(|key| key.refers).collect();
    let mut next = 0;
    while let Some(name) = named.get(next).cloned() {
        next += 1;
        let schema = &document["$defs"][&name];
        // A component has a sheet of its own.
        if names_components(schema) || named[..next - 1].contains(&name) {
            continue;
        }
        for table in tables(schema) {
            let _ = write!(text, "\n{}\n", heading(&name));
            let below = keys(document, table);
            rows(&mut text, &below);
            named.extend(below.into_iter().flat_map(|key| key.refers));
        }
    }
    let _ = write!(text, "\nexample\n");
    for line in listed.document().lines() {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn rows(text: &mut String, keys: &[Key]) {
    let header = Key {
        name: "key".into(),
        of: "type".into(),
        default: "default".into(),
        meaning: "meaning".into(),
        refers: Vec::new(),
    };
    let rows: Vec<&Key> = std::iter::once(&header).chain(keys).collect();
    let width =
        |column: fn(&Key) -> &str| rows.iter().map(|key| column(key).chars().count()).max().unwrap_or(0);
    let (name, of, default) = (width(|key| &key.name), width(|key| &key.of), width(|key| &key.default));
    text.push('\n');
    for key in rows {
        let meaning = key.meaning.replace("\n\n", " ");
        let _ = writeln!(text, "  {:name$}  {:of$}  {:default$}  {meaning}", key.name, key.of, key.default);
    }
}
