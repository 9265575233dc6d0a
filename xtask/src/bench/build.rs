//! Clean builds of the binary, in a target folder of their own.
//!
//! The bars are on processor time, which a busy machine moves less than the wall clock. Each build also leaves one line per
//! package with the seconds that its parts took by Cargo's own account (waiting for a processor included), and the size of the
//! binary.

use super::record::Record;
use super::spread::short;
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

pub(super) const SUBJECT: Subject =
    Subject { name: "build", by_default: false, peers: &[], examples: &[], measure };

const TARGET: &str = "target/bench-build";

/// A way to build: what Cargo is told, where the binary comes to lie, what the table calls it, and the processor time it may
/// take in seconds.
struct Way {
    profile: &'static str,
    folder: &'static str,
    name: &'static str,
    bar: Bar,
}

/// What one build took.
#[derive(Clone, Copy, Default)]
struct Took {
    wall_s: f64,
    cpu_s: f64,
    binary_mib: f64,
}

const WAYS: [Way; 2] = [
    Way { profile: "dev", folder: "debug", name: "`cargo build`", bar: Bar::AtMost(360.0) },
    Way { profile: "release", folder: "release", name: "`cargo build --release`", bar: Bar::AtMost(540.0) },
];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    if asked.quick {
        bail!("a clean build cannot be made quick; `cargo xtask bench build --rounds 1` is the least");
    }
    run("cargo", &["fetch", "--locked"])?; // downloads are not part of the build
    let mut slowest = [Took::default(); WAYS.len()];
    for round in 1..=asked.rounds {
        for (way, slowest) in WAYS.iter().zip(&mut slowest) {
            let took = one(way, round, record)?;
            slowest.wall_s = slowest.wall_s.max(took.wall_s);
            slowest.cpu_s = slowest.cpu_s.max(took.cpu_s);
            slowest.binary_mib = took.binary_mib;
        }
    }
    let mut rows = Vec::new();
    for (way, took) in WAYS.iter().zip(slowest) {
        let (bar, met) = way.bar.verdict(took.cpu_s, 1.0);
        let of = format!("{} of `merit` from nothing, slowest of {}", way.name, asked.rounds);
        rows.push((format!("{of}: processor seconds"), short(took.cpu_s), bar, met));
        let (bar, met) = Bar::None.verdict(took.wall_s, 1.0);
        rows.push((format!("{of}: seconds on the clock"), short(took.wall_s), bar, met));
        let (bar, met) = Bar::None.verdict(took.binary_mib, 1.0);
        rows.push((format!("{}: the binary, MiB", way.name), short(took.binary_mib), bar, met));
    }
    Ok(alone(&rows))
}

/// One build from nothing.
fn one(way: &Way, round: usize, record: &mut Record) -> Result<Took> {
    clear()?;
    let (start, before) = (Instant::now(), children_cpu_s()?);
    let arguments = [
        "build",
        "--profile",
        way.profile,
        "--locked",
        "--timings",
        "--package",
        "merit",
        "--target-dir",
        TARGET,
    ];
    run("cargo", &arguments)?;
    let (wall_s, cpu_s) = (start.elapsed().as_secs_f64(), children_cpu_s()? - before);
    let target = root().join(TARGET);
    let binary = target.join(way.folder).join("merit");
    let bytes = std::fs::metadata(&binary).with_context(|| format!("no {}", binary.display()))?.len();
    let took = Took { wall_s, cpu_s, binary_mib: bytes as f64 / 1_048_576.0 };
    let command = format!("cargo {}", arguments.join(" "));
    record.add(json!({
        "round": round, "side": "merit", "command": command, "what": way.name, "wall_s": wall_s, "cpu_s": cpu_s,
        "binary_mib": took.binary_mib,
    }))?;
    for (package, seconds) in packages(&target.join("cargo-timings/cargo-timing.html"))? {
        record.add(json!({"round": round, "what": way.name, "package": package, "seconds": seconds}))?;
    }
    clear()?;
    Ok(took)
}

/// Processor seconds of all programs that we started and that have ended.
fn children_cpu_s() -> Result<f64> {
    /// Ticks of the kernel's account, the same on every Linux of this kind of machine.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    // The name of the program may hold spaces; the fields after it count from 3, and those of the children are 16 and 17.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: Vec<f64> = fields.skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    Ok(ticks.iter().sum::<f64>() / TICKS)
}

/// Seconds of each package, the slowest first, from the page that Cargo writes.
fn packages(page: &Path) -> Result<Vec<(String, f64)>> {
    let text = std::fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let start = text.split_once("const UNIT_DATA = ").context("the page of timings has no UNIT_DATA")?.1;
    let mut units = serde_json::Deserializer::from_str(start).into_iter::<Vec<Value>>();
    let units = units.next().context("UNIT_DATA is empty")?.context("UNIT_DATA cannot be read")?;
    let mut seconds: BTreeMap<String, f64> = BTreeMap::new();
    for unit in &units {
        let name = unit["name"].as_str().unwrap_or_default();
        *seconds.entry(name.to_owned()).or_default() += unit["duration"].as_f64().unwrap_or_default();
    }
    let mut seconds: Vec<(String, f64)> = seconds.into_iter().collect();
    seconds.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(seconds)
}

fn clear() -> Result<()> {
    let folder = root().join(TARGET);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_package_are_added_up() {
        let page = std::env::temp_dir().join(format!("merit-timings-{}.html", std::process::id()));
        let unit = |name: &str, seconds: f64| json!({"name": name, "duration": seconds});
        let units = json!([unit("small", 1.0), unit("large", 2.0), unit("large", 0.5)]);
        std::fs::write(&page, format!("<script>\nconst UNIT_DATA = {units};\nconst X = [];")).unwrap();
        let got = packages(&page);
        std::fs::remove_file(&page).unwrap();
        assert_eq!(got.unwrap(), [("large".to_owned(), 2.5), ("small".to_owned(), 1.0)]);
    }

    #[test]
    fn programs_that_ended_are_accounted_for() {
        let before = children_cpu_s().unwrap();
        run("sh", &["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]).unwrap();
        assert!(children_cpu_s().unwrap() > before);
    }
}
