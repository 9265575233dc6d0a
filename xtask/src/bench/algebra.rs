//! Scoring many episodes with a reward of ten terms: seconds on two threads and on one, and the memory of it. No peer.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::memory::peak_mib;
use super::record::Record;
use super::spread::{Spread, short};
use super::table::{Bar, alone};
use super::{Asked, Subject};
use crate::root;
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::process::Command;

pub(super) const SUBJECT: Subject = Subject {
    name: "algebra",
    by_default: true,
    peers: &[],
    examples: &[("merit-reward", "algebra")],
    measure,
};

const BAR_S: f64 = 1.0;
/// How often a process scores the batch; a round takes the median.
const REPEATS: usize = 5;
/// Threads, and what was promised of them.
const THREADS: [(u32, Bar); 2] = [(2, Bar::AtMost(BAR_S)), (1, Bar::None)];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let episodes = if asked.quick { 800 } else { 100_000 };
    let jobs: Vec<Job> = THREADS.iter().map(|(threads, _)| job(episodes, *threads)).collect();
    interleave(&jobs, asked.rounds, record)?;
    check_same_sums(&record.lines)?;
    let count = short(f64::from(episodes));
    let mut rows = Vec::new();
    for (threads, bar) in THREADS {
        let seconds = Spread::of(&per_round(&record.lines, &tags(threads), "seconds")?);
        let (bar, met) = bar.verdict(seconds.median, 1.0);
        let bar = if met.is_some() { format!("{bar} s") } else { bar };
        let what = format!("{count} episodes of ten turns, ten terms, {threads} thread(s): median (min–max)");
        rows.push((what, format!("{seconds} s"), bar, met));
    }
    let peak = memory(episodes, record)?;
    let what = format!("peak memory of the process, its {count} episodes and their scores included");
    rows.push((what, format!("{} MiB", short(peak)), "—".to_owned(), None));
    Ok(alone(&rows))
}

fn tags(threads: u32) -> Value {
    json!({ "threads": threads })
}

fn job(episodes: u32, threads: u32) -> Job {
    let example = Job::merit("algebra", &format!("{episodes} {REPEATS}"), tags(threads));
    let mut command = vec!["/usr/bin/env".to_owned(), format!("RAYON_NUM_THREADS={threads}")];
    command.extend(example.command);
    Job { command, ..example }
}

/// The scores do not depend on the threads, nor on the round.
fn check_same_sums(lines: &[Value]) -> Result<()> {
    let merit = json!({"side": "merit"});
    let mut sums = matching(lines, &merit).map(|line| line["sum"].as_f64());
    let first = sums.next().flatten();
    ensure!(first.is_some_and(|sum| sum != 0.0), "no line has a sum of rewards");
    ensure!(sums.all(|sum| sum == first), "the same episodes were scored differently: {lines:?}");
    Ok(())
}

fn memory(episodes: u32, record: &mut Record) -> Result<f64> {
    let arguments = [episodes.to_string(), "1".to_owned()];
    let mut command = Command::new(root().join("target/release/examples/algebra"));
    let peak = peak_mib(command.args(&arguments).env("RAYON_NUM_THREADS", "2"))?;
    let shown = format!("target/release/examples/algebra {}", arguments.join(" "));
    record
        .add(json!({"side": "merit", "command": shown, "what": "memory", "threads": 2, "peak_mib": peak}))?;
    Ok(peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_that_depend_on_the_threads_end_the_run() {
        let line = |threads: u32, sum: f64| json!({"side": "merit", "threads": threads, "sum": sum});
        assert!(check_same_sums(&[line(2, 1.5), line(1, 1.5)]).is_ok());
        for (lines, why) in [
            (vec![line(2, 1.5), line(1, 1.5000001)], "the same episodes were scored differently"),
            (vec![json!({"side": "merit", "threads": 2})], "no line has a sum of rewards"),
            (vec![line(2, 0.0)], "no line has a sum of rewards"),
        ] {
            let said = check_same_sums(&lines).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }
}
