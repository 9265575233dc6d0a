//! What scoring rows takes without Python: `scoring REWARD FILE` scores the rows of a file of JSON lines as one batch, again and
//! again, and prints the microseconds that a tenth of the batches stay below.
//!
//! Run by `cargo xtask bench python`, which sets the same call from Python beside it. In the clock is what `merit_rl.Reward.score`
//! does once it has the rows: they are read into episodes, and these are scored.
#![allow(clippy::print_stdout)]

use merit_import::{AUTO, ImportOptions, Row, read_rows};
use merit_reward::{RewardState, ScoreContext, Scorer};
use serde::Deserialize;
use std::time::{Duration, Instant};

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    prompt: String,
    response: String,
    answer: Option<String>,
}

const LEAST: Duration = Duration::from_millis(500);

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(reward), Some(file)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("usage: scoring REWARD FILE");
    };
    let scorer = Scorer::opened(&merit_run::reward_file::load(&reward)?.config)?;
    let text = std::fs::read_to_string(file)?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<Line>, _>>()?;
    let rows: Vec<Row> = lines
        .into_iter()
        .map(|Line { prompt, response, answer }| Row::Plain { prompt, response, answer })
        .collect();
    let threads = rayon::ThreadPoolBuilder::new().build()?;
    let score = |given: Vec<Row>| -> anyhow::Result<usize> {
        let read = read_rows(given, AUTO, &ImportOptions::default())?;
        let episodes: Vec<_> = read.episodes.into_iter().map(|scored| scored.episode).collect();
        let batch = scorer.score_batch(&episodes, &ScoreContext::default(), &RewardState::default());
        Ok(batch.episodes.len())
    };
    // The first batch fills what is kept for the later ones.
    anyhow::ensure!(score(rows.clone())? == rows.len(), "a row was left out");
    let mut took: Vec<Duration> = Vec::new();
    while took.iter().sum::<Duration>() < LEAST {
        let given = rows.clone();
        let begun = Instant::now();
        threads.install(|| score(given))?;
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    println!("{}", took[took.len() / 10].as_secs_f64() * 1e6);
    Ok(())
}
