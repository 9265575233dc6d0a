//! Times the rule graders on one thread, on the pairs that `benchmarks/peers/openjudge_graders.py` times its peer on.
//!
//! `grading FILE exact|contains|json [--passes N] [--explain]`, run by `cargo xtask bench graders`. FILE is a list of
//! `{"response", "reference", "expected"}`. Texts are matched without regard to case; JSON is judged by the verifier of `merit verify
//! json`, with both texts read for every pair. With `--explain` each verdict on a text is also put into words. One pass of warm-up, in which every verdict is held
//! against the expected one, then timed passes; one JSON line with the median of their rates.
#![allow(clippy::print_stdout, reason = "a command-line program")]

use merit_verify::json::{JsonConfig, JsonVerifier};
use merit_verify::text::{Metric, StringConfig, StringRule, TextConfig, TextVerifier};
use serde::Deserialize;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

#[derive(Deserialize)]
struct Pair {
    response: String,
    reference: String,
    expected: bool,
}

/// The verdict on one pair; absent where the task is at fault.
type Grader = Box<dyn FnMut(&Pair) -> Option<bool>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let passes: usize = after("--passes").map_or(Ok(1), |text| text.parse())?;
    let explain = arguments.iter().any(|a| a == "--explain");
    let [file, what, ..] = arguments.as_slice() else {
        return Err("name a file of pairs, and exact, contains or json".into());
    };
    let mut grade = match what.as_str() {
        "exact" => text_grader(StringRule::Exact, explain)?,
        "contains" => text_grader(StringRule::Contains, explain)?,
        "json" if explain => return Err("a JSON match has no explanation".into()),
        "json" => json_grader()?,
        other => return Err(format!("`{other}` is none of exact, contains, json").into()),
    };
    let pairs: Vec<Pair> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut wrong = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        if grade(pair) != Some(pair.expected) {
            wrong.push(at);
        }
    }
    let pairs_per_s = median_rate(&pairs, passes, &mut grade);
    let count = pairs.len();
    println!(
        "{{\"what\":\"{what}\",\"explained\":{explain},\"pairs\":{count},\"passes\":{passes},\"pairs_per_s\":{pairs_per_s:.0},\
         \"wrong\":{wrong:?}}}"
    );
    Ok(())
}

fn median_rate(pairs: &[Pair], passes: usize, grade: &mut Grader) -> f64 {
    let mut rates = Vec::with_capacity(passes);
    for _ in 0..passes.max(1) {
        let start = Instant::now();
        for pair in pairs {
            black_box(grade(black_box(pair)));
        }
        rates.push(pairs.len() as f64 / start.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn text_grader(rule: StringRule, explain: bool) -> Result<Grader, Box<dyn Error>> {
    let metric = Metric::String(StringConfig { rule, ignore_case: true });
    let verifier = TextVerifier::compile(TextConfig::new(metric))?;
    Ok(Box::new(move |pair| {
        let verdict = black_box(verifier.verify(&pair.response, &[&pair.reference]));
        if explain {
            black_box(merit_verify::text::explain(&verdict));
        }
        verdict.passed()
    }))
}

fn json_grader() -> Result<Grader, Box<dyn Error>> {
    let verifier = JsonVerifier::compile(JsonConfig::default())?;
    Ok(Box::new(move |pair| {
        let reference = serde_json::from_str(&pair.reference).ok()?;
        black_box(verifier.verify(&pair.response, Some(&reference))).passed()
    }))
}
