//! A clean release build of the binary, in a target folder of its own.

use super::record::Record;
use super::spread::short;
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use serde_json::json;
use std::time::Instant;

pub(super) const SUBJECT: Subject = Subject { name: "build", by_default: false, peers: &[], measure };

const BAR_S: f64 = 360.0;
const TARGET: &str = "target/bench-build";

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    if asked.quick {
        bail!("a clean build cannot be made quick; `cargo xtask bench build --rounds 1` is the least");
    }
    run("cargo", &["fetch", "--locked"])?; // downloads are not part of the build
    let mut slowest = 0.0_f64;
    for round in 1..=asked.rounds {
        clear()?;
        let start = Instant::now();
        let arguments = ["build", "--release", "--locked", "--package", "merit", "--target-dir", TARGET];
        run("cargo", &arguments)?;
        let seconds = start.elapsed().as_secs_f64();
        let command = format!("cargo {}", arguments.join(" "));
        record.add(
            json!({"round": round, "side": "merit", "command": command, "what": "build", "wall_s": seconds}),
        )?;
        slowest = slowest.max(seconds);
    }
    clear()?;
    let (bar, met) = Bar::AtMost(BAR_S).verdict(slowest, 1.0);
    let what = format!("clean release build of `merit`, slowest of {}", asked.rounds);
    Ok(alone(&[(what, format!("{} s", short(slowest)), format!("{bar} s"), met)]))
}

fn clear() -> Result<()> {
    let folder = root().join(TARGET);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    Ok(())
}
