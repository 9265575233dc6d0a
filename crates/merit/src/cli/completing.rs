//! What a shell may offer while a command is typed: names of recipes, rewards, systems, components and tools, and folders of runs.
//!
//! The script of `merit completions` asks merit itself by an environment variable, so that runs made since are known too.

use super::lists::Kind;
use clap::ValueEnum as _;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use merit_core::{About, Components};
use merit_tools::ToolSettings;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The environment variable by which a shell asks.
pub(crate) const VARIABLE: &str = "MERIT_COMPLETE";

/// Names of shipped recipes, and files.
pub(super) fn recipes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| all([named(typed, recipe_names()), files(typed)]))
}

/// Names of shipped rewards and recipes, and files.
pub(super) fn rewards() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let rewards = merit_reward::REWARDS.iter().map(|reward| reward.about);
        all([named(typed, rewards), named(typed, recipe_names()), files(typed)])
    })
}

/// Names of shipped systems, and files.
pub(super) fn systems() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let names = merit_lab::systems().iter().map(|(name, _)| About { name, summary: "", paper: "" });
        all([named(typed, names), files(typed)])
    })
}

pub(super) fn tools() -> ArgValueCompleter {
    let lent = Components::lent();
    let tools = move || lent.entries::<dyn ToolSettings>().iter().map(|tool| tool.about).collect::<Vec<_>>();
    ArgValueCompleter::new(move |typed: &OsStr| named(typed, tools().into_iter()))
}

/// Names of the components of the kind that was typed before.
pub(super) fn components() -> ArgValueCompleter {
    let lent = Components::lent();
    ArgValueCompleter::new(move |typed: &OsStr| {
        let kind = std::env::args().skip_while(|word| word != "list").nth(1);
        let kind = kind.and_then(|kind| Kind::from_str(&kind, false).ok());
        let names = kind.map(|kind| crate::commands::list::names(kind, &lent)).unwrap_or_default();
        named(typed, names.into_iter())
    })
}

/// Runs below `runs`, and folders.
pub(super) fn runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let runs = found(Path::new("runs"), 2)
            .into_iter()
            .filter(|run| run.as_os_str().as_encoded_bytes().starts_with(typed.as_encoded_bytes()));
        let folders = PathCompleter::dir().complete(typed);
        let mut offered: Vec<CompletionCandidate> = runs.map(CompletionCandidate::new).collect();
        let known = |folder: &CompletionCandidate| {
            offered.iter().any(|run| Path::new(run.get_value()) == Path::new(folder.get_value()))
        };
        let others: Vec<_> = folders.into_iter().filter(|folder| !known(folder)).collect();
        offered.extend(others);
        offered
    })
}

fn all<const N: usize>(parts: [Vec<CompletionCandidate>; N]) -> Vec<CompletionCandidate> {
    parts.into_iter().flatten().collect()
}

fn recipe_names() -> impl Iterator<Item = About> {
    merit_run::shipped::recipes().iter().map(|recipe| recipe.about)
}

fn named(typed: &OsStr, names: impl Iterator<Item = About>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let begun = names.filter(|about| about.name.starts_with(&*typed));
    let help = |about: &About| (!about.summary.is_empty()).then(|| about.summary.into());
    begun.map(|about| CompletionCandidate::new(about.name).help(help(&about))).collect()
}

/// TOML files, and folders that may hold some.
fn files(typed: &OsStr) -> Vec<CompletionCandidate> {
    let wanted = |path: &Path| path.is_dir() || path.extension().is_some_and(|end| end == "toml");
    PathCompleter::any().filter(wanted).complete(typed)
}

/// The folders of runs in `folder`, and in its folders, so many levels deep.
fn found(folder: &Path, deep: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let runs = |path: PathBuf| match path.join("merit.db").is_file() {
        true => vec![path],
        false if deep > 1 => found(&path, deep - 1),
        false => Vec::new(),
    };
    folders.into_iter().flat_map(runs).collect()
}
