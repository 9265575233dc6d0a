//! Changes to a recipe before it is parsed: `--set key=value` and the differences of controls.

/// The value that `text` writes in TOML; a plain string when it is none.
pub fn parse_value(text: &str) -> toml::Value {
    let parsed = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

/// Puts `value` at a dotted path; only the last part may be new.
pub fn set_path(table: &mut toml::Table, path: &str, value: toml::Value) -> Result<(), String> {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
            Ok(())
        }
        Some((head, rest)) => {
            // An absent section may be an optional one; whether it exists at all is for the parser to say.
            let next = table.entry(head).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            let next = next.as_table_mut().ok_or_else(|| format!("`{head}` is a value, not a section"))?;
            set_path(next, rest, value)
        }
    }
}

/// Lays `changes` over `base`, table by table. A component of another type takes the place of the one before, whole.
pub fn merge(base: &mut toml::Table, changes: &toml::Table) {
    for (key, value) in changes {
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(change)) if !replaces(inner, change) => {
                merge(inner, change);
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn replaces(base: &toml::Table, change: &toml::Table) -> bool {
    change.get("type").is_some_and(|kind| base.get("type").is_some_and(|was| was != kind))
}
