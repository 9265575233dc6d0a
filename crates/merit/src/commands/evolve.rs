//! `merit evolve`: what a judge consults, improved from pairs.

use super::{WrongInput, judge_test};
use crate::cli::judges::Evolve;
use crate::out;
use anyhow::{Context as _, Result};
use merit_core::Components;
use merit_evolve::{Change, Entry, Kind, Phase};
use merit_judge::mined::Idea;
use merit_judge::{Evolved, JudgeFolder, Kept, LibraryFile, Pair, evolve_asked, evolve_checks, read_pairs};
use merit_run::{JudgeBackend, ModelAsker, OpenJudge};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) fn run(arguments: &Evolve, components: &Components) -> Result<()> {
    let pairs = read_pairs(&arguments.from)?;
    let own = arguments.checks.as_deref().map_or_else(|| Ok(Vec::new()), own_checks)?;
    let is_new = !arguments.judge.join("library.toml").exists();
    if !is_new && !arguments.set.is_empty() {
        let text = "`--set` is for a judge that is made now; edit its `library.toml` instead";
        return Err(WrongInput(text.to_owned()).into());
    }
    JudgeFolder::create(&arguments.judge, &settings(&arguments.set)?)?;
    let mut folder = JudgeFolder::open(&arguments.judge)?;
    let mut watch = |change: &Change| {
        let said = if arguments.json { out::line(json!(change)) } else { out::line(said(change)) };
        // The reader of the output may have left; the work goes on.
        drop(said);
    };
    let evolved = match judge_test::asks(&arguments.judge) {
        true if !own.is_empty() => {
            let text = "a model judges here, and `--checks` are for a judge that is made of checks; leave one of them out";
            return Err(WrongInput(text.to_owned()).into());
        }
        true => by_model(&mut folder, &pairs, components, &mut watch)?,
        false => evolve_checks(&mut folder, &pairs, own, components, &mut watch)?,
    };
    if arguments.json {
        return Ok(out::line(json!({
            "version": evolved.version,
            "entries": evolved.library.len(),
            "parts": evolved.parts,
            "tested": evolved.tested,
            "left_out": evolved.left_out.iter().map(|(id, why)| json!([id, why.to_string()])).collect::<Vec<_>>(),
        }))?);
    }
    Ok(out::text(summary(&arguments.judge, &evolved))?)
}

/// Evolves what the model of `judge.toml` consults; the same model writes the notes.
fn by_model(
    folder: &mut JudgeFolder,
    pairs: &[Pair],
    components: &Components,
    watch: &mut dyn FnMut(&Change),
) -> Result<Evolved> {
    let library = folder.in_use()?;
    let (file, _) = merit_run::JudgeFile::read(folder.path(), components)?;
    let (merit_run::JudgeFile::One(settings), OpenJudge::One { judge, .. }) =
        (file, OpenJudge::open(folder.path(), &library, components, None)?)
    else {
        return Err(WrongInput("a panel has no notes of its own; evolve one of its judges".to_owned()).into());
    };
    if matches!(settings.backend, JudgeBackend::Oracle(_)) {
        let text = "an oracle knows what is right and reads no notes; there is nothing to evolve";
        return Err(WrongInput(text.to_owned()).into());
    }
    let kept = Kept::open(&folder.path().join("analyst.jsonl"))?;
    let analyst = Box::new(ModelAsker::new(&settings));
    Ok(evolve_asked(folder, pairs, *judge, (analyst, kept), watch)?)
}

/// The settings of a new judge.
fn settings(set: &[String]) -> Result<LibraryFile> {
    let mut document = merit_core::settings::to_table(&LibraryFile::default())?;
    for one in set {
        let (key, value) =
            one.split_once('=').ok_or_else(|| WrongInput(format!("`{one}` is not KEY=VALUE")))?;
        let parsed: toml::Table = toml::from_str(&format!("{key} = {value}"))
            .or_else(|_| toml::from_str(&format!("{key} = \"{value}\"")))
            .map_err(|error| WrongInput(format!("`{one}`: {}", error.message())))?;
        merge(&mut document, parsed);
    }
    let file: LibraryFile =
        merit_core::settings::from_table(document).map_err(|error| WrongInput(error.message().to_owned()))?;
    file.check().map_err(WrongInput)?;
    Ok(file)
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            // A component with a `type` is replaced as a whole: the keys of another one mean nothing to it.
            (Some(toml::Value::Table(known)), toml::Value::Table(new)) if !new.contains_key("type") => {
                merge(known, new)
            }
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

/// Checks of a person's own: tables by name.
fn own_checks(path: &Path) -> Result<Vec<Idea>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let tables: toml::Table = toml::from_str(&text)
        .map_err(|error| WrongInput(format!("{}: {}", path.display(), error.message())))?;
    let check = |(name, value): (String, toml::Value)| {
        let body = serde_json::to_value(&value)?;
        if !body.is_object() {
            return Err(WrongInput(format!("{}: `{name}` is no table", path.display())).into());
        }
        let made_by = "a person".to_owned();
        let entry =
            Entry { kind: Kind::Check, title: name.clone(), when: Vec::new(), body, weight: 1.0, made_by };
        Ok((name, entry))
    };
    tables.into_iter().map(check).collect()
}

/// A change in one line.
pub(crate) fn said(change: &Change) -> String {
    let percent =
        |share: Option<f64>| share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let mark = match (change.phase, change.kept) {
        (Phase::Baseline, _) => "start",
        (Phase::Pruned, true) => "pruned",
        (Phase::Reverted, _) => "by hand",
        (_, true) => "kept",
        (_, false) => "not kept",
    };
    format!(
        "{:>4}  {mark:<9} {:>8} → {:<8} {}",
        change.version,
        percent(change.before),
        percent(change.after),
        change.why
    )
}

fn summary(judge: &Path, evolved: &Evolved) -> String {
    let Evolved { parts: [train, validation, test], ideas, tried: (tried, kept), version, library, .. } =
        evolved;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n{train} pairs to learn from, {validation} to decide by, {test} to test on; {ideas} ideas"
    );
    let _ = writeln!(
        text,
        "{tried} changes tried, {kept} kept; version {version} is in use, with {} entries:",
        library.len()
    );
    for (id, entry) in library.entries() {
        let _ = writeln!(text, "  {:+.3}  {:<32} {id}", entry.weight, entry.title);
    }
    let _ = writeln!(text, "\non the test pairs, looked at once now:");
    text += &judge_test::table(&evolved.tested);
    let _ = match evolved.tested.beats_leaks() {
        Ok(()) => writeln!(
            text,
            "\nmerit library export {} --as reward.toml   writes it as a reward",
            judge.display()
        ),
        Err(why) => writeln!(text, "\nIt is no reward yet: {why}."),
    };
    text
}
