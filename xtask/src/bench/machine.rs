//! What was measured on, with which versions, and how busy the machine was.

use super::{Asked, peers};
use crate::root;
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use std::process::Command;

/// The circumstances of one measurement.
pub(super) struct Machine {
    date: String,
    rustc: String,
    commit: String,
    cpu: String,
    cores: usize,
    peers: Map<String, Value>,
    load_start: Option<f64>,
    load_end: Option<f64>,
}

impl Machine {
    /// Before the measurement.
    pub(super) fn look(peer_packages: &[&str]) -> Result<Self> {
        Ok(Self {
            date: said("date", &["-u", "+%Y-%m-%d"])?,
            rustc: said("rustc", &["--version"])?,
            commit: commit()?,
            cpu: cpu_model(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            peers: peers::versions(peer_packages)?,
            load_start: load_average(),
            load_end: None,
        })
    }

    /// After the measurement.
    pub(super) fn look_again(&mut self) {
        self.load_end = load_average();
    }

    /// A word of caution on a machine that has other work.
    pub(super) fn warn_if_busy(&self) {
        if let Some(load) = self.load_start.filter(|load| *load > 0.3) {
            println!("note: the load average is {load} before anything was started; the numbers will suffer");
        }
    }

    /// The first line of the raw file.
    pub(super) fn header(&self, subject: &str, asked: &Asked) -> Value {
        json!({
            "header": subject, "date": self.date, "rounds": asked.rounds, "quick": asked.quick,
            "merit": env!("CARGO_PKG_VERSION"), "commit": self.commit, "rustc": self.rustc, "peers": self.peers,
            "cpu": self.cpu, "cores": self.cores, "load_start": self.load_start, "load_end": self.load_end,
        })
    }

    /// The same as a sentence under the table.
    pub(super) fn describe(&self, subject: &str, asked: &Asked) -> String {
        let peers: String = self
            .peers
            .iter()
            .map(|(name, version)| format!(", {name} {}", version.as_str().unwrap_or("?")))
            .collect();
        let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| load.to_string());
        format!(
            "{} round(s), {}; merit {} ({}), {}{peers}; {}, {} cores, load average {} before and {} after. \
             Raw lines: [`benchmarks/raw/{subject}.jsonl`](../benchmarks/raw/{subject}.jsonl).",
            asked.rounds,
            self.date,
            env!("CARGO_PKG_VERSION"),
            self.commit,
            self.rustc,
            self.cpu,
            self.cores,
            load(self.load_start),
            load(self.load_end),
        )
    }
}

fn commit() -> Result<String> {
    let hash = said("git", &["rev-parse", "--short", "HEAD"])?;
    let changed =
        said("git", &["status", "--porcelain", "--untracked-files=no", "--", "crates", "Cargo.lock"])?;
    Ok(if changed.is_empty() { hash } else { format!("{hash} with changes") })
}

fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    let output = output.with_context(|| format!("cannot start `{program}`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}

/// Over the last minute; absent where the system does not tell.
fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
