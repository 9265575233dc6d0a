//! What verifying pairs takes without Python: `pairs FILE` judges the pairs of a file of JSON lines (`gold`, `response`) by `maths` as one
//! batch, again and again, and prints the pairs a second.
//!
//! Run by `cargo xtask bench python`, which sets the same call from Python beside it. In the clock is what `merit_rl.Verifier.pairs` does
//! once it has the texts.
#![allow(clippy::print_stdout)]

use merit_maths_compat::{MathsConfig, verify};
use rayon::prelude::*;
use serde::Deserialize;
use std::time::{Duration, Instant};

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    gold: String,
    response: String,
}

const LEAST: Duration = Duration::from_millis(200);

fn main() -> anyhow::Result<()> {
    let Some(file) = std::env::args().nth(1) else { anyhow::bail!("usage: pairs FILE") };
    let text = std::fs::read_to_string(file)?;
    let pairs = text.lines().map(serde_json::from_str).collect::<Result<Vec<Pair>, _>>()?;
    let (config, threads) = (MathsConfig::default(), rayon::ThreadPoolBuilder::new().build()?);
    let judged = || -> Vec<Option<f64>> {
        let judge = |Pair { gold, response }: &Pair| verify(gold, response, &config).score;
        threads.install(|| pairs.par_iter().map(judge).collect())
    };
    // The first batch fills what is kept for the later ones.
    anyhow::ensure!(judged().iter().all(Option::is_some), "a pair was not judged");
    let (mut batches, begun) = (0_u32, Instant::now());
    while begun.elapsed() < LEAST {
        anyhow::ensure!(judged().len() == pairs.len(), "a pair was left out");
        batches += 1;
    }
    println!("{}", f64::from(batches) * pairs.len() as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}
