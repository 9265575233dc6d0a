//! Training and sampling tokens per second beside torch, eager and compiled, in f32 and bf16, alone and with one core busy.

use super::job::{Job, build_example, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::spread::{Spread, short};
use super::table::{Bar, Better, Row, alone, beside_peers};
use super::{Asked, Subject};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject =
    Subject { name: "decoder", by_default: true, peers: &["torch", "transformers"], measure };

/// A shape, how often merit repeats the work of a round (torch repeats for three seconds, at least twice), the rows of a
/// training step, and what sampling 64 rows of it has to reach; absent where it is not sampled.
struct Shape {
    name: &'static str,
    repeats: u32,
    train_rows: u32,
    sample_bar: Option<f64>,
}

const SHAPES: [Shape; 4] = [
    Shape { name: "S", repeats: 15, train_rows: 32, sample_bar: Some(5.0) },
    Shape { name: "M", repeats: 5, train_rows: 32, sample_bar: Some(5.0) },
    Shape { name: "L", repeats: 2, train_rows: 32, sample_bar: Some(1.0) },
    Shape { name: "135M", repeats: 1, train_rows: 4, sample_bar: None },
];
const LOADS: [(&str, bool); 2] = [("idle", false), ("other core busy", true)];
/// Rows that are sampled together; 256 by torch alone, which may choose its best.
const BATCHES: [u32; 2] = [16, 64];
const TORCH_BATCHES: &str = "16,64,256";
/// As in merit's example.
const PROMPT: u32 = 8;

/// The extent of a run.
struct Extent {
    shapes: &'static [Shape],
    threads: &'static [u32],
    compiled: bool,
    seconds: f64,
}

impl Extent {
    fn of(asked: &Asked) -> Self {
        if asked.quick {
            Self { shapes: &SHAPES[..1], threads: &[1], compiled: false, seconds: 0.1 }
        } else {
            Self { shapes: &SHAPES, threads: &[1, 2], compiled: true, seconds: 3.0 }
        }
    }

    /// What is measured under a load: the large shape and bf16 only on the idle machine.
    fn regimes(&self, beside_busy: bool) -> impl Iterator<Item = (&'static Shape, u32)> {
        let shapes = self.shapes.iter().filter(move |shape| !beside_busy || shape.sample_bar.is_some());
        let threads = self.threads;
        shapes.flat_map(move |shape| threads.iter().map(move |&threads| (shape, threads)))
    }

    /// Compiling takes torch a minute a shape, so it is measured in one regime: small shapes on one thread of an idle
    /// machine, where it helps most.
    fn modes(&self, shape: &Shape, beside_busy: bool, threads: u32) -> &'static [&'static str] {
        let helps = shape.sample_bar.is_some() && !beside_busy && threads == 1;
        if self.compiled && helps { &["eager", "compile"] } else { &["eager"] }
    }
}

fn precisions(beside_busy: bool) -> &'static [&'static str] {
    if beside_busy { &["f32"] } else { &["f32", "bf16"] }
}

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    build_example("merit-model", "throughput")?;
    let extent = Extent::of(asked);
    interleave(&jobs(&extent), asked.rounds, record)?;
    check_same_work(&record.lines)?;
    let mut text = String::new();
    for (load, beside_busy) in LOADS {
        let mut rows = train_rows(&extent, load, beside_busy, &record.lines)?;
        rows.extend(sample_rows(&extent, load, beside_busy, &record.lines)?);
        text += &format!("Tokens per second, {load}:\n\n{}\n", beside_peers(&rows));
    }
    let shares = alone(&shares(&extent, &record.lines)?);
    text += &format!(
        "Achieved by merit on one thread of the idle machine, of the peak measured in the same rounds:\n\n{shares}"
    );
    Ok(text.trim_end().to_owned() + "\n")
}

fn jobs(extent: &Extent) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (load, beside_busy) in LOADS {
        let add = |jobs: &mut Vec<Job>, job: Job| jobs.push(Job { beside_busy, ..job });
        for (shape, threads) in extent.regimes(beside_busy) {
            let (name, repeats, tags) = (shape.name, shape.repeats, json!({ "load": load }));
            let ours = precisions(beside_busy).join(",");
            let train = format!("{name} train {threads} {ours} {repeats}");
            add(&mut jobs, Job::merit("throughput", &train, tags.clone()));
            if shape.sample_bar.is_some() {
                let sample = format!("{name} sample {threads} f32 {repeats}");
                add(&mut jobs, Job::merit("throughput", &sample, tags.clone()));
            }
            for mode in extent.modes(shape, beside_busy, threads) {
                for precision in precisions(beside_busy) {
                    let sampled = shape.sample_bar.is_some() && *precision == "f32";
                    let what = if sampled { "train,sample" } else { "train" };
                    let theirs = format!(
                        "--size {name} --what {what} --threads {threads} --mode {mode} --precision {precision} \
                         --prompt {PROMPT} --batch {TORCH_BATCHES} --seconds {}",
                        extent.seconds
                    );
                    add(&mut jobs, Job::peer("torch", "torch_decoder.py", &theirs, tags.clone()));
                }
            }
        }
    }
    // Last, because it slows what runs right behind it.
    jobs.push(Job::merit("throughput", "S peak 1 f32 1", json!({"load": "idle"})));
    jobs
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

fn train_rows(extent: &Extent, load: &str, beside_busy: bool, lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (shape, threads) in extent.regimes(beside_busy) {
        let (name, batch) = (shape.name, shape.train_rows);
        for ours in precisions(beside_busy) {
            let merit = json!({
                "side": "merit", "load": load, "shape": name, "mode": "train", "threads": threads, "precision": ours,
            });
            for theirs in precisions(beside_busy) {
                let Some(bar) = train_bar(shape, ours, theirs, threads) else { continue };
                for mode in extent.modes(shape, beside_busy, threads) {
                    let torch = json!({
                        "side": "torch", "load": load, "size": name, "what": "train", "threads": threads, "mode": mode,
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
    }
    Ok(rows)
}

fn sample_rows(extent: &Extent, load: &str, beside_busy: bool, lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (shape, threads) in extent.regimes(beside_busy) {
        let Some(sample_bar) = shape.sample_bar else { continue };
        for (batch, mode) in BATCHES
            .iter()
            .flat_map(|batch| extent.modes(shape, beside_busy, threads).iter().map(move |mode| (batch, mode)))
        {
            let merit = json!({
                "side": "merit", "load": load, "shape": shape.name, "mode": "sample", "batch": batch, "threads": threads,
            });
            let torch = |rows: u32| {
                let wanted = json!({
                    "side": "torch", "load": load, "size": shape.name, "what": "sample", "rows": rows,
                    "threads": threads, "mode": mode, "precision": "f32",
                });
                per_round(lines, &wanted, "tokens_per_s")
            };
            let best = *batch == 64;
            let theirs = if best { best_of([torch(16)?, torch(64)?, torch(256)?]) } else { torch(*batch)? };
            rows.push(Row {
                regime: format!("{}, sample {batch} rows, {threads} thread(s)", shape.name),
                merit: per_round(lines, &merit, "tokens_per_s")?,
                peer: format!("torch {mode}{}", if best { ", its best batch" } else { "" }),
                theirs,
                better: Better::Higher,
                bar: Bar::Ratio(if best { sample_bar } else { 1.0 }),
            });
        }
    }
    Ok(rows)
}

/// The largest of each round.
fn best_of<const N: usize>(runs: [Vec<f64>; N]) -> Vec<f64> {
    let rounds = runs.iter().map(Vec::len).min().unwrap_or(0);
    (0..rounds).map(|round| runs.iter().map(|run| run[round]).fold(f64::MIN, f64::max)).collect()
}

/// What was done, what it reached, and no bar.
type Share = (String, String, String, Option<bool>);

/// Arithmetic and memory traffic of merit, of what loops of nothing else reached in the same run.
fn shares(extent: &Extent, lines: &[Value]) -> Result<Vec<Share>> {
    let peak = |key: &str| {
        let found = per_round(lines, &json!({"side": "merit", "mode": "peak"}), key)?;
        Ok::<f64, anyhow::Error>(Spread::of(&found).median)
    };
    let copied = peak("copied_bytes_per_s")?;
    let mut rows = Vec::new();
    for shape in extent.shapes {
        let wanted = json!({"side": "merit", "load": "idle", "shape": shape.name, "threads": 1, "round": 1});
        for line in matching(lines, &wanted) {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let (mode, precision) = (text("mode"), text("precision"));
            let same = json!({
                "side": "merit", "load": "idle", "shape": shape.name, "threads": 1, "mode": mode,
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
    Ok(rows)
}

/// Equal work is: as many parameters, rows of equal length, prompts of equal length.
fn check_same_work(lines: &[Value]) -> Result<()> {
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
        let count = |side: &str, busy: bool| {
            jobs.iter().filter(|job| job.side == side && job.beside_busy == busy).count()
        };
        // Two thread counts; four shapes trained and three sampled, and the peak once. Torch at two precisions, the three
        // small shapes compiled on one thread.
        assert_eq!((count("merit", false), count("torch", false)), (2 * (4 + 3) + 1, 4 * 2 * 2 + 3 * 2));
        // Beside a busy core three shapes, in f32, not compiled.
        assert_eq!((count("merit", true), count("torch", true)), (2 * (3 + 3), 2 * 3));
    }

    #[test]
    fn torch_may_choose_its_best_batch_in_every_round() {
        assert_eq!(best_of([vec![1.0, 5.0], vec![2.0, 4.0]]), [2.0, 5.0]);
    }
}
