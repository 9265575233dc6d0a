//! Clean builds of the binary, in a target folder of their own.

use super::record::Record;
use super::spread::short;
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use serde_json::json;
use std::time::Instant;

pub(super) const SUBJECT: Subject =
    Subject { name: "build", by_default: false, peers: &[], examples: &[], measure };

const TARGET: &str = "target/bench-build";

/// A way to build: what Cargo is told, what the table calls it, and the seconds it may take.
struct Way {
    profile: &'static str,
    name: &'static str,
    bar: Bar,
}

const WAYS: [Way; 2] = [
    Way { profile: "dev", name: "`cargo build`", bar: Bar::AtMost(360.0) },
    Way { profile: "release", name: "`cargo build --release`", bar: Bar::None },
];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    if asked.quick {
        bail!("a clean build cannot be made quick; `cargo xtask bench build --rounds 1` is the least");
    }
    run("cargo", &["fetch", "--locked"])?; // downloads are not part of the build
    let mut slowest = [0.0_f64; WAYS.len()];
    for round in 1..=asked.rounds {
        for (way, slowest) in WAYS.iter().zip(&mut slowest) {
            *slowest = slowest.max(one(way, round, record)?);
        }
    }
    let row = |(way, seconds): (&Way, f64)| {
        let (bar, met) = way.bar.verdict(seconds, 1.0);
        let what = format!("{} of `merit` from nothing, seconds, slowest of {}", way.name, asked.rounds);
        (what, short(seconds), bar, met)
    };
    Ok(alone(&WAYS.iter().zip(slowest).map(row).collect::<Vec<_>>()))
}

/// Seconds of one build from nothing.
fn one(way: &Way, round: usize, record: &mut Record) -> Result<f64> {
    clear()?;
    let start = Instant::now();
    let arguments =
        ["build", "--profile", way.profile, "--locked", "--package", "merit", "--target-dir", TARGET];
    run("cargo", &arguments)?;
    let seconds = start.elapsed().as_secs_f64();
    clear()?;
    let command = format!("cargo {}", arguments.join(" "));
    record.add(
        json!({"round": round, "side": "merit", "command": command, "what": way.name, "wall_s": seconds}),
    )?;
    Ok(seconds)
}

fn clear() -> Result<()> {
    let folder = root().join(TARGET);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    Ok(())
}
