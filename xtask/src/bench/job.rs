//! One process of one side, and the interleaving of the sides.
//!
//! In: jobs in the order of one round. Out: their JSON lines in the record, each with its round, side and command. Every job is a
//! process of its own in every round, so that a slow minute of the machine falls on all sides alike.

use super::busy::Busy;
use super::record::Record;
use crate::root;
use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};
use std::process::{Command, Output};

/// A process that prints JSON lines.
pub(super) struct Job {
    /// Whose process this is: `merit` or the peer's name.
    pub(super) side: &'static str,
    /// Program and arguments, relative to the repository's root.
    pub(super) command: Vec<String>,
    /// Added to each of its lines, to tell regimes apart; an object.
    pub(super) tags: Value,
    /// Another process keeps one core busy meanwhile.
    pub(super) beside_busy: bool,
}

impl Job {
    /// An example of this workspace, one of its subject's examples.
    pub(super) fn merit(example: &str, arguments: &str, tags: Value) -> Self {
        Self::new("merit", &format!("target/release/examples/{example} {arguments}"), tags)
    }

    /// A script of `benchmarks/peers`, in the environment of most peers.
    pub(super) fn peer(side: &'static str, script: &str, arguments: &str, tags: Value) -> Self {
        Self::peer_in("peers", side, script, arguments, tags)
    }

    /// The same in another environment.
    pub(super) fn peer_in(
        environment: &str,
        side: &'static str,
        script: &str,
        arguments: &str,
        tags: Value,
    ) -> Self {
        let python = format!(".cache/{environment}/bin/python");
        Self::new(side, &format!("{python} benchmarks/peers/{script} {arguments}"), tags)
    }

    fn new(side: &'static str, command: &str, tags: Value) -> Self {
        let command = command.split_whitespace().map(str::to_owned).collect();
        Self { side, command, tags, beside_busy: false }
    }

    fn run(&self, round: usize) -> Result<Vec<Value>> {
        let shown = self.command.join(" ");
        println!("round {round}: {shown}{}", if self.beside_busy { "   (one core busy)" } else { "" });
        let busy = self.beside_busy.then(Busy::start).transpose()?;
        let (program, arguments) = self.command.split_first().context("a job without a program")?;
        let output = Command::new(root().join(program))
            .args(arguments)
            .env("TORCHINDUCTOR_CACHE_DIR", root().join(".cache/torchinductor"))
            .current_dir(root())
            .output()
            .with_context(|| format!("cannot start `{shown}`"))?;
        drop(busy);
        let mut lines = json_lines(&output).with_context(|| format!("`{shown}`"))?;
        lines.iter_mut().for_each(|line| self.annotate(line, round));
        Ok(lines.into_iter().map(Value::Object).collect())
    }

    /// The process counts its own rounds from 0; ours are the ones that interleave.
    fn annotate(&self, line: &mut Map<String, Value>, round: usize) {
        if let Some(own) = line.insert("round".to_owned(), json!(round)) {
            line.insert("repeat".to_owned(), own);
        }
        line.insert("side".to_owned(), json!(self.side));
        line.insert("command".to_owned(), json!(self.command.join(" ")));
        if let Value::Object(tags) = &self.tags {
            line.extend(tags.clone());
        }
    }
}

/// Runs all jobs in order, round after round.
pub(super) fn interleave(jobs: &[Job], rounds: usize, record: &mut Record) -> Result<()> {
    for round in 1..=rounds {
        for job in jobs {
            for line in job.run(round)? {
                record.add(line)?;
            }
        }
    }
    Ok(())
}

fn json_lines(output: &Output) -> Result<Vec<Map<String, Value>>> {
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("ended with {}: {}", output.status, complaint.trim_end());
    }
    let text = std::str::from_utf8(&output.stdout).context("printed something that is not UTF-8")?;
    // Python libraries may print notices of their own.
    let objects = text.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<_> = objects
        .map(|line| serde_json::from_str(line).with_context(|| format!("not a JSON object: {line}")))
        .collect::<Result<_>>()?;
    if lines.is_empty() {
        bail!("printed no measurement: {}", complaint.trim_end());
    }
    Ok(lines)
}
