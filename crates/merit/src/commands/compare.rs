//! `merit compare`: is B better than A, by how much, how sure?

use super::WrongInput;
use crate::cli::lab::Compare;
use crate::out;
use anyhow::Result;
use merit_measure::{conditions, versus};
use merit_store::RunFolder;
use serde_json::json;

pub(crate) fn run(arguments: &Compare) -> Result<()> {
    let folders: Vec<RunFolder> =
        arguments.runs.iter().map(|path| RunFolder::open_read_only(path)).collect::<Result<_, _>>()?;
    let conditions = conditions(&folders)?;
    let [first, others @ ..] = conditions.as_slice() else {
        return Err(WrongInput("there is nothing to compare; name at least two run folders".into()).into());
    };
    if others.is_empty() {
        let why = format!(
            "all these runs are of one recipe, `{}`; name runs of another one, or the same one with a setting changed",
            first.name
        );
        return Err(WrongInput(why).into());
    }
    for condition in &conditions {
        let Some((success, interval)) = condition.success() else {
            return Err(WrongInput(format!("`{}` has no episode that counts", condition.name)).into());
        };
        if arguments.json {
            out::line(
                json!({ "condition": condition.name, "success": success, "low": interval.low, "high": interval.high,
                "tasks": condition.tasks.len(), "seeds": condition.seeds() }),
            )?;
        } else {
            out::line(format_args!(
                "{:24}  {:5.1} %  ({:.1} to {:.1})  {} tasks, {} seeds",
                condition.name,
                success * 100.0,
                interval.low * 100.0,
                interval.high * 100.0,
                condition.tasks.len(),
                condition.seeds()
            ))?;
        }
    }
    for other in others {
        match versus(first, other) {
            Some(found) if arguments.json => out::line(json!({ "versus": found, "says": found.sentence() }))?,
            Some(found) => out::line(found.sentence())?,
            None => {
                let why = format!(
                    "`{}` and `{}` share no task at any seed; compare runs of the same seeds in the same world",
                    first.name, other.name
                );
                return Err(WrongInput(why).into());
            }
        }
    }
    Ok(())
}
