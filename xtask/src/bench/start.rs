//! How long `merit` takes to say its first word, how large it is, and how much memory it needs.

use super::memory::{peak_mib, peak_mib_at_first_write};
use super::record::Record;
use super::spread::{median, quantile, short};
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::{root, run};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(super) const SUBJECT: Subject =
    Subject { name: "start", by_default: true, peers: &[], examples: &[], measure };

const HELP_BAR_MS: f64 = 20.0;
/// The default recipe cut to a few steps, without its control.
const SHORT_TRAIN: &str =
    "train ledger-tools --json --seed 1 --set budget.steps=2 --set warm_start.steps=20 --set controls=[]";

type Measured = (String, String, String, Option<bool>);

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    run("cargo", &["build", "--release", "--locked", "--package", "merit"])?;
    let runs = if asked.quick { 5 } else { 50 };
    let mut rows = help_times(runs, record)?;
    let bytes = std::fs::metadata(merit_path()).context("cannot look at target/release/merit")?.len();
    record.add(json!({"what": "binary", "bytes": bytes}))?;
    rows.push(fact("size of the binary", format!("{} MiB", short(bytes as f64 / 1024.0 / 1024.0))));
    rows.push(help_memory(record)?);
    rows.push(train_memory(record)?);
    Ok(alone(&rows))
}

fn merit_path() -> std::path::PathBuf {
    root().join("target/release/merit")
}

fn merit(arguments: &str) -> Command {
    let mut command = Command::new(merit_path());
    command.args(arguments.split_whitespace()).current_dir(root());
    command
}

fn fact(what: &str, value: String) -> Measured {
    (what.to_owned(), value, "—".to_owned(), None)
}

fn help_times(runs: usize, record: &mut Record) -> Result<Vec<Measured>> {
    let mut times_ms = Vec::new();
    for round in 1..=runs {
        let start = Instant::now();
        let status = merit("--help").stdout(Stdio::null()).status().context("cannot start merit")?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        ensure!(status.success(), "`merit --help` ended with {status}");
        record.add(
            json!({"round": round, "side": "merit", "command": "merit --help", "what": "help", "ms": ms}),
        )?;
        times_ms.push(ms);
    }
    let row = |name: &str, ms: f64| {
        let (bar, met) = Bar::AtMost(HELP_BAR_MS).verdict(ms, 1.0);
        (
            format!("`merit --help`, {name} of {runs} runs"),
            format!("{} ms", short(ms)),
            format!("{bar} ms"),
            met,
        )
    };
    Ok(vec![row("median", median(&times_ms)), row("p95", quantile(&times_ms, 0.95))])
}

fn help_memory(record: &mut Record) -> Result<Measured> {
    let peak = peak_mib_at_first_write(&mut merit("--help"))?;
    record
        .add(json!({"side": "merit", "command": "merit --help", "what": "help-memory", "peak_mib": peak}))?;
    Ok(fact("peak memory of `merit --help`", format!("{} MiB", short(peak))))
}

fn train_memory(record: &mut Record) -> Result<Measured> {
    let folder = root().join("target/bench-start");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    let start = Instant::now();
    let peak = peak_mib(merit(SHORT_TRAIN).arg("--run").arg(&folder))
        .with_context(|| format!("`merit {SHORT_TRAIN}`"))?;
    let seconds = start.elapsed().as_secs_f64();
    let command = format!("merit {SHORT_TRAIN}");
    record.add(json!({"side": "merit", "command": command, "what": "train-memory", "peak_mib": peak, "wall_s": seconds}))?;
    let what = format!("peak memory of a short training (`{command}`, {} s)", short(seconds));
    Ok(fact(&what, format!("{} MiB", short(peak))))
}
