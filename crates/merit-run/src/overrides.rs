//! Changes to a recipe before it is parsed: `--set key=value` and the differences of controls.

use crate::model::FRESH_ONLY;

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

/// Lays `changes` over `base`, table by table. A component of another type takes the place of the one before, whole; so does a model from
/// a file that of a decoder made on the spot, and the other way round.
pub fn merge(base: &mut toml::Table, changes: &toml::Table) {
    for (key, value) in changes {
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(change))
                if !replaces(key, inner, change) =>
            {
                merge(inner, change);
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn replaces(key: &str, base: &toml::Table, change: &toml::Table) -> bool {
    let other_type = change.get("type").is_some_and(|kind| base.get("type").is_some_and(|was| was != kind));
    other_type || (key == "model" && other_model(base, change))
}

fn other_model(base: &toml::Table, change: &toml::Table) -> bool {
    match base.contains_key("file") {
        true => !change.contains_key("file") && FRESH_ONLY.iter().any(|key| change.contains_key(*key)),
        false => change.contains_key("file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_the_other_kind_takes_the_place_of_the_one_before() {
        let merged = |base: &str, change: &str| {
            let read = |text: &str| toml::from_str::<toml::Table>(text).unwrap();
            let mut base = read(base);
            merge(&mut base, &read(change));
            base
        };
        let (fresh, file) =
            ("model = { layers = 2, context = 64 }", "model = { file = 'm.gguf', context = 320 }");
        assert_eq!(merged(fresh, file), toml::from_str(file).unwrap());
        assert_eq!(merged(file, fresh), toml::from_str(fresh).unwrap());
        // A change that fits both kinds changes what is there.
        let longer = merged(file, "model = { context = 512 }");
        assert_eq!(longer, toml::from_str("model = { file = 'm.gguf', context = 512 }").unwrap());
    }
}
