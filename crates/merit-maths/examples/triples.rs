//! Verifies a file of triples, `[{"id", "gold", "prediction", "targets", "options"}, …]`, by Math-Verify's rules or, with
//! `--strict`, by this crate's own. One JSON line for each; the time of all of them on standard error.
//!
//! `cargo run --release -p merit-maths --example triples -- FILE [--strict] [--repeat N]`
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

use merit_maths::{Compat, Conclusion, MathVerifyOptions, MathsConfig, Target};
use merit_maths_compat::verify;
use serde::Deserialize;
use std::time::{Duration, Instant};

#[derive(Deserialize)]
struct Triple {
    id: String,
    gold: String,
    prediction: String,
    #[serde(default)]
    targets: Option<Vec<Target>>,
    #[serde(default)]
    options: serde_json::Map<String, serde_json::Value>,
}

fn config(triple: &Triple) -> Result<MathsConfig, serde_json::Error> {
    let mut options = serde_json::to_value(MathVerifyOptions::default())?;
    for (name, value) in &triple.options {
        options[name] = value.clone();
    }
    let mut options: MathVerifyOptions = serde_json::from_value(options)?;
    if let Some(targets) = &triple.targets {
        options.targets.clone_from(targets);
    }
    Ok(MathsConfig { compat: Compat::MathVerify, math_verify: Some(options), ..MathsConfig::default() })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let strict = arguments.iter().any(|a| a == "--strict");
    let after = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let repeat: usize = after("--repeat").map_or(Ok(1), |n| n.parse())?;
    let file = arguments.first().ok_or("name a file of triples")?;
    let triples: Vec<Triple> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut times: Vec<Duration> = Vec::with_capacity(triples.len());
    for triple in &triples {
        let config = if strict { MathsConfig::default() } else { config(triple)? };
        let mut fastest = Duration::MAX;
        let mut verdict = None;
        for _ in 0..repeat.max(1) {
            let start = Instant::now();
            let this = verify(&triple.gold, &triple.prediction, &config);
            fastest = fastest.min(start.elapsed());
            verdict = Some(this);
        }
        let verdict = verdict.ok_or("repeat at least once")?;
        times.push(fastest);
        let line = serde_json::json!({
            "id": triple.id, "equal": verdict.conclusion == Conclusion::Pass, "us": fastest.as_nanos() as f64 / 1e3,
            "verdict": verdict,
        });
        println!("{line}");
    }
    times.sort_unstable();
    let total: Duration = times.iter().sum();
    let count = times.len().max(1);
    let p99 =
        times.get((times.len() * 99 / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default();
    let mean = total.as_secs_f64() / count as f64;
    eprintln!(
        "{count} pairs, mean {:.1} µs, {:.0}/s, p99 {p99:?}, worst {:?}",
        mean * 1e6,
        1.0 / mean,
        times.last()
    );
    Ok(())
}
