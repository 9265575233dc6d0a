//! `merit recipe check|show`.

use super::WrongInput;
use crate::cli::lists::Recipe;
use crate::out;
use anyhow::Result;

pub(crate) fn run(command: &Recipe) -> Result<()> {
    match command {
        Recipe::Check { file } => {
            let recipe = merit_run::shipped::load(file)?;
            let notes = recipe.look().map_err(|why| WrongInput(format!("{file}: {why}")))?;
            for note in notes {
                out::line(format_args!("note: {note}"))?;
            }
            out::line(format_args!("{file}: recipe `{}` is fine (hash {})", recipe.name, recipe.hash()))?;
        }
        Recipe::Show { file } => out::text(merit_run::shipped::load(file)?.to_toml())?,
    }
    Ok(())
}
