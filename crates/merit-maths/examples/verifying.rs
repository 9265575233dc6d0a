//! Times the maths verifier on one thread, on the pairs that `benchmarks/peers/math_verify_bench.py` times its peer on.
//!
//! `verifying FILE compat|strict [--passes N] [--warm N] [--first N]`, run by `cargo xtask bench maths`. FILE is a list of
//! `{"id", "gold", "prediction", "expected"}`, with the peer's `targets` and `options` where they are not its defaults; under
//! `strict` these are not used. Of the first pairs, `--warm` are verified untimed; `--first` leaves out the rest of the file. One
//! JSON line for each pass; `wrong` names the pairs whose verdict is not the expected one, less the listed strict differences.
#![allow(clippy::print_stdout, reason = "a command-line program")]

use merit_maths::{Compat, Conclusion, MathVerifyOptions, MathsConfig, Target};
use merit_maths_compat::verify;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

const STRICT_DIFFERENCES: &str = include_str!("../tests/strict_differences.toml");

#[derive(Deserialize)]
struct Pair {
    id: String,
    gold: String,
    prediction: String,
    expected: bool,
    #[serde(default)]
    targets: Option<Vec<Target>>,
    #[serde(default)]
    options: Map<String, Value>,
}

#[derive(Deserialize)]
struct Differences {
    differences: BTreeMap<String, String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, otherwise: usize| {
        let given = arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
        given.map_or(Ok(otherwise), |text| text.parse())
    };
    let (passes, warm, first) =
        (number("--passes", 1)?, number("--warm", 0)?, number("--first", usize::MAX)?);
    let [file, mode, ..] = arguments.as_slice() else {
        return Err("name a file of pairs, and compat or strict".into());
    };
    let strict = match mode.as_str() {
        "compat" => false,
        "strict" => true,
        other => return Err(format!("`{other}` is neither compat nor strict").into()),
    };
    let mut pairs: Vec<Pair> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    pairs.truncate(first);
    let listed: Differences = toml::from_str(STRICT_DIFFERENCES)?;
    let listed = if strict { listed.differences } else { BTreeMap::new() };
    let policies: Vec<MathsConfig> =
        pairs.iter().map(|pair| config(pair, strict)).collect::<Result<_, _>>()?;
    let work: Vec<(&Pair, &MathsConfig)> = pairs.iter().zip(&policies).collect();
    let (warming, timed) = work.split_at(warm.min(work.len()));
    warming.iter().for_each(|(pair, config)| drop(verify(&pair.gold, &pair.prediction, config)));
    for pass in 0..passes {
        println!("{}", one_pass(timed, &listed, pass));
    }
    Ok(())
}

/// The peer's rules with the options its test gave, or this crate's own.
fn config(pair: &Pair, strict: bool) -> Result<MathsConfig, serde_json::Error> {
    if strict {
        return Ok(MathsConfig::default());
    }
    let mut options = serde_json::to_value(MathVerifyOptions::default())?;
    for (name, value) in &pair.options {
        options[name] = value.clone();
    }
    let mut options: MathVerifyOptions = serde_json::from_value(options)?;
    if let Some(targets) = &pair.targets {
        options.targets.clone_from(targets);
    }
    Ok(MathsConfig { compat: Compat::MathVerify, math_verify: Some(options), ..MathsConfig::default() })
}

fn one_pass(work: &[(&Pair, &MathsConfig)], listed: &BTreeMap<String, String>, pass: usize) -> Value {
    let mut times = Vec::with_capacity(work.len());
    let (mut wrong, mut listed_differences, mut slowest) = (Vec::new(), 0, (Duration::ZERO, ""));
    for (pair, config) in work {
        let start = Instant::now();
        let equal = verify(&pair.gold, &pair.prediction, config).conclusion == Conclusion::Pass;
        let took = start.elapsed();
        times.push(took);
        slowest = slowest.max((took, &pair.id));
        match equal == pair.expected {
            true => {}
            false if listed.contains_key(&pair.id) => listed_differences += 1,
            false => wrong.push(&pair.id),
        }
    }
    times.sort_unstable();
    let seconds = times.iter().sum::<Duration>().as_secs_f64();
    // The value that at least this share of the pairs do not pass.
    let quantile_ms = |share: f64| {
        let rank = (share * times.len() as f64).ceil() as usize;
        times.get(rank.max(1) - 1).map(|took| took.as_secs_f64() * 1e3)
    };
    json!({
        "when": if pass == 0 { "first" } else { "repeated" }, "pass": pass, "pairs": times.len(), "seconds": seconds,
        "pairs_per_s": times.len() as f64 / seconds, "p50_ms": quantile_ms(0.5), "p99_ms": quantile_ms(0.99),
        "max_ms": quantile_ms(1.0), "slowest": slowest.1, "wrong": wrong, "listed_differences": listed_differences,
    })
}
