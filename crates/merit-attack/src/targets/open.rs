//! A target by name or file: a shipped recipe or reward, or a TOML file that holds one or the other.

use super::{RewardTarget, WorldTarget};
use crate::audit::Settings;
use crate::error::AttackError;
use crate::target::Target;
use crate::tasks;
use merit_core::registry::{UnknownName, nearest};
use merit_reward::REWARDS;
use merit_run::Recipe;
use merit_run::shipped::RECIPES;
use merit_run::toml_error::locate;
use std::path::Path;

/// What `name_or_path` names, ready to be audited. `task_file` holds the tasks of a reward; a recipe has its world's own.
///
/// ```
/// use merit_attack::{Settings, targets};
/// let settings = Settings { tasks: 3, ..Settings::default() };
/// assert_eq!(targets::open("final-answer", None, &settings)?.name(), "final-answer");
/// let unknown = targets::open("final-anwser", None, &settings).err().unwrap();
/// assert!(unknown.to_string().contains("did you mean `final-answer`?"));
/// # Ok::<(), merit_attack::AttackError>(())
/// ```
pub fn open(
    name_or_path: &str,
    task_file: Option<&Path>,
    settings: &Settings,
) -> Result<Box<dyn Target>, AttackError> {
    let is_path = name_or_path.ends_with(".toml") || name_or_path.contains('/');
    if is_path {
        let text = std::fs::read_to_string(name_or_path)
            .map_err(|e| AttackError::Read { file: name_or_path.to_owned(), why: e.to_string() })?;
        return from_toml(name_or_path, &text, task_file, settings);
    }
    if let Some(recipe) = RECIPES.iter().find(|recipe| recipe.about.name == name_or_path) {
        return from_toml(&format!("recipes/{name_or_path}.toml"), recipe.text, task_file, settings);
    }
    if let Some(reward) = REWARDS.iter().find(|reward| reward.about.name == name_or_path) {
        return open_reward(&format!("rewards/{name_or_path}.toml"), reward.text, task_file, settings);
    }
    let known: Vec<String> = RECIPES
        .iter()
        .map(|recipe| recipe.about.name)
        .chain(REWARDS.iter().map(|reward| reward.about.name))
        .map(str::to_owned)
        .collect();
    let nearest = nearest(name_or_path, known.iter().map(String::as_str));
    Err(UnknownName { kind: "recipe or reward", name: name_or_path.to_owned(), nearest, known }.into())
}

fn from_toml(
    file: &str,
    text: &str,
    task_file: Option<&Path>,
    settings: &Settings,
) -> Result<Box<dyn Target>, AttackError> {
    let bad = |why: String| AttackError::Target { target: file.to_owned(), why };
    let table: toml::Table = toml::from_str(text)
        .map_err(|error| AttackError::Toml { why: locate(file, text, &error).to_string() })?;
    if table.contains_key("type") {
        return open_reward(file, text, task_file, settings);
    }
    if !table.contains_key("world") {
        return Err(bad(
            "it is neither a reward, which has a `type`, nor a recipe, which has a `world`".to_owned()
        ));
    }
    if task_file.is_some() {
        return Err(bad("a recipe brings the tasks of its world; `--tasks` is for rewards".to_owned()));
    }
    let recipe = Recipe::parse(file, text).map_err(|error| AttackError::Toml { why: error.to_string() })?;
    let tasks = u32::try_from(settings.tasks).unwrap_or(u32::MAX);
    Ok(Box::new(WorldTarget::new(&recipe, settings.seed, tasks)?))
}

fn open_reward(
    file: &str,
    text: &str,
    task_file: Option<&Path>,
    settings: &Settings,
) -> Result<Box<dyn Target>, AttackError> {
    let given = task_file.map(|path| tasks::load(path, settings.tasks)).transpose()?;
    Ok(Box::new(RewardTarget::from_toml(file, text, given)?))
}
