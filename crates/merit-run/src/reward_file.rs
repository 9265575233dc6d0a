//! Rewards and recipes by name or file: how commands and libraries name a reward.
//!
//! A reward file is a TOML document whose top level is the expression, so it has a `type`. A recipe has a `[reward]` table.

use crate::recipe::Recipe;
use crate::recipe_error::RecipeError;
use crate::shipped;
use crate::toml_error::locate;
use merit_core::Components;
use merit_core::registry::UnknownName;
use merit_core::settings;
use merit_reward::{REWARDS, RewardConfig, Scorer};

/// The text behind a name or path, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, or what stands for it.
    pub file: String,
    /// The text of the file, TOML.
    pub text: String,
    /// Whether it is a reward, or a recipe that has one.
    pub kind: Kind,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file is a whole recipe.
    Recipe,
    /// The file is a reward alone.
    Reward,
}

/// A reward with what it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedReward {
    /// The file or name it was asked for by.
    pub name: String,
    pub config: RewardConfig,
}

/// The shipped recipe or reward of that name, or the file at that path.
pub fn find(name_or_path: &str) -> Result<Source, RecipeError> {
    if name_or_path.ends_with(".toml") || name_or_path.contains('/') {
        let text = std::fs::read_to_string(name_or_path)
            .map_err(|e| RecipeError::Read { file: name_or_path.to_owned(), why: e.to_string() })?;
        let kind = kind(name_or_path, &text)?;
        return Ok(Source { file: name_or_path.to_owned(), text, kind });
    }
    let recipes = shipped::recipes().iter().map(|r| (r.about.name, r.text, Kind::Recipe));
    let known: Vec<_> = recipes.chain(REWARDS.iter().map(|r| (r.about.name, r.text, Kind::Reward))).collect();
    if let Some((name, text, kind)) = known.iter().find(|(name, ..)| *name == name_or_path) {
        let folder = if *kind == Kind::Recipe { "recipes" } else { "rewards" };
        return Ok(Source { file: format!("{folder}/{name}.toml"), text: (*text).to_owned(), kind: *kind });
    }
    let names = known.iter().map(|(name, ..)| *name);
    Err(UnknownName::among("recipe or reward", name_or_path, names).into())
}

fn kind(file: &str, text: &str) -> Result<Kind, RecipeError> {
    let table: toml::Table = settings::from_toml(text).map_err(|error| locate(file, text, &error))?;
    if table.contains_key("type") {
        Ok(Kind::Reward)
    } else if table.contains_key("reward") || table.contains_key("world") {
        Ok(Kind::Recipe)
    } else {
        let why = "it is neither a reward, which has a `type`, nor a recipe, which has a `world`".to_owned();
        Err(RecipeError::Combination { file: file.to_owned(), why })
    }
}

/// The reward of that name (a shipped reward or recipe), or in that file. It is checked: it compiles.
pub fn load(name_or_path: &str) -> Result<NamedReward, RecipeError> {
    load_with(name_or_path, &crate::built_in())
}

/// The same, read against these components.
pub fn load_with(name_or_path: &str, components: &Components) -> Result<NamedReward, RecipeError> {
    let Source { file, text, kind } = find(name_or_path)?;
    let config = match kind {
        Kind::Recipe => Recipe::read(&file, &text, components)?.reward,
        Kind::Reward => parse_with(&file, &text, components)?,
    };
    Ok(NamedReward { name: name_or_path.to_owned(), config })
}

/// The reward whose TOML `text` stands in `file`. It is checked: it compiles.
pub fn parse(file: &str, text: &str) -> Result<RewardConfig, RecipeError> {
    parse_with(file, text, &crate::built_in())
}

/// The same, read against these components.
pub fn parse_with(file: &str, text: &str, components: &Components) -> Result<RewardConfig, RecipeError> {
    let config: RewardConfig = crate::mistakes::read(file, text, "", components)?;
    Scorer::compile(&config)
        .map_err(|e| RecipeError::Combination { file: file.to_owned(), why: e.to_string() })?;
    Ok(config)
}
