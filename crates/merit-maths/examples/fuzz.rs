//! Mutated answers, verified by both sets of rules: no panic, no step beyond the limit, the slowest one named.
//!
//! `cargo xtask fuzz-maths [N]`, or `cargo run --release -p merit-maths --example fuzz -- [N] [SEED]`. The same N and SEED give
//! the same inputs. It ends with a failure, and the input that caused it, at the first panic or overrun.
#![allow(clippy::print_stdout, reason = "a command-line program")]

use merit_maths::{Compat, Limits, MathsConfig};
use merit_maths_compat::verify;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[path = "../tests/it/mutator/mod.rs"]
mod mutator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u64 = arguments.first().map_or(Ok(10_000_000), |n| n.replace('_', "").parse())?;
    let seed: u64 = arguments.get(1).map_or(Ok(1), |n| n.parse())?;
    // Few steps each: what ends within a small limit is told apart from what does not just as well, and sooner.
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let strict = MathsConfig { limits, ..MathsConfig::default() };
    let compat = MathsConfig { compat: Compat::MathVerify, limits, ..MathsConfig::default() };
    let mut mutator = mutator::Mutator::new(seed);
    let current = watch();
    let (start, mut slowest, mut slowest_pair) =
        (Instant::now(), Duration::ZERO, (String::new(), String::new()));
    let (mut most_steps, mut exhausted) = (0, 0_u64);
    for i in 0..count {
        let (gold, response) = mutator.pair();
        let config = if i % 2 == 0 { &strict } else { &compat };
        let before = Instant::now();
        if let Ok(mut current) = current.lock() {
            *current = Some((before, gold.clone(), response.clone()));
        }
        let verdict = catch_unwind(AssertUnwindSafe(|| verify(&gold, &response, config)))
            .map_err(|_| format!("a panic on input {i}: {gold:?} against {response:?}"))?;
        let took = before.elapsed();
        if took > slowest {
            (slowest, slowest_pair) = (took, (gold.clone(), response.clone()));
        }
        most_steps = most_steps.max(verdict.steps);
        exhausted += u64::from(verdict.rule.ends_with("limit"));
        if verdict.steps > limits.steps {
            return Err(format!("{} steps on input {i}: {gold:?} against {response:?}", verdict.steps).into());
        }
        if (i + 1) % 1_000_000 == 0 {
            println!("{} inputs, {:.0} s, slowest {slowest:?}", i + 1, start.elapsed().as_secs_f64());
        }
    }
    let (gold, response) = slowest_pair;
    println!(
        "{count} inputs in {:.1} s: no panic, at most {most_steps} of {} steps, {exhausted} ended by a limit; slowest {slowest:?}: \
         {gold:?} against {response:?}",
        start.elapsed().as_secs_f64(),
        limits.steps
    );
    Ok(())
}

/// The input under way, and since when.
type Current = Arc<Mutex<Option<(Instant, String, String)>>>;

/// Ends the program, naming the input, when one takes ten seconds: a limit that does not limit.
fn watch() -> Current {
    let current: Current = Arc::default();
    let seen = Arc::clone(&current);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let stuck = seen
                .lock()
                .ok()
                .and_then(|c| c.clone())
                .filter(|(since, ..)| since.elapsed().as_secs() >= 10);
            if let Some((_, gold, response)) = stuck {
                println!("ten seconds without an end: {gold:?} against {response:?}");
                std::process::exit(1);
            }
        }
    });
    current
}
