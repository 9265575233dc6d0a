//! Training and sampling tokens per second beside torch, eager and compiled, alone and with one core busy.

use super::job::{Job, build_example, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject =
    Subject { name: "decoder", by_default: true, peers: &["torch", "transformers"], measure };

/// Shapes, and how often merit repeats the work of a round; torch repeats for three seconds, at least twice.
const SHAPES: [(&str, u32); 3] = [("S", 15), ("M", 5), ("L", 2)];
/// What is done, and on how many rows; both sides use 128 tokens.
const WORKS: [(&str, u32); 3] = [("train", 32), ("sample", 16), ("sample", 64)];
const LOADS: [(&str, bool); 2] = [("idle", false), ("other core busy", true)];
/// As in merit's example.
const PROMPT: u32 = 8;

/// The extent of a run.
struct Extent {
    shapes: Vec<(&'static str, u32)>,
    threads: Vec<u32>,
    compiled: bool,
    seconds: f64,
}

impl Extent {
    fn of(asked: &Asked) -> Self {
        if asked.quick {
            Self { shapes: vec![("S", 1)], threads: vec![1], compiled: false, seconds: 0.1 }
        } else {
            Self { shapes: SHAPES.to_vec(), threads: vec![1, 2], compiled: true, seconds: 3.0 }
        }
    }

    /// Compiling takes torch a minute a shape, so it is measured in one regime: one thread of an idle machine, where it
    /// helps most.
    fn modes(&self, beside_busy: bool, threads: u32) -> &'static [&'static str] {
        if self.compiled && !beside_busy && threads == 1 { &["eager", "compile"] } else { &["eager"] }
    }
}

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    build_example("merit-model", "throughput")?;
    let extent = Extent::of(asked);
    interleave(&jobs(&extent), asked.rounds, record)?;
    check_same_work(&record.lines)?;
    let mut text = String::new();
    for (load, beside_busy) in LOADS {
        let table = beside_peers(&rows(&extent, load, beside_busy, &record.lines)?);
        text += &format!("Tokens per second, {load}:\n\n{table}\n");
    }
    Ok(text.trim_end().to_owned() + "\n")
}

fn jobs(extent: &Extent) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (load, beside_busy) in LOADS {
        for &threads in &extent.threads {
            for &(shape, repeats) in &extent.shapes {
                let tags = json!({ "load": load });
                let ours = format!("{shape} train,sample {threads} {repeats}");
                jobs.push(Job { beside_busy, ..Job::merit("throughput", &ours, tags.clone()) });
                for mode in extent.modes(beside_busy, threads) {
                    let theirs = format!(
                        "--size {shape} --threads {threads} --mode {mode} --prompt {PROMPT} --seconds {}",
                        extent.seconds
                    );
                    jobs.push(Job {
                        beside_busy,
                        ..Job::peer("torch", "torch_decoder.py", &theirs, tags.clone())
                    });
                }
            }
        }
    }
    jobs
}

fn rows(extent: &Extent, load: &str, beside_busy: bool, lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &(shape, _) in &extent.shapes {
        for (what, batch) in WORKS {
            for &threads in &extent.threads {
                for mode in extent.modes(beside_busy, threads) {
                    let ours = json!({
                        "side": "merit", "load": load, "shape": shape, "mode": what, "batch": batch, "threads": threads,
                    });
                    let theirs = json!({
                        "side": "torch", "load": load, "size": shape, "what": what, "rows": batch, "threads": threads,
                        "mode": mode,
                    });
                    rows.push(Row {
                        regime: format!("{shape}, {what} {batch} rows, {threads} thread(s)"),
                        merit: per_round(lines, &ours, "tokens_per_s")?,
                        peer: format!("torch {mode}"),
                        theirs: per_round(lines, &theirs, "tokens_per_s")?,
                        better: Better::Higher,
                        bar: Bar::Ratio(1.0),
                    });
                }
            }
        }
    }
    Ok(rows)
}

/// Equal work is: as many parameters, rows of equal length, prompts of equal length.
fn check_same_work(lines: &[Value]) -> Result<()> {
    let merit = json!({"side": "merit"});
    for ours in matching(lines, &merit) {
        let twin =
            json!({"side": "torch", "size": ours["shape"], "what": ours["mode"], "rows": ours["batch"]});
        let theirs = matching(lines, &twin).next().with_context(|| format!("no line has {twin}"))?;
        let prompt =
            ours.get("prompt").is_none_or(|prompt| theirs.get("prompt").is_none_or(|other| other == prompt));
        let same = ours["parameters"] == theirs["parameters"] && ours["length"] == theirs["tokens"] && prompt;
        ensure!(same, "the sides did not do the same work\nmerit: {ours}\ntorch: {theirs}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parameters: u64, length: u64) -> bool {
        let ours = json!({"side": "merit", "shape": "S", "mode": "train", "batch": 32, "parameters": 155_584, "length": 128});
        let theirs = json!({"side": "torch", "size": "S", "what": "train", "rows": 32, "parameters": parameters, "tokens": length});
        check_same_work(&[ours, theirs]).is_ok()
    }

    #[test]
    fn another_shape_or_another_length_is_other_work() {
        assert!(check(155_584, 128));
        assert!(!check(155_072, 128));
        assert!(!check(155_584, 64));
    }

    #[test]
    fn every_regime_is_run_by_every_side() {
        let jobs = jobs(&Extent::of(&Asked { rounds: 5, quick: false }));
        // Two loads, two thread counts, three shapes, two sides; torch compiled once a shape.
        assert_eq!(jobs.len(), 2 * 2 * 3 * 2 + 3);
        assert_eq!(jobs.iter().filter(|job| job.beside_busy).count(), 2 * 3 * 2);
    }
}
