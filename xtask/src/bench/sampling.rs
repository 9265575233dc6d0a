//! Sampled tokens per second of small decoders beside torch, eager and compiled, in f32 and bf16.

use super::decoder::{Extent, PRECISIONS, PROMPT, Shape, check_same_work, peak_job, shares};
use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject};
use anyhow::Result;
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "sampling",
    by_default: true,
    peers: &["torch", "transformers"],
    examples: &[("merit-model", "throughput")],
    measure,
};

/// Rows that are sampled together; 256 by torch alone, which may choose its best.
const BATCHES: [u32; 2] = [16, 64];
const TORCH_BATCHES: [u32; 3] = [16, 64, 256];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let extent = Extent::of(asked);
    interleave(&jobs(&extent), asked.rounds, record)?;
    check_same_work(&record.lines)?;
    let rows = rows(&extent, &record.lines)?;
    Ok(format!("Tokens per second:\n\n{}\n{}", beside_peers(&rows), shares(&extent, &record.lines)?))
}

/// The sampled shapes by threads; those with a high bar also on two.
fn regimes(extent: &Extent) -> impl Iterator<Item = (&'static Shape, u32, f64)> {
    let sampled = extent.regimes().filter_map(|(shape, threads)| Some((shape, threads, shape.sample_bar?)));
    sampled.filter(|(_, threads, bar)| *threads == 1 || *bar > 1.0)
}

/// Torch's ways: compiled, which takes it minutes, only where the bar is high, and in f32 alone.
fn ways(extent: &Extent, shape: &Shape, threads: u32) -> Vec<(&'static str, &'static str)> {
    let mut ways = vec![("eager", "f32"), ("eager", "bf16")];
    if shape.sample_bar.is_some_and(|bar| bar > 1.0) && extent.modes(shape, threads).contains(&"compile") {
        ways.push(("compile", "f32"));
    }
    ways
}

fn jobs(extent: &Extent) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (shape, threads, _) in regimes(extent) {
        let (name, repeats) = (shape.name, shape.repeats);
        let ours = format!("{name} sample {threads} {} {repeats}", PRECISIONS.join(","));
        jobs.push(Job::merit("throughput", &ours, json!({})));
        for (mode, precision) in ways(extent, shape, threads) {
            let theirs = format!(
                "--size {name} --what sample --threads {threads} --mode {mode} --precision {precision} \
                 --prompt {PROMPT} --batch {} --seconds {}",
                TORCH_BATCHES.map(|rows| rows.to_string()).join(","),
                extent.seconds
            );
            jobs.push(Job::peer("torch", "torch_decoder.py", &theirs, json!({})));
        }
    }
    jobs.push(peak_job());
    jobs
}

/// Each precision of ours beside torch: 16 rows beside its best way at as many, 64 rows beside its best way and batch.
fn rows(extent: &Extent, lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (shape, threads, bar) in regimes(extent) {
        let torch = |rows: u32, (mode, precision): (&str, &str)| {
            let wanted = json!({
                "side": "torch", "size": shape.name, "what": "sample", "rows": rows, "threads": threads, "mode": mode,
                "precision": precision,
            });
            per_round(lines, &wanted, "tokens_per_s")
        };
        for (ours, batch) in PRECISIONS.iter().flat_map(|ours| BATCHES.map(|batch| (ours, batch))) {
            let merit = json!({
                "side": "merit", "shape": shape.name, "mode": "sample", "batch": batch, "threads": threads,
                "precision": ours,
            });
            let best = batch == 64;
            let batches = if best { &TORCH_BATCHES[..] } else { &[16] };
            let all = ways(extent, shape, threads).into_iter();
            let all = all.flat_map(|way| batches.iter().map(move |&rows| (rows, way)));
            let theirs = all.map(|(rows, way)| torch(rows, way)).collect::<Result<Vec<_>>>()?;
            rows.push(Row {
                regime: format!("{}, sample {batch} rows in {ours}, {threads} thread(s)", shape.name),
                merit: per_round(lines, &merit, "tokens_per_s")?,
                peer: format!("torch, its best way{}", if best { " and batch" } else { "" }),
                theirs: best_of(&theirs),
                better: Better::Higher,
                bar: Bar::Ratio(if best { bar } else { 1.0 }),
            });
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
        let count = |side: &str| jobs.iter().filter(|job| job.side == side).count();
        // Two shapes on one and two threads, one on one, and the peak; torch at two precisions, two shapes compiled on one
        // thread.
        assert_eq!((count("merit"), count("torch")), (2 * 2 + 1 + 1, 5 * 2 + 2));
    }

    #[test]
    fn torch_may_choose_its_best_way_and_batch_in_every_round() {
        assert_eq!(best_of(&[vec![1.0, 5.0], vec![2.0, 4.0]]), [2.0, 5.0]);
    }
}
