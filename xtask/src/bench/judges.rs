//! A judge that is a model, as merit, autorubric and rubrify ask it: the same local server, the same pairs, the same verdicts.
//!
//! The pairs of recorded episodes are measured where the file is there (`merit_testing` says where it looks); those of the preference
//! set are fetched with a package.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::spread::{Spread, median, short};
use super::{Asked, Subject};
use crate::{root, run};
use anyhow::Result;
use merit_testing::data;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) const SUBJECT: Subject =
    Subject { name: "judges", by_default: false, peers: &["autorubric", "rubrify"], examples: &[], measure };

/// The sides as the script knows them and as the table calls them.
const SIDES: [(&str, &str); 4] = [
    ("merit", "merit, grades"),
    ("merit-compare", "merit, both orders"),
    ("autorubric", "autorubric"),
    ("rubrify", "rubrify"),
];
const PYTHON: &str = ".cache/judges/bin/python";
const EPISODES: &str = "tau-bench-airline-gpt-4o.json";
/// The share of questions that each of five faults befalls.
const FAULTS: &str = "0.04";

/// A kind of pairs: its name, and the file that all sides read.
struct Set {
    name: &'static str,
    file: String,
}

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    run("cargo", &["build", "--release", "--locked", "--package", "merit"])?;
    let sets = sets(asked.quick)?;
    let mut jobs = Vec::new();
    for set in &sets {
        jobs.extend(jobs_of(set, "", "plain"));
    }
    if let Some(first) = sets.first() {
        jobs.extend(jobs_of(first, &format!("--faults {FAULTS}"), "faults"));
        jobs.extend(jobs_of(first, "--kill", "killed"));
    }
    interleave(&jobs, asked.rounds, record)?;
    tables(&sets, &record.lines)
}

/// Writes the pairs; the preferences come first and are always there.
fn sets(quick: bool) -> Result<Vec<Set>> {
    let limit = if quick { "8" } else { "100000" };
    let written = |name: &'static str, kind: &str, results: &[&str]| -> Result<Set> {
        let file = format!("target/bench-inputs/judges-{kind}.json");
        let script = ["benchmarks/peers/judge_pairs.py", kind, &file];
        run(&root().join(PYTHON).display().to_string(), &[&script, results, &["--limit", limit]].concat())?;
        Ok(Set { name, file })
    };
    let mut sets = vec![written("300 preferences between answers in a chat", "preferences", &[])?];
    if let Some(results) = data(EPISODES) {
        sets.push(written(
            "88 pairs of recorded tau-bench episodes",
            "episodes",
            &[&results.display().to_string()],
        )?);
    }
    Ok(sets)
}

fn jobs_of(set: &Set, options: &str, case: &str) -> Vec<Job> {
    let one = |(side, _): &(&'static str, &str)| {
        let arguments = format!("{side} {} {options}", set.file);
        Job::peer_in("judges", side, "judges.py", &arguments, json!({"set": set.name, "case": case}))
    };
    SIDES.iter().map(one).collect()
}

fn tables(sets: &[Set], lines: &[Value]) -> Result<String> {
    let mut text = String::new();
    for set in sets {
        text += &speed(set, lines)?;
        text.push('\n');
    }
    if let Some(first) = sets.first() {
        text += &troubles(first, lines)?;
    }
    Ok(text)
}

fn speed(set: &Set, lines: &[Value]) -> Result<String> {
    let mut text = format!(
        "| {} | right | answers paid for | tokens read, thousands | judging, s: median (min–max) | whole process, s |\n\
         |---|--:|--:|--:|--:|--:|\n",
        set.name
    );
    for (side, shown) in SIDES {
        let wanted = json!({"side": side, "set": set.name, "case": "plain"});
        let of = |key: &str| per_round(lines, &wanted, key);
        let served = |key: &str| -> Result<f64> { Ok(median(&per_round(&server(lines), &wanted, key)?)) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {shown} | {:.1} % | {:.0} | {:.0} | {} | {} |",
            median(&of("accuracy")?) * 100.0,
            served("answers")?,
            served("prompt_tokens")? / 1000.0,
            Spread::of(&of("judging_s")?),
            short(median(&of("seconds")?)),
        );
    }
    Ok(text)
}

fn troubles(set: &Set, lines: &[Value]) -> Result<String> {
    let mut text = String::from(
        "| the first set again | 429, 500, reset: asked again | refused or malformed: became a number | pairs with a result | \
         answers paid for twice after a kill |\n|---|--:|--:|--:|--:|\n",
    );
    for (side, shown) in SIDES {
        let (faults, killed) = (
            json!({"side": side, "set": set.name, "case": "faults"}),
            json!({"side": side, "set": set.name, "case": "killed"}),
        );
        let of = |key: &str| -> Result<f64> { Ok(median(&per_round(lines, &faults, key)?)) };
        let served = |key: &str| -> Result<f64> { Ok(median(&per_round(&server(lines), &faults, key)?)) };
        let again = Spread::of(&per_round(&server(lines), &killed, "paid_again")?);
        let broken = matching(lines, &killed).filter(|line| line["resume_failed"].is_string()).count();
        let broken = if broken == 0 {
            String::new()
        } else {
            format!("; {broken} time(s) what was kept could not be read")
        };
        let lost = served("429")? + served("500")? + served("reset")?;
        let back = served("requests")? - served("answers")?;
        let _ = writeln!(
            text,
            "| {shown} | {back:.0} of {lost:.0} | {:.0} of {:.0} | {:.0} | {again}{broken} |",
            of("failed_with_a_number")?,
            served("refused")? + served("malformed")?,
            of("pairs_judged")?,
        );
    }
    Ok(text)
}

/// The same lines with what the server counted in place of what the side said.
fn server(lines: &[Value]) -> Vec<Value> {
    let counted = |line: &Value| {
        let mut line = line.clone();
        if let (Some(all), Some(counts)) =
            (line.as_object_mut().cloned(), line["server"].as_object().cloned())
        {
            line = Value::Object(all.into_iter().chain(counts).collect());
        }
        line
    };
    lines.iter().map(counted).collect()
}
