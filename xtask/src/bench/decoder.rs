//! Training tokens per second beside torch, eager and compiled, in f32 and bf16; and what `sampling` shares with it.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::spread::{Spread, short};
use super::table::{Bar, Better, Row, alone, beside_peers};
use super::{Asked, Subject};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "decoder",
    by_default: true,
    peers: &["torch", "transformers"],
    examples: &[("merit-model", "throughput")],
    measure,
};

/// A shape, how often merit repeats the work of a round (torch repeats for three seconds, at least twice), the rows of a
/// training step, and what sampling 64 rows of it has to reach; absent where it is not sampled.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) repeats: u32,
    train_rows: u32,
    pub(super) sample_bar: Option<f64>,
}

const SHAPES: [Shape; 4] = [
    Shape { name: "S", repeats: 15, train_rows: 32, sample_bar: Some(5.0) },
    Shape { name: "M", repeats: 5, train_rows: 32, sample_bar: Some(5.0) },
    Shape { name: "L", repeats: 2, train_rows: 32, sample_bar: Some(1.0) },
    Shape { name: "135M", repeats: 1, train_rows: 4, sample_bar: None },
];
/// As in merit's example.
pub(super) const PROMPT: u32 = 8;
pub(super) const PRECISIONS: [&str; 2] = ["f32", "bf16"];

/// The extent of a run.
pub(super) struct Extent {
    shapes: &'static [Shape],
    threads: &'static [u32],
    compiled: bool,
    pub(super) seconds: f64,
}

impl Extent {
    pub(super) fn of(asked: &Asked) -> Self {
        if asked.quick {
            Self { shapes: &SHAPES[..1], threads: &[1], compiled: false, seconds: 0.1 }
        } else {
            Self { shapes: &SHAPES, threads: &[1, 2], compiled: true, seconds: 3.0 }
        }
    }

    pub(super) fn regimes(&self) -> impl Iterator<Item = (&'static Shape, u32)> {
        let threads = self.threads;
        self.shapes.iter().flat_map(move |shape| threads.iter().map(move |&threads| (shape, threads)))
    }

    /// Compiling takes torch a minute a shape, so it is measured in one regime: small shapes on one thread, where it helps
    /// most.
    pub(super) fn modes(&self, shape: &Shape, threads: u32) -> &'static [&'static str] {
        let helps = shape.sample_bar.is_some() && threads == 1;
        if self.compiled && helps { &["eager", "compile"] } else { &["eager"] }
    }
}

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let extent = Extent::of(asked);
    interleave(&jobs(&extent), asked.rounds, record)?;
    check_same_work(&record.lines)?;
    let rows = train_rows(&extent, &record.lines)?;
    Ok(format!("Tokens per second:\n\n{}\n{}", beside_peers(&rows), shares(&extent, &record.lines)?))
}

fn jobs(extent: &Extent) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (shape, threads) in extent.regimes() {
        let (name, repeats) = (shape.name, shape.repeats);
        let ours = format!("{name} train {threads} {} {repeats}", PRECISIONS.join(","));
        jobs.push(Job::merit("throughput", &ours, json!({})));
        for mode in extent.modes(shape, threads) {
            for precision in PRECISIONS {
                let theirs = format!(
                    "--size {name} --what train --threads {threads} --mode {mode} --precision {precision} --seconds {}",
                    extent.seconds
                );
                jobs.push(Job::peer("torch", "torch_decoder.py", &theirs, json!({})));
            }
        }
    }
    jobs.push(peak_job());
    jobs
}

/// What one thread does at best. Last, because it slows what runs right behind it.
pub(super) fn peak_job() -> Job {
    Job::merit("throughput", "S peak 1 f32 1", json!({}))
}

/// What training has to reach against torch at a precision: f32 its f32, bf16 the best of all its ways; the large shape is
/// compared with bf16 alone.
fn train_bar(shape: &Shape, ours: &str, theirs: &str, threads: u32) -> Option<Bar> {
    let large = shape.sample_bar.is_none();
    match (ours, theirs) {
        ("f32", "f32") if large => Some(Bar::None),
        ("bf16", "bf16") if large => Some(Bar::Ratio(1.2)),
        _ if large => None,
        ("f32", "f32") => Some(Bar::Ratio(1.0)),
        ("bf16", _) if threads == 1 => Some(Bar::Ratio(1.5)),
        ("bf16", _) => Some(Bar::None),
        _ => None,
    }
}

fn train_rows(extent: &Extent, lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (shape, threads) in extent.regimes() {
        let (name, batch) = (shape.name, shape.train_rows);
        for (ours, theirs) in PRECISIONS.iter().flat_map(|ours| PRECISIONS.map(|theirs| (ours, theirs))) {
            let Some(bar) = train_bar(shape, ours, theirs, threads) else { continue };
            let merit = json!({
                "side": "merit", "shape": name, "mode": "train", "threads": threads, "precision": ours,
            });
            for mode in extent.modes(shape, threads) {
                let torch = json!({
                    "side": "torch", "size": name, "what": "train", "threads": threads, "mode": mode,
                    "precision": theirs,
                });
                rows.push(Row {
                    regime: format!("{name}, train {batch} rows in {ours}, {threads} thread(s)"),
                    merit: per_round(lines, &merit, "tokens_per_s")?,
                    peer: format!("torch {mode} {theirs}"),
                    theirs: per_round(lines, &torch, "tokens_per_s")?,
                    better: Better::Higher,
                    bar,
                });
            }
        }
    }
    Ok(rows)
}

/// What was done, what it reached, and no bar.
type Share = (String, String, String, Option<bool>);

/// Arithmetic and memory traffic of merit, of what loops of nothing else reached in the same run.
pub(super) fn shares(extent: &Extent, lines: &[Value]) -> Result<String> {
    let peak = |key: &str| {
        let found = per_round(lines, &json!({"side": "merit", "mode": "peak"}), key)?;
        Ok::<f64, anyhow::Error>(Spread::of(&found).median)
    };
    let copied = peak("copied_bytes_per_s")?;
    let mut rows: Vec<Share> = Vec::new();
    for shape in extent.shapes {
        let wanted = json!({"side": "merit", "shape": shape.name, "threads": 1, "round": 1});
        for line in matching(lines, &wanted) {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let (mode, precision) = (text("mode"), text("precision"));
            let same = json!({
                "side": "merit", "shape": shape.name, "threads": 1, "mode": mode,
                "precision": precision, "batch": line["batch"],
            });
            let rate = |key: &str| {
                let per_token = line[key].as_f64().with_context(|| format!("no `{key}` in {line}"))?;
                let tokens = Spread::of(&per_round(lines, &same, "tokens_per_s")?).median;
                Ok::<f64, anyhow::Error>(per_token * tokens)
            };
            let (flops, bytes) = (rate("flops_per_token")?, rate("bytes_per_token")?);
            let of_flops = flops / peak(&format!("{precision}_flops_per_s"))?;
            let value = format!(
                "{} GFLOP/s, {} %; at least {} GB/s, {} %",
                short(flops / 1e9),
                short(100.0 * of_flops),
                short(bytes / 1e9),
                short(100.0 * bytes / copied),
            );
            let what = format!("{}, {mode} {} rows in {precision}", shape.name, line["batch"]);
            rows.push((what, value, "—".to_owned(), None));
        }
    }
    let table = alone(&rows);
    Ok(format!("Achieved by merit on one thread, of the peak measured in the same rounds:\n\n{table}"))
}

/// Equal work is: as many parameters, rows of equal length, prompts of equal length.
pub(super) fn check_same_work(lines: &[Value]) -> Result<()> {
    let merit = json!({"side": "merit"});
    for ours in matching(lines, &merit).filter(|line| line["mode"] != "peak") {
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
        let count = |side: &str| jobs.iter().filter(|job| job.side == side).count();
        // Two thread counts of four shapes, and the peak once. Torch at two precisions, the three small shapes compiled on one
        // thread.
        assert_eq!((count("merit"), count("torch")), (2 * 4 + 1, 4 * 2 * 2 + 3 * 2));
    }
}
