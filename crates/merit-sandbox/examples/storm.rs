//! The storm at full size: 10,000 calls, harmless and hostile, 64 at once. Prints one JSON line with the verdicts, wrong
//! answers, what was left, memory early and late, calls per second and the latency of harmless calls. Ends with status 1
//! when an answer was wrong or something was left.
//!
//! `cargo run --release -p merit-sandbox --example storm [calls] [at_once] [seed]`
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[cfg(target_os = "linux")]
#[path = "../tests/escape/aftermath.rs"]
mod aftermath;
#[cfg(target_os = "linux")]
#[path = "../tests/escape/bait.rs"]
mod bait;
#[cfg(target_os = "linux")]
#[path = "../tests/escape/dice.rs"]
#[allow(dead_code)] // the escape battery uses the rest
mod dice;
#[cfg(target_os = "linux")]
#[path = "../tests/escape/program.rs"]
#[allow(dead_code)] // the escape battery uses the rest
mod program;
#[cfg(target_os = "linux")]
#[path = "../tests/escape/storm.rs"]
mod storm;
#[cfg(target_os = "linux")]
#[path = "../tests/escape/traces.rs"]
#[allow(dead_code)] // the escape battery uses the rest
mod traces;

#[cfg(target_os = "linux")]
fn main() {
    let number = |place: usize, otherwise: usize| {
        std::env::args().nth(place).map_or(otherwise, |text| text.parse().unwrap())
    };
    let plan = storm::Plan { calls: number(1, 10_000), at_once: number(2, 64), seed: number(3, 1) as u64 };
    let folder = tempfile::Builder::new().prefix("merit-storm-").tempdir().unwrap();
    let mut after = aftermath::weather(folder.path(), &plan);
    drop(folder);
    after.tally.wrong.iter().chain(&after.left).for_each(|line| eprintln!("{line}"));
    let tally = &mut after.tally;
    tally.harmless_ms.sort_by(f64::total_cmp);
    let at = |share: f64| tally.harmless_ms.get((tally.harmless_ms.len() as f64 * share) as usize).copied();
    let (p50, p99) = (at(0.5), at(0.99));
    println!(
        "{}",
        serde_json::json!({
            "calls": plan.calls, "at_once": plan.at_once, "seed": plan.seed,
            "kinds": tally.kinds, "verdicts": tally.verdicts,
            "wrong": tally.wrong.len(), "left": after.left.len(),
            "own_kb_by_tenth": after.own_kb, "servers_kb_by_tenth": after.servers_kb,
            "seconds": tally.seconds, "calls_per_second": plan.calls as f64 / tally.seconds,
            "harmless_ms": { "p50": p50, "p99": p99, "max": tally.harmless_ms.last() },
        })
    );
    if !tally.wrong.is_empty() || !after.left.is_empty() {
        std::process::exit(1);
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the sandbox needs Linux");
}
