//! The Python package: how quick it is to import and to call, and what Ray adds.

use super::record::Record;
use super::spread::{median, short};
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::{root, run, wheel};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const SUBJECT: Subject = Subject {
    name: "python",
    by_default: false,
    peers: &["math-verify"],
    examples: &[("merit", "scoring"), ("merit", "pairs")],
    measure,
};

type Row = (String, String, String, Option<bool>);

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let wheel = wheel::build(false)?;
    let bytes = wheel.metadata().context("cannot look at the wheel")?.len() as f64;
    record.add(json!({"side": "merit", "what": "wheel", "bytes": bytes}))?;
    let python = environment(&wheel)?;
    let mut command = Command::new(python);
    command.arg(root().join("benchmarks/peers/python_package.py")).arg(asked.rounds.to_string());
    command.arg("--rust").arg(root().join("target/release/examples"));
    if asked.quick {
        command.arg("--quick");
    }
    let output = command.output().context("cannot start Python")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines = Vec::new();
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))?;
        record.add(line.clone())?;
        lines.push(line);
    }
    let mut rows = vec![bounded("the wheel", bytes / 1e6, "MB", 30.0)];
    rows.extend(of(&lines, "import", "merit").map(|ms| bounded("`import merit_rl`", ms, "ms", 50.0)));
    let maths = |side: &str| of(&lines, "maths, batches of 256", side);
    let by_pairs = maths("merit beside Rust, pair by pair");
    if let (Some(ours), Some(rust), Some(by_pairs)) = (maths("merit"), maths("merit, in Rust"), by_pairs) {
        let (ours_told, rust_told) = (short(ours), short(rust));
        let what = format!(
            "maths in batches of 256, {ours_told} pairs/s, and {rust_told} in Rust; measured in pairs, the median of their ratios"
        );
        rows.push(ratio(what, by_pairs, 0.8));
    }
    let in_turn = |side: &str| of(&lines, "maths, batches of 256, in turn", side);
    if let (Some(ours), Some(theirs)) = (in_turn("merit"), in_turn("Math-Verify")) {
        let (ours_told, theirs_told) = (short(ours), short(theirs));
        let what = format!("the same in turn with Math-Verify, {ours_told} and {theirs_told} pairs/s");
        rows.push(ratio(what, ours / theirs, 200.0));
    }
    let rows_of = |side: &str| of(&lines, "a batch of 64 rows, scored", side);
    if let (Some(ours), Some(rust)) = (rows_of("merit"), rows_of("merit, in Rust")) {
        let what = format!(
            "a batch of 64 rows: {} µs, of which the same rows take {} µs in Rust; the call adds",
            short(ours),
            short(rust)
        );
        rows.push(bounded(&what, ours - rust, "µs", 50.0));
    }
    let gae = |side: &str| of(&lines, "GAE of 64 by 1,024 tokens", side);
    if let (Some(ours), Some(theirs)) = (gae("merit"), gae("verl")) {
        let what = format!("GAE of 64 by 1,024 tokens, {} ms, beside verl's function", short(ours));
        rows.push(ratio(what, theirs / ours, 20.0));
    }
    let tensors = |side: &str| of(&lines, "GAE over tensors of torch, 64 by 1,024 tokens", side);
    if let (Some(there), Some(copied)) =
        (tensors("merit, read where they lie"), tensors("merit, copied first"))
    {
        let (there_told, copied_told) = (short(there), short(copied));
        let what = format!(
            "GAE over tensors of torch, read where they lie, {there_told} µs, beside a forced copy, {copied_told} µs"
        );
        let (bar, met) = Bar::None.verdict(there, copied / there);
        rows.push((what, format!("{}×", short(copied / there)), bar, met));
    }
    let what = lines.iter().find(|line| line["unit"] == "s").and_then(|line| line["what"].as_str());
    let rollouts = |side: &str| of(&lines, what.unwrap_or_default(), side);
    if let (Some(here), Some(there)) = (rollouts("merit, threads"), rollouts("merit, 4 actors of Ray")) {
        let what = what.unwrap_or_default();
        let took =
            format!("{what}: {} s on threads, {} s on 4 actors of Ray, ratio", short(here), short(there));
        let (bar, met) = Bar::AtMost(1.05).verdict(there / here, 1.0);
        rows.push((took, format!("{:.3}", there / here), bar, met));
    }
    Ok(alone(&rows))
}

fn bounded(what: &str, value: f64, unit: &str, most: f64) -> Row {
    let (bar, met) = Bar::AtMost(most).verdict(value, 1.0);
    (what.to_owned(), format!("{} {unit}", short(value)), format!("{bar} {unit}"), met)
}

fn ratio(what: String, value: f64, least: f64) -> Row {
    let met = Some(value >= least);
    (what, format!("{}×", short(value)), format!("≥ {least}×"), met)
}

/// The median of what a side said.
fn of(lines: &[Value], what: &str, side: &str) -> Option<f64> {
    let of_side = lines.iter().filter(|line| line["what"] == what && line["side"] == side);
    let values: Vec<f64> = of_side.filter_map(|line| line["value"].as_f64()).collect();
    (!values.is_empty()).then(|| median(&values))
}

/// A fresh environment with the wheel, beside the packages of the tests, the trainers and Math-Verify; its interpreter.
fn environment(wheel: &Path) -> Result<PathBuf> {
    run("python3", &["benchmarks/peers/python_environment.py", "gym"])?;
    run("python3", &["benchmarks/peers/trainers_environment.py"])?;
    let folder = root().join("target/bench-python");
    let place = folder.display().to_string();
    run("python3", &["-m", "venv", "--clear", "--without-pip", &place])?;
    let python = folder.join("bin/python");
    let pip = root().join(".cache/gym/bin/python").display().to_string();
    let (into, file) = (python.display().to_string(), wheel.display().to_string());
    run(
        &pip,
        &[
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            &into,
            "install",
            "--quiet",
            "--no-index",
            &file,
        ],
    )?;
    let mut beside = Vec::new();
    for name in ["gym", "trainers", "maths"] {
        beside.push(packages(&root().join(".cache").join(name))?.display().to_string());
    }
    let list = packages(&folder)?.join("beside.pth");
    std::fs::write(&list, beside.join("\n")).with_context(|| format!("cannot write {}", list.display()))?;
    Ok(python)
}

fn packages(environment: &Path) -> Result<PathBuf> {
    let lib = environment.join("lib");
    let mut versions = std::fs::read_dir(&lib).with_context(|| format!("cannot read {}", lib.display()))?;
    let version = versions.next().with_context(|| format!("{} is empty", lib.display()))?;
    Ok(version.context("cannot read it")?.path().join("site-packages"))
}
