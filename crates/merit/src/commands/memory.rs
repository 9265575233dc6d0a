//! `merit memory look|search|add|prune|export`: stores of texts that are shown again.

use super::WrongInput;
use crate::cli::memory::{Memory as Asked, MemoryAdd};
use crate::out;
use anyhow::Result;
use merit_core::gate::GateRule;
use merit_core::printable::{self, count as words};
use merit_core::{Group, ScoredEpisode, canonical};
use merit_memory::{
    Candidate, Evolved, Forgotten, Item, MadeBy, Memory, Query, Question, Settings, answered, form,
};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::json;
use std::path::Path;

/// Letters of an item that is formed from an episode, at most.
const LONGEST: usize = 400;
/// The reward from which on an episode is learned from, unless told otherwise.
const STORED_AT: f64 = 0.7;
/// Items among which an answer is looked for.
const ANSWERS: usize = 5;
/// Changes that are told.
const CHANGES: usize = 3;

pub(crate) fn run(command: &Asked) -> Result<()> {
    match command {
        Asked::Add(arguments) => add(arguments),
        Asked::Look { folder, id, limit, json } => look(folder, *id, *limit, *json),
        Asked::Search { k: 0, .. } => Err(nothing_found("-k")),
        Asked::Search { words: Some(0), .. } => Err(nothing_found("--words")),
        Asked::Search { folder, query, k, words, by, json } => {
            let query = Query { words: *words, by: *by, ..Query::new(query, *k) };
            search(folder, &query, *json)
        }
        Asked::Prune { folder, to, losing, id, json } => {
            let which = match (to, losing, id) {
                (_, Some(losses), _) => Forgotten::Losing { at_least: *losses },
                (_, _, Some(id)) => Forgotten::One(*id),
                (to, None, None) => Forgotten::Above(to.unwrap_or(0)),
            };
            let mut memory = Memory::open(folder)?;
            if let Some(id) = id
                && memory.get(*id)?.is_none()
            {
                return Err(no_item(folder, *id).into());
            }
            let gone = memory.prune(which)?;
            match json {
                true => Ok(out::line(json!({ "forgotten": gone }))?),
                false => Ok(out::line(format_args!("forgot {}", words(gone, "item")))?),
            }
        }
        Asked::Export { folder } => export(folder),
    }
}

fn nothing_found(option: &str) -> anyhow::Error {
    WrongInput(format!("`{option} 0` leaves nothing to be found; give at least 1")).into()
}

fn no_item(folder: &Path, id: i64) -> WrongInput {
    WrongInput(format!("{} has no item {id}", folder.display()))
}

fn look(folder: &Path, id: Option<i64>, limit: usize, as_json: bool) -> Result<()> {
    let memory = Memory::open(folder)?;
    if let Some(id) = id {
        let item = memory.get(id)?;
        let item = item.ok_or_else(|| no_item(folder, id))?;
        return if as_json { Ok(out::line(json!(item))?) } else { told(&item, None) };
    }
    let mut items = Vec::new();
    memory.each(|item| items.push(item))?;
    let (count, version, changes) = (items.len(), memory.version()?, memory.changes(CHANGES)?);
    items.drain(..count.saturating_sub(limit));
    if as_json {
        let settings = memory.settings();
        let all = json!({ "settings": settings, "items": count, "version": version, "changes": changes, "newest": items });
        return Ok(out::line(all)?);
    }
    let settings = toml::to_string(memory.settings())?;
    out::line(format_args!("{}: {}, version {version}", folder.display(), words(count, "item")))?;
    out::text(settings.lines().map(|line| format!("  {line}\n")).collect::<String>())?;
    for change in changes {
        out::line(format_args!("version {}: {}", change.version, printable::lines(&change.what)))?;
    }
    items.iter().try_for_each(|item| told(item, None))
}

fn search(folder: &Path, query: &Query<'_>, as_json: bool) -> Result<()> {
    let found = Memory::open(folder)?.retrieve(query)?;
    if as_json {
        return Ok(out::line(json!(found))?);
    }
    if found.items.is_empty() {
        return Ok(out::line("nothing was found")?);
    }
    found.items.iter().zip(&found.scores).try_for_each(|(item, score)| told(item, Some(*score)))
}

fn told(item: &Item, score: Option<f64>) -> Result<()> {
    let score = score.map(|score| format!(" ({score:.3})")).unwrap_or_default();
    let by = &item.made_by;
    out::line(format_args!("{}{score}: {}", item.id, printable::lines(&item.text)))?;
    let (uses, wins, losses) = (item.uses, item.wins, item.losses);
    let from = printable::lines(&by.run);
    Ok(out::line(format_args!("   from {from}, shown {uses}, won {wins}, lost {losses}"))?)
}

fn export(folder: &Path) -> Result<()> {
    let mut lines = Vec::new();
    Memory::open(folder)?.each(|item| lines.push(json!(Candidate::from(item)).to_string()))?;
    lines.into_iter().try_for_each(|line| Ok(out::line(line)?))
}

fn add(arguments: &MemoryAdd) -> Result<()> {
    if arguments.stored_at.is_some() && !arguments.from.is_dir() {
        let why = format!(
            "`--stored-at` is for the episodes of a run, and {} is no folder; leave it out",
            arguments.from.display()
        );
        return Err(WrongInput(why).into());
    }
    let mut memory = open_or_make(arguments)?;
    let before = memory.version()?;
    let candidates = match arguments.from.is_dir() {
        true => of_run(&mut memory, arguments)?,
        false => form::lines(&read(&arguments.from)?, &arguments.from.display().to_string())?,
    };
    let evolved = match &arguments.questions {
        None => memory.evolve(candidates)?,
        Some(file) => {
            let questions = questions(file)?;
            let rule = GateRule::Margin { margin: arguments.margin };
            memory.evolve_through(candidates, &rule, |memory| answered(memory, &questions, ANSWERS))?
        }
    };
    let version = memory.version()?;
    if arguments.json {
        let all = json!({ "before": before, "version": version, "evolved": evolved, "items": memory.len()? });
        return Ok(out::line(all)?);
    }
    let Evolved { added, merged, replaced, refused, forgotten } = evolved;
    out::line(format_args!(
        "added {added}, merged {merged}, replaced {replaced}, refused {refused}, forgot {forgotten}; {} at version {version}",
        words(memory.len()?, "item")
    ))?;
    Ok(())
}

fn open_or_make(arguments: &MemoryAdd) -> Result<Memory> {
    let MemoryAdd { folder, kind, retrieval, capacity, forgetting, .. } = arguments;
    let usual = Settings::default();
    let settings = Settings {
        kind: kind.unwrap_or(usual.kind),
        retrieval: retrieval.unwrap_or(usual.retrieval),
        capacity: capacity.unwrap_or(usual.capacity),
        forgetting: forgetting.unwrap_or(usual.forgetting),
    };
    if !folder.join("memory.toml").is_file() {
        return Ok(Memory::create(folder, settings)?);
    }
    let memory = Memory::open(folder)?;
    let asked = kind.is_some() || retrieval.is_some() || capacity.is_some() || forgetting.is_some();
    if asked && *memory.settings() != settings {
        let why = format!(
            "{} is a memory with settings of its own; leave these options out, or change its `memory.toml`",
            folder.display()
        );
        return Err(WrongInput(why).into());
    }
    Ok(memory)
}

/// What a run leaves: items of the memory's kind from its training episodes, and wins and losses of the items it showed.
fn of_run(memory: &mut Memory, arguments: &MemoryAdd) -> Result<Vec<Candidate>> {
    let run = RunFolder::open_read_only(&arguments.from)?;
    let stored = run.episodes(&EpisodeFilter::default())?.into_iter().map(|stored| stored.scored);
    let train: Vec<ScoredEpisode> = stored.filter(|scored| scored.episode.id.phase.is_train()).collect();
    let groups = Group::by_id(train)?;
    memory.learn_from(&groups.iter().map(Group::members).collect::<Vec<_>>())?;
    let kept = form::Kept { stored_at: arguments.stored_at.unwrap_or(STORED_AT), longest: LONGEST };
    let mut candidates = Vec::new();
    for group in &groups {
        let Some(first) = group.members().first() else { continue };
        let by = MadeBy {
            run: arguments.from.display().to_string(),
            policy_version: first.episode.policy_version.0,
            task: Some(merit_api::fingerprint(&canonical(&first.episode.task.payload))),
        };
        candidates.extend(form::episodes(memory.settings().kind, group.members(), &by, &kept));
    }
    Ok(candidates)
}

fn questions(file: &Path) -> Result<Vec<Question>> {
    let text = read(file)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = lines.map(|(at, line)| {
        serde_json::from_str(line).map_err(|why| {
            WrongInput(format!(
                "{}, line {}: no question with `query` and `expect`: {why}",
                file.display(),
                at + 1
            ))
        })
    });
    Ok(read.collect::<Result<Vec<Question>, WrongInput>>()?)
}

fn read(file: &Path) -> Result<String> {
    let why = |why: std::io::Error| WrongInput(format!("cannot read {}: {why}", file.display()));
    let mut text = std::fs::read_to_string(file).map_err(why)?;
    // Programs of Windows begin a file with a mark.
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}
