//! `merit recipe check|show|reference|schema`.

use super::WrongInput;
use crate::cli::lists::{Document, Recipe};
use crate::out;
use anyhow::Result;
use merit_core::Components;

pub(crate) fn run(command: &Recipe, components: &Components) -> Result<()> {
    match command {
        Recipe::Check { file } => {
            let recipe = merit_run::shipped::load_with(file, components)?;
            let notes = recipe.look().map_err(|why| WrongInput(format!("{file}: {why}")))?;
            for note in notes {
                out::line(format_args!("note: {note}"))?;
            }
            out::line(format_args!("{file}: recipe `{}` is fine (hash {})", recipe.name, recipe.hash()))?;
        }
        Recipe::Reference => out::text(crate::reference::page(components))?,
        Recipe::Schema { of } => {
            let schema = match of {
                Document::Recipe => crate::reference::recipe_schema(components),
                Document::Reward => crate::reference::reward_schema(components),
                Document::System => crate::reference::system_schema(),
            };
            out::line(serde_json::to_string_pretty(&schema)?)?;
        }
        Recipe::Show { file } => out::text(merit_run::shipped::load_with(file, components)?.to_toml())?,
    }
    Ok(())
}
