//! The settings of a command: a TOML file, and single settings laid over it.

use merit_core::settings;
use merit_run::RecipeError;
use merit_run::toml_error::locate;
use merit_verify::records::{lay_over, words};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Settings and what to call them in an error.
pub(super) struct Loaded<P> {
    pub(super) settings: P,
    pub(super) name: String,
}

/// The settings in `file`, or the default, with `set` laid over it.
pub(super) fn load<P: DeserializeOwned + Default>(
    file: Option<&Path>,
    set: &[(String, String)],
) -> Result<Loaded<P>, RecipeError> {
    let (file, text) = match file {
        Some(path) => {
            let file = path.display().to_string();
            let read = std::fs::read_to_string(path);
            let text = read.map_err(|e| RecipeError::Read { file: file.clone(), why: e.to_string() })?;
            (file, text)
        }
        None => (String::new(), String::new()),
    };
    if set.is_empty() {
        let settings = match text.is_empty() {
            true => P::default(),
            false => settings::from_toml(&text).map_err(|e| locate(&file, &text, &e))?,
        };
        return Ok(Loaded { settings, name: file });
    }
    let table: toml::Table = settings::from_toml(&text).map_err(|e| locate(&file, &text, &e))?;
    let name = set.iter().map(|(key, value)| format!("--set {key}={value}")).collect::<Vec<_>>().join(" ");
    let refuse = |why: String| RecipeError::Combination { file: name.clone(), why };
    let mut merged = to_json(&table).map_err(refuse)?;
    for (key, value) in set {
        let change = setting(key, value).map_err(refuse)?;
        lay_over(&mut merged, to_json(&change).map_err(refuse)?);
    }
    match serde_json::from_value(merged) {
        Ok(settings) => Ok(Loaded { settings, name }),
        // What the file alone does wrong has a place in it.
        Err(error) => Err(match settings::from_toml::<P>(&text) {
            Err(own) if own.message() == error.to_string() => locate(&file, &text, &own).into(),
            _ => refuse(words(&error)),
        }),
    }
}

fn to_json(table: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(table).map_err(|e| e.to_string())
}

/// The table that `key = value` writes in TOML; a value that is none is a plain string.
fn setting(key: &str, value: &str) -> Result<toml::Table, String> {
    let parse = |value: &str| toml::from_str::<toml::Table>(&format!("{key} = {value}"));
    let quoted = toml::Value::String(value.to_owned()).to_string();
    let found = parse(value).or_else(|_| parse(&quoted));
    found.map_err(|_| format!("`{key}` is no name of a setting, e.g. `units` or `limits.steps`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_setting_is_toml_or_a_plain_string() {
        let value =
            |key, value| to_json(&setting(key, value).expect("it is a setting")).expect("it is plain");
        assert_eq!(value("limits.steps", "7"), json!({"limits": {"steps": 7}}));
        assert_eq!(value("units", "ignored"), json!({"units": "ignored"}));
        let why = setting("a b", "1").unwrap_err();
        assert_eq!(why, "`a b` is no name of a setting, e.g. `units` or `limits.steps`");
    }
}
