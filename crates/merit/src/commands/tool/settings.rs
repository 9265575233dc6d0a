//! The settings of a tool, from its name, a file and changes on the command line.

use crate::commands::WrongInput;
use anyhow::Result;
use merit_core::registry::{Chosen, Components};
use merit_run::overrides::{parse_value, set_path};
use merit_run::toml_error::locate;
use merit_tools::ToolSettings;
use serde::Deserialize;
use std::path::Path;

/// The tool called `name` with the settings in `file`, changed by `set`.
pub(crate) fn named(
    (name, components): (&str, &Components),
    set: &[(String, String)],
    file: Option<&Path>,
) -> Result<Chosen<dyn ToolSettings>> {
    let entry = components.find::<dyn ToolSettings>(name).map_err(|error| WrongInput(error.to_string()))?;
    let mut table = toml::Table::new();
    if let Some(path) = file {
        let text = read(path)?;
        table = merit_core::settings::from_toml(&text)
            .map_err(|error| locate(&path.display().to_string(), &text, &error))?;
    }
    match table.get("type").and_then(toml::Value::as_str) {
        Some(other) if other != name => {
            let file = file.map(|path| path.display().to_string()).unwrap_or_default();
            return Err(WrongInput(format!("{file} holds settings of `{other}`, not of `{name}`")).into());
        }
        _ => table.insert("type".to_owned(), toml::Value::String(name.to_owned())),
    };
    for (key, value) in set {
        let wrong = |why: String| WrongInput(format!("--set {key}={value}: {why}"));
        set_path(&mut table, key, parse_value(value)).map_err(wrong)?;
    }
    components.reading(|| Chosen::deserialize(table)).map_err(|error| {
        let hint = match entry.example {
            "" => String::new(),
            example => format!("; its settings look like this:\n{}", example.trim()),
        };
        WrongInput(format!("tool `{name}`: {}{hint}", error.message())).into()
    })
}

/// The tool called `name` with the settings of its example.
pub(super) fn of_example(name: &str, components: &Components) -> Result<Option<Chosen<dyn ToolSettings>>> {
    let entry = components.find::<dyn ToolSettings>(name).map_err(|error| WrongInput(error.to_string()))?;
    if entry.example.is_empty() {
        return Ok(None);
    }
    let mut table: toml::Table = toml::from_str(entry.example)?;
    table.insert("type".to_owned(), toml::Value::String(name.to_owned()));
    let config: Chosen<dyn ToolSettings> = components.reading(|| Chosen::deserialize(table.clone()))?;
    if config.needs().is_empty() {
        return Ok(Some(config));
    }
    let set = |(key, value): (&String, &toml::Value)| {
        (key != "type").then(|| format!(" --set '{key}={}'", value.to_string().replace('\'', r"'\''")))
    };
    let set: String = table.iter().filter_map(set).collect();
    Err(WrongInput(format!(
        "tool `{name}` needs {}, and no settings are given; for example:\n  merit tool run {name}{set}",
        config.needs()
    ))
    .into())
}

/// A file with a `[[tools]]` list, as in a recipe.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toolset {
    tools: Vec<Chosen<dyn ToolSettings>>,
}

/// All tools that a file lists.
pub(crate) fn from_file(path: &Path, components: &Components) -> Result<Vec<Chosen<dyn ToolSettings>>> {
    let text = read(path)?;
    let set: Toolset = components
        .reading(|| merit_core::settings::from_toml(&text))
        .map_err(|error| locate(&path.display().to_string(), &text, &error))?;
    Ok(set.tools)
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| WrongInput(format!("cannot read {}: {error}", path.display())).into())
}
