//! `merit bench judge`: several judges on the same pairs, side by side.

use super::WrongInput;
use super::judge_test::{From, Opened, open};
use crate::cli::judges::{Bench as Command, BenchJudge};
use crate::out;
use anyhow::{Context as _, Result, bail};
use merit_core::printable::piece;
use merit_core::{Components, EpisodeId};
use merit_judge::{Bench, BenchRow, JudgeFolder, Kinds, Pair, Tested, read_pairs};
use merit_store::RunFolder;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The file of rows beside what was measured.
const ROWS: &str = "bench.jsonl";

pub(crate) fn run(command: &Command, components: &Components) -> Result<()> {
    let Command::Judge(arguments) = command;
    let (pairs, left_out) = labelled(&arguments.on)?;
    let kinds = match &arguments.by {
        Some(name) => Kinds::of(&pairs, name).map_err(WrongInput)?,
        None => Kinds::default(),
    };
    let named: BTreeSet<&String> = arguments.judges.iter().collect();
    if named.len() < arguments.judges.len() {
        return Err(WrongInput("a judge is named twice".to_owned()).into());
    }
    // All are opened before any is asked, so that a wrong name costs nothing.
    let opened: Vec<Opened> =
        arguments.judges.iter().map(|name| open(name, None, components)).collect::<Result<_>>()?;
    let mut bench = Bench::of(&pairs, kinds);
    let mut why = String::new();
    for (name, mut one) in arguments.judges.iter().zip(opened) {
        let began = Instant::now();
        let tested = bench.enter(name, one.judge.as_mut(), one.numbers, arguments.repeat as usize);
        if let (None, Some(failure)) = (tested.judge.accuracy, &tested.failure) {
            why = format!(": {failure}");
        }
        if let Some(row) = bench.rows.last_mut() {
            row.seconds = Some(began.elapsed().as_secs_f64());
            keep(&one.from, arguments, row, &tested)?;
        }
    }
    match arguments.json {
        true => out::line(json!({
            "pairs": pairs.len(), "groups": groups(&pairs), "left_out": left_out, "judges": bench.rows, "leaks": bench.leaks(), "versus": bench.versus(),
        }))?,
        false => out::text(text(&bench, &pairs, left_out))?,
    }
    match bench.rows.iter().find(|row| row.accuracy.is_none()) {
        Some(silent) => bail!("no question to {} was answered{why}", silent.name),
        None => Ok(()),
    }
}

/// The pairs, without those whose label is the word of a fitted model: such a label would be held against itself. Also how many those are.
fn labelled(on: &Path) -> Result<(Vec<Pair>, usize)> {
    let mut pairs = read_pairs(on)?;
    if !on.is_dir() {
        return Ok((pairs, 0));
    }
    let said = RunFolder::open_read_only(on)?.annotations()?;
    let own = |by: &str| by.starts_with("model ") || by.starts_with("policy ");
    let by_model = |id: &EpisodeId| said.get(id).is_some_and(|all| all.iter().any(|one| own(&one.by)));
    let all = pairs.len();
    pairs.retain(|pair| !by_model(&pair.a.id) && !by_model(&pair.b.id));
    if pairs.is_empty() {
        let text =
            format!("{}: every episode that could make a pair was paid by a fitted model", on.display());
        return Err(WrongInput(text).into());
    }
    let left_out = all - pairs.len();
    Ok((pairs, left_out))
}

fn groups(pairs: &[Pair]) -> usize {
    pairs.iter().map(|pair| &pair.group).collect::<BTreeSet<_>>().len()
}

/// Keeps a row beside what was measured. A version of a folder that was not tested yet is tested now.
fn keep(from: &From, arguments: &BenchJudge, row: &BenchRow, tested: &Tested) -> Result<()> {
    let (path, version) = match from {
        From::Folder(folder, version) => (folder.join(ROWS), Some(*version)),
        From::File(file) => (beside(file), None),
        From::Run(run) => (run.join(ROWS), None),
        From::Shipped => return Ok(()),
    };
    if let From::Folder(folder, version) = from {
        let mut folder = JudgeFolder::open(folder)?;
        if folder.last_test()?.is_none_or(|(known, _)| known != *version) {
            folder.keep_test(*version, tested)?;
        }
    }
    let leaks: Vec<_> = tested.leaks.iter().map(|leak| json!([leak.name, leak.accuracy])).collect();
    let line = json!({
        "row": row, "version": version, "on": arguments.on, "pairs": tested.pairs, "groups": tested.groups, "leaks": leaks,
        "merit": env!("CARGO_PKG_VERSION"),
    });
    let kept = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    kept.and_then(|mut file| writeln!(file, "{line}"))
        .with_context(|| format!("cannot keep the row in {}", path.display()))
}

/// `judge.bench.jsonl` for `judge.toml`.
fn beside(file: &Path) -> PathBuf {
    file.with_extension(ROWS)
}

fn text(bench: &Bench<'_>, pairs: &[Pair], left_out: usize) -> String {
    let (leaks, mut text) = (bench.leaks(), String::new());
    let rows = || bench.rows.iter().chain(&leaks);
    let wide = rows().map(|row| piece(&row.name).chars().count()).max().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} pairs in {} groups", pairs.len(), groups(pairs));
    if left_out > 0 {
        let _ = writeln!(
            text,
            "{left_out} pairs are left out: a fitted model said what their episodes are worth"
        );
    }
    let _ = writeln!(text);
    let _ = writeln!(
        text,
        "{:<wide$}  {:>7}  {:<13}  {:>5}  {:>5}  {:>5}  {:>8}  {:>6}  {:>9}  {:>6}  {:>8}  {:>7}",
        "", "right", "95 %", "auc", "ece", "flips", "position", "length", "no answer", "calls", "tokens", "s"
    );
    for row in rows() {
        let _ = writeln!(text, "{}", line(row, wide));
    }
    for row in rows().filter(|row| !row.kinds.is_empty()) {
        let part = |(kind, part): (&String, &merit_judge::Part)| {
            format!("{} {:.1} % of {}", piece(kind), part.accuracy * 100.0, part.pairs)
        };
        let parts: Vec<String> = row.kinds.iter().map(part).collect();
        let _ = writeln!(text, "\n{}: {}", piece(&row.name), parts.join(", "));
    }
    let _ = writeln!(text, "\non the same pairs, 95 % over groups:");
    for found in bench.versus() {
        let (low, high) = (found.interval.low * 100.0, found.interval.high * 100.0);
        let _ = writeln!(
            text,
            "  {} − {}: {:+.1} points ({low:+.1} to {high:+.1}; {} groups)",
            piece(&found.one),
            piece(&found.other),
            found.difference * 100.0,
            found.groups
        );
    }
    for row in &bench.rows {
        if let Some(why) = &row.refused {
            let _ = writeln!(text, "\n{} may not pay: {why}.", piece(&row.name));
        }
    }
    text
}

fn line(row: &BenchRow, wide: usize) -> String {
    let dash = || "–".to_owned();
    let share = |share: Option<f64>| share.map_or_else(dash, |share| format!("{share:.2}"));
    let percent = row.accuracy.map_or_else(dash, |right| format!("{:.1} %", right * 100.0));
    let interval =
        row.interval.map_or_else(String::new, |i| format!("{:.1} to {:.1}", i.low * 100.0, i.high * 100.0));
    let judge = row.id.is_some();
    let count = |count: u64| if judge { count.to_string() } else { dash() };
    format!(
        "{:<wide$}  {percent:>7}  {interval:<13}  {:>5}  {:>5}  {:>5}  {:>8}  {:>6}  {:>9}  {:>6}  {:>8}  {:>7}",
        piece(&row.name),
        share(row.auc),
        share(row.calibration_error),
        share(row.flips),
        share(row.position_bias),
        share(row.length_bias),
        count(row.unsaid.values().sum::<usize>() as u64),
        count(row.cost.judge_calls),
        count(row.cost.judge_tokens),
        row.seconds.map_or_else(dash, |seconds| format!("{seconds:.2}")),
    )
}
