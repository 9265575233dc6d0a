//! `merit recipe check|show`.

use crate::cli::lists::Recipe;
use crate::out;
use anyhow::Result;

pub(crate) fn run(command: &Recipe) -> Result<()> {
    match command {
        Recipe::Check { file } => {
            let recipe = merit_run::shipped::load(file)?;
            out::line(format_args!("{file}: recipe `{}` is fine (hash {})", recipe.name, recipe.hash()))?;
        }
        Recipe::Show { file } => out::text(merit_run::shipped::load(file)?.to_toml())?,
    }
    Ok(())
}
