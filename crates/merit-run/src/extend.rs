//! A run that goes on beyond its budget: the same folder, the same policy and optimiser, more steps.

use crate::recipe::Recipe;
use crate::stage::{Place, Stage, Work};
use crate::{RunError, now_ms};
use merit_store::RunFolder;

/// The mark that says after how many steps a run was told to go on.
const MARK: &str = "extended_from";
/// What may change in a run that goes on; everything else would make it another run.
const MAY_CHANGE: [&str; 5] =
    ["budget.steps", "budget.checkpoint_every", "evaluation.every", "evaluation.tasks_between", "about"];

/// Changes the budget of a run so that the next training goes on to it. Gives the changed recipe.
pub fn extend(folder: &RunFolder, recipe: &Recipe, changes: &[(String, String)]) -> Result<Recipe, RunError> {
    if !changes.is_empty() && changes.iter().all(|(key, _)| lets_a_model(key)) {
        return forced(folder, recipe, changes);
    }
    let refuse = |why: String| Err(RunError::Extend { run: folder.path().display().to_string(), why });
    if let Some((key, _)) = changes.iter().find(|(key, _)| !MAY_CHANGE.contains(&key.as_str())) {
        return refuse(format!(
            "`{key}` cannot change in a run that goes on; {} can. For anything else begin a new run",
            MAY_CHANGE[..4].join(", ")
        ));
    }
    let longer = recipe.with(changes)?;
    if !recipe.stages.is_empty() {
        return refuse("its recipe has stages, each with a budget of its own; begin a new run".into());
    }
    if !recipe.controls.is_empty() {
        return refuse(
            "its controls were trained after it, and what its optimiser knew is gone; begin a new run from its policy, with \
             `[model] start`"
                .into(),
        );
    }
    if recipe.budget.until.is_some() {
        return refuse("its budget ends by `until`; begin a new run".into());
    }
    let (was, is) = (recipe.budget.steps, longer.budget.steps);
    if is < was {
        return refuse(format!("it has {was} steps, and `budget.steps` would make them {is}; give more"));
    }
    folder.replace_recipe(&longer.to_toml(), &longer.hash())?;
    folder.set_mark(MARK, &was)?;
    folder.set_mark("finished", &false)?;
    folder.record_event(now_ms(), "extended", &format!("from {was} steps to {is}"))?;
    Ok(longer)
}

/// Whether a key lets a model decide that proved nothing.
fn lets_a_model(key: &str) -> bool {
    key.starts_with("models.") && key.ends_with(".force")
}

/// Lets a model decide in a run that was refused because of it. What was done so far did not depend on it.
fn forced(folder: &RunFolder, recipe: &Recipe, changes: &[(String, String)]) -> Result<Recipe, RunError> {
    let changed = recipe.with(changes)?;
    folder.replace_recipe(&changed.to_toml(), &changed.hash())?;
    let keys: Vec<&str> = changes.iter().map(|(key, _)| key.as_str()).collect();
    folder.record_event(now_ms(), "forced", &keys.join(", "))?;
    Ok(changed)
}

/// Where a run goes on that was done with its learning before it was extended. `done`: steps of that learning.
pub(crate) fn place(
    folder: &RunFolder,
    stages: &[Stage],
    place: Place,
    done: u64,
) -> Result<Place, RunError> {
    let from: Option<u64> = folder.mark(MARK)?;
    let learning = stages.iter().position(|stage| matches!(stage.work, Work::Learn { .. }));
    Ok(match learning {
        Some(at) if from == Some(done) && place.stage > at && done < stages[at].steps() => {
            Place { stage: at, step: done, version: 0, ..place }
        }
        _ => place,
    })
}
