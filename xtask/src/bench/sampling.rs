//! Sampled tokens per second of small decoders beside torch, eager and compiled, in f32 and bf16, alone and with one core busy.

use super::decoder::{Extent, PRECISIONS, PROMPT, Shape, check_same_work, peak_job, shares};
use super::job::{Job, build_example, interleave};
use super::lines::per_round;
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject};
use anyhow::Result;
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject =
    Subject { name: "sampling", by_default: true, peers: &["torch", "transformers"], measure };

const LOADS: [(&str, bool); 2] = [("idle", false), ("other core busy", true)];
/// Rows that are sampled together; 256 by torch alone, which may choose its best.
const BATCHES: [u32; 2] = [16, 64];
const TORCH_BATCHES: [u32; 3] = [16, 64, 256];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    build_example("merit-model", "throughput")?;
    let extent = Extent::of(asked);
    interleave(&jobs(&extent), asked.rounds, record)?;
    check_same_work(&record.lines)?;
    let mut text = String::new();
    for (load, beside_busy) in LOADS {
        let rows = rows(&extent, load, beside_busy, &record.lines)?;
        text += &format!("Tokens per second, {load}:\n\n{}\n", beside_peers(&rows));
    }
    let idle: Vec<Value> = record.lines.iter().filter(|line| line["load"] == "idle").cloned().collect();
    Ok(text + &shares(&extent, &idle)?)
}

/// The sampled shapes by threads; beside a busy core the smaller ones on one thread.
fn regimes(extent: &Extent, beside_busy: bool) -> impl Iterator<Item = (&'static Shape, u32, f64)> {
    let sampled = extent.regimes().filter_map(|(shape, threads)| Some((shape, threads, shape.sample_bar?)));
    sampled.filter(move |(_, threads, bar)| !beside_busy || (*threads == 1 && *bar > 1.0))
}

/// Compiled only where the bar is high, on the idle machine: it takes torch minutes.
fn modes(extent: &Extent, shape: &Shape, threads: u32, beside_busy: bool) -> &'static [&'static str] {
    let worth = !beside_busy && shape.sample_bar.is_some_and(|bar| bar > 1.0);
    if worth { extent.modes(shape, threads) } else { &["eager"] }
}

fn jobs(extent: &Extent) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (load, beside_busy) in LOADS {
        for (shape, threads, _) in regimes(extent, beside_busy) {
            let (name, repeats, tags) = (shape.name, shape.repeats, json!({ "load": load }));
            let ours = format!("{name} sample {threads} {} {repeats}", PRECISIONS.join(","));
            jobs.push(Job { beside_busy, ..Job::merit("throughput", &ours, tags.clone()) });
            for mode in modes(extent, shape, threads, beside_busy) {
                for precision in PRECISIONS {
                    let theirs = format!(
                        "--size {name} --what sample --threads {threads} --mode {mode} --precision {precision} \
                         --prompt {PROMPT} --batch {} --seconds {}",
                        TORCH_BATCHES.map(|rows| rows.to_string()).join(","),
                        extent.seconds
                    );
                    let job = Job::peer("torch", "torch_decoder.py", &theirs, tags.clone());
                    jobs.push(Job { beside_busy, ..job });
                }
            }
        }
    }
    jobs.push(Job { tags: json!({ "load": "idle" }), ..peak_job() });
    jobs
}

/// Each precision of ours beside torch: 16 rows beside as many, 64 rows beside its best batch and precision.
fn rows(extent: &Extent, load: &str, beside_busy: bool, lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (shape, threads, bar) in regimes(extent, beside_busy) {
        for (ours, mode) in PRECISIONS
            .iter()
            .flat_map(|ours| modes(extent, shape, threads, beside_busy).iter().map(move |mode| (ours, mode)))
        {
            let torch = |rows: u32, precision: &str| {
                let wanted = json!({
                    "side": "torch", "load": load, "size": shape.name, "what": "sample", "rows": rows,
                    "threads": threads, "mode": mode, "precision": precision,
                });
                per_round(lines, &wanted, "tokens_per_s")
            };
            for batch in BATCHES {
                let merit = json!({
                    "side": "merit", "load": load, "shape": shape.name, "mode": "sample", "batch": batch,
                    "threads": threads, "precision": ours,
                });
                let best = batch == 64;
                let (peer, theirs) = if best {
                    let all = TORCH_BATCHES.iter().flat_map(|&rows| PRECISIONS.map(|p| torch(rows, p)));
                    ("its best batch and precision", best_of(&all.collect::<Result<Vec<_>>>()?))
                } else {
                    (*ours, torch(batch, ours)?)
                };
                rows.push(Row {
                    regime: format!("{}, sample {batch} rows in {ours}, {threads} thread(s)", shape.name),
                    merit: per_round(lines, &merit, "tokens_per_s")?,
                    peer: format!("torch {mode}, {peer}"),
                    theirs,
                    better: Better::Higher,
                    bar: Bar::Ratio(if best { bar } else { 1.0 }),
                });
            }
        }
    }
    Ok(rows)
}

/// The largest of each round.
fn best_of(runs: &[Vec<f64>]) -> Vec<f64> {
    let rounds = runs.iter().map(Vec::len).min().unwrap_or(0);
    (0..rounds).map(|round| runs.iter().map(|run| run[round]).fold(f64::MIN, f64::max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_regime_is_run_by_every_side() {
        let jobs = jobs(&Extent::of(&Asked { rounds: 5, quick: false }));
        let count = |side: &str, busy: bool| {
            jobs.iter().filter(|job| job.side == side && job.beside_busy == busy).count()
        };
        // Three shapes on one and two threads, and the peak once; torch at two precisions, two shapes compiled on one thread.
        assert_eq!((count("merit", false), count("torch", false)), (3 * 2 + 1, 3 * 2 * 2 + 2 * 2));
        // Beside a busy core two shapes on one thread, not compiled.
        assert_eq!((count("merit", true), count("torch", true)), (2, 2 * 2));
    }

    #[test]
    fn torch_may_choose_its_best_batch_and_precision_in_every_round() {
        assert_eq!(best_of(&[vec![1.0, 5.0], vec![2.0, 4.0]]), [2.0, 5.0]);
    }
}
