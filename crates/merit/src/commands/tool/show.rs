//! `merit tool show`: the card of a tool, and the words in which a model is told of it.

use super::named;
use super::settings::of_example;
use crate::commands::WrongInput;
use crate::out;
use anyhow::Result;
use merit_core::{Components, printable};
use merit_tools::{Arguments, ToolSpec, formats};
use std::path::Path;

pub(super) fn show(
    (name, components): (&str, &Components),
    set: &[(String, String)],
    file: Option<&Path>,
    format: Option<&str>,
) -> Result<()> {
    let config = named((name, components), set, file).or_else(|error| {
        let nothing = set.is_empty() && file.is_none();
        let example = nothing.then(|| of_example(name, components)).transpose()?.flatten().ok_or(error)?;
        out::complain(format_args!("no settings given: the example of `{name}` is used"));
        anyhow::Ok(example)
    })?;
    let built = config.build().map_err(|error| WrongInput(error.to_string()))?;
    let cards: Vec<ToolSpec> = built.iter().map(|tool| tool.spec().clone()).collect();
    if let Some(format) = format {
        let format = formats::call_format(format).map_err(|error| WrongInput(error.to_string()))?;
        return Ok(out::line(printable::lines(format.advertise(&cards).trim_end()))?);
    }
    for card in &cards {
        out::line(format_args!("{}  {}", printable::piece(&card.name), printable::piece(&card.summary)))?;
        match &card.arguments {
            Arguments::Text { property, about } => {
                out::line(format_args!("  input: {about} (as JSON: `{property}`)"))?;
            }
            Arguments::Json { schema } => out::line(format_args!("  input: JSON {schema}"))?,
        }
        out::line(format_args!("  example: {}", printable::piece(&card.example)))?;
    }
    let about = config.about();
    if !about.paper.is_empty() {
        out::line(format_args!("  after: {}", about.paper))?;
    }
    let settings = toml::to_string(&config)?;
    out::line(format_args!("\nsettings:\n{}", settings.trim_end()))?;
    Ok(())
}
