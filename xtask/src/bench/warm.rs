//! How far every world's demonstrations carry a small decoder, and how long that takes: where learning by reward begins.

use super::record::Record;
use super::spread::{median, short};
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::{root, run};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const SUBJECT: Subject =
    Subject { name: "warm", by_default: false, peers: &[], examples: &[], measure };

const SECONDS_BAR: f64 = 120.0;

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    run("cargo", &["build", "--release", "--locked", "--package", "merit"])?;
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let mut rows = Vec::new();
    for name in recipes()?.iter().take(if asked.quick { 2 } else { usize::MAX }) {
        let (mut all_seconds, mut all_success) = (Vec::new(), Vec::new());
        for seed in 1..=asked.rounds {
            let (seconds, success) = warm(name, seed, folder.path(), asked.quick)?;
            record.add(json!({"side": "merit", "recipe": name, "seed": seed, "seconds": seconds, "success": success}))?;
            all_seconds.push(seconds);
            all_success.push(success);
        }
        let (seconds, success) = (median(&all_seconds), median(&all_success));
        let (bar, met) = Bar::AtMost(SECONDS_BAR).verdict(seconds, 1.0);
        let reached = format!("{:.1} % after {} s", success * 100.0, short(seconds));
        rows.push((format!("`{name}`"), reached, format!("{bar} s"), met));
    }
    Ok(alone(&rows))
}

fn merit(arguments: &[&str]) -> Command {
    let mut command = Command::new(root().join("target/release/merit"));
    command.args(arguments);
    command
}

/// One recipe for each world and mode: of the ledger's only the first, and none that needs a file of weights.
fn recipes() -> Result<Vec<String>> {
    let listed = merit(&["list", "recipes", "--json"]).output().context("cannot start merit")?;
    let lines = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = lines.lines().filter_map(|line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        Some(entry["name"].as_str()?.to_owned())
    });
    let other = |name: &String| {
        name.starts_with("smollm2") || (name.starts_with("ledger-") && name != "ledger-tools")
    };
    Ok(names.filter(|name| !other(name)).collect())
}

/// Seconds until the warm start is done, and the held-out success that it has then.
fn warm(name: &str, seed: usize, folder: &std::path::Path, quick: bool) -> Result<(f64, f64)> {
    let (seed, run) = (seed.to_string(), format!("{name}-{seed}"));
    let mut arguments = vec!["train", name, "--json", "--seed", &seed, "--set", "budget.steps=0"];
    arguments.extend(["--set", "controls=[]", "--threads", "1", "--run", &run]);
    if quick {
        arguments.extend(["--set", "warm_start.steps=5", "--set", "evaluation.tasks=4"]);
    }
    let begun = Instant::now();
    let mut child =
        merit(&arguments).current_dir(folder).stdout(Stdio::piped()).spawn().context("cannot start merit")?;
    let output = child.stdout.take().context("merit's output is not piped")?;
    let (mut seconds, mut success) = (None, None);
    for line in BufReader::new(output).lines() {
        let said: Value = serde_json::from_str(&line?).unwrap_or_default();
        if said["event"] == "stage" && said["what"] == "held-out evaluation before learning" {
            seconds = Some(begun.elapsed().as_secs_f64());
        }
        success = success.or_else(|| said["held_out_before"].as_f64());
    }
    let status = child.wait().context("cannot wait for merit")?;
    ensure!(status.success(), "`merit {}` ended with {status}", arguments.join(" "));
    let told = seconds.zip(success);
    told.with_context(|| format!("`merit {}` told no held-out success", arguments.join(" ")))
}
