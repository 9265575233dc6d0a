//! A target by name or file: a shipped recipe or reward, or a TOML file that holds one or the other.

use super::{RewardTarget, WorldTarget};
use crate::audit::Settings;
use crate::error::AttackError;
use crate::target::Target;
use crate::tasks;
use merit_core::Components;
use merit_run::Recipe;
use merit_run::reward_file::{self, Kind, Source};
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
    open_with(name_or_path, task_file, settings, &merit_run::built_in())
}

/// The same, read against these components.
pub fn open_with(
    name_or_path: &str,
    task_file: Option<&Path>,
    settings: &Settings,
    components: &Components,
) -> Result<Box<dyn Target>, AttackError> {
    let Source { file, text, kind } = reward_file::find(name_or_path)?;
    if kind == Kind::Reward {
        let given = task_file.map(|path| tasks::load(path, settings.tasks)).transpose()?;
        return Ok(Box::new(RewardTarget::from_toml(&file, &text, given, components)?));
    }
    if task_file.is_some() {
        let why = "a recipe brings the tasks of its world; `--tasks` is for rewards".to_owned();
        return Err(AttackError::Target { target: file, why });
    }
    let recipe = Recipe::read(&file, &text, components)?;
    let tasks = u32::try_from(settings.tasks).unwrap_or(u32::MAX);
    Ok(Box::new(WorldTarget::new(&recipe, settings.seed, tasks)?))
}
