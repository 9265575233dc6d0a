//! `merit library`: the versions of what a judge consults.

use super::{WrongInput, evolve, judge_test};
use crate::cli::judges::Library;
use crate::out;
use anyhow::{Context as _, Result};
use merit_core::Components;
use merit_evolve::{Edit, Entry, Phase};
use merit_judge::{JudgeFolder, prune_checks, read_pairs, reward_table};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(arguments: &Library, components: &Components) -> Result<()> {
    match arguments {
        Library::Log { judge, json } => log(&JudgeFolder::open(judge)?, *json),
        Library::Diff { judge, from, to } => diff(&JudgeFolder::open(judge)?, *from, *to),
        Library::Revert { judge, version } => {
            let mut folder = JudgeFolder::open(judge)?;
            let version = version.unwrap_or(folder.state.version);
            folder.use_version(version)?;
            Ok(out::line(format_args!("version {version} is in use"))?)
        }
        Library::Commit { judge, message } => commit(&mut JudgeFolder::open(judge)?, message),
        Library::Prune { judge, from, margin } => {
            prune(&mut JudgeFolder::open(judge)?, from, *margin, components)
        }
        Library::Export { judge, to, force } => export(judge, to, *force),
    }
}

fn log(folder: &JudgeFolder, as_json: bool) -> Result<()> {
    for change in &folder.changes {
        if as_json {
            out::line(json!(change))?;
            continue;
        }
        let (used, best) = (folder.state.version == change.version, folder.state.best == change.version);
        let mark = match (used, best) {
            (true, true) => "  (in use, best)",
            (true, false) => "  (in use)",
            (false, true) => "  (best)",
            (false, false) => "",
        };
        out::line(format_args!("{}{mark}", evolve::said(change)))?;
    }
    Ok(())
}

fn diff(folder: &JudgeFolder, from: usize, to: Option<usize>) -> Result<()> {
    let (before, after) = (folder.library(from)?, folder.library(to.unwrap_or(folder.state.version))?);
    let named = |id: &str, entry: &Entry| format!("{:+.3}  {}  ({id})", entry.weight, entry.title);
    for edit in before.diff(&after) {
        let line = match &edit {
            Edit::Add { id, entry } => format!("+ {}", named(id, entry)),
            Edit::Update { id, entry } => {
                let old = before.get(id).map(|old| format!("{:+.3}", old.weight)).unwrap_or_default();
                format!("~ {}, was {old}", named(id, entry))
            }
            Edit::Delete { id } => {
                format!("- {}", before.get(id).map(|old| named(id, old)).unwrap_or_default())
            }
        };
        out::line(line)?;
    }
    Ok(())
}

fn commit(folder: &mut JudgeFolder, message: &str) -> Result<()> {
    let entries = folder.entries()?;
    if folder.library(folder.state.version)? == entries {
        return Err(WrongInput(
            "the entries are those of the version in use; there is nothing to commit".to_owned(),
        )
        .into());
    }
    let version = folder.by_hand(&entries, Phase::Reverted, message)?;
    Ok(out::line(format_args!("version {version} is in use"))?)
}

fn prune(folder: &mut JudgeFolder, from: &Path, margin: f64, components: &Components) -> Result<()> {
    if !(0.0..=1.0).contains(&margin) {
        return Err(WrongInput("`--margin` is a share of the pairs, from 0 to 1".to_owned()).into());
    }
    let pairs = read_pairs(from)?;
    let before = folder.in_use()?.len();
    let after = prune_checks(folder, &pairs, margin, components, &mut |change| {
        drop(out::line(evolve::said(change)))
    })?;
    Ok(out::line(format_args!(
        "{before} entries before, {} now; version {} is in use",
        after.len(),
        folder.state.version
    ))?)
}

fn export(judge: &str, to: &Path, force: bool) -> Result<()> {
    let (path, version) = judge_test::versioned(judge)?;
    let folder = JudgeFolder::open(Path::new(path))?;
    let version = version.unwrap_or(folder.state.version);
    let library = folder.library(version)?;
    let refused = match folder.last_test()? {
        Some((tested, came_to)) if tested == version => came_to.beats_leaks().err(),
        _ => Some(format!("version {version} was not tested")),
    };
    if let (Some(why), false) = (&refused, force) {
        let text = format!("{judge} is no reward: {why}; `--force` writes it all the same");
        return Err(WrongInput(text).into());
    }
    if to.exists() {
        return Err(WrongInput(format!("{} is there already; name another file", to.display())).into());
    }
    let table = reward_table(&library)?;
    let head = format!("# {} at version {version}: {} checks\n", folder.name(), library.len());
    let text = head + &toml::to_string(&table)?;
    std::fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(out::line(format_args!("{} is a reward: `merit score {} EPISODES`", to.display(), to.display()))?)
}
