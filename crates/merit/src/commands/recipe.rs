//! `merit recipe check|show`.

use crate::cli::Recipe;
use anyhow::Result;

pub(crate) fn run(command: &Recipe) -> Result<()> {
    match command {
        Recipe::Check { file } => {
            let recipe = merit_run::shipped::load(file)?;
            println!("{file}: recipe `{}` is fine (hash {})", recipe.name, recipe.hash());
        }
        Recipe::Show { file } => print!("{}", merit_run::shipped::load(file)?.to_toml()),
    }
    Ok(())
}
