//! Rewards by name, from a file of their own, or out of a recipe.
//!
//! A reward file is a TOML document whose top level is the expression. A recipe is told by its `[reward]` table.

use crate::recipe::{Recipe, RecipeError};
use crate::shipped;
use crate::toml_error::locate;
use merit_core::registry::find;
use merit_reward::{REWARDS, RewardConfig, Scorer};

/// A reward with what it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedReward {
    /// The file or name it was asked for by.
    pub name: String,
    /// The expression.
    pub config: RewardConfig,
}

/// The reward of that name (a shipped reward or recipe), or in that file. It is checked: it compiles.
pub fn load(name_or_path: &str) -> Result<NamedReward, RecipeError> {
    let looks_like_a_path = name_or_path.ends_with(".toml") || name_or_path.contains('/');
    let (file, text) = if looks_like_a_path {
        let text = std::fs::read_to_string(name_or_path)
            .map_err(|e| RecipeError::Read { file: name_or_path.to_owned(), why: e.to_string() })?;
        (name_or_path.to_owned(), text)
    } else if let Some(recipe) = shipped::RECIPES.iter().find(|r| r.about.name == name_or_path) {
        (format!("recipes/{name_or_path}.toml"), recipe.text.to_owned())
    } else {
        let reward = find("reward", REWARDS, |r| r.about, name_or_path)?;
        (format!("rewards/{name_or_path}.toml"), reward.text.to_owned())
    };
    parse(name_or_path, &file, &text)
}

fn parse(name: &str, file: &str, text: &str) -> Result<NamedReward, RecipeError> {
    let table: toml::Table = toml::from_str(text).map_err(|error| locate(file, text, &error))?;
    if table.contains_key("reward") {
        return Ok(NamedReward { name: name.to_owned(), config: Recipe::parse(file, text)?.reward });
    }
    let config: RewardConfig = toml::from_str(text).map_err(|error| locate(file, text, &error))?;
    Scorer::compile(&config)
        .map_err(|e| RecipeError::Combination { file: file.to_owned(), why: e.to_string() })?;
    Ok(NamedReward { name: name.to_owned(), config })
}
