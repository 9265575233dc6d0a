//! The maths verifier beside Math-Verify, on its own suite and on made pairs, one thread each.
//!
//! Both sides read the same files. The run fails when a side's verdict is not the expected one; merit's strict rules may differ from
//! the suite where `strict_differences.toml` says so.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject, inputs};
use crate::{fetch, root};
use anyhow::{Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "maths",
    by_default: true,
    peers: &["math-verify"],
    examples: &[("merit-maths", "verifying")],
    measure,
};

const SUITE: &str = ".cache/math-verify/triples.json";
/// Merit's rules, and how the table calls them.
const MODES: [(&str, &str); 2] = [("compat", ""), ("strict", ", strict rules")];
/// What one verification may take at most, as in the verifier's default limits.
const WALL_LIMIT_MS: f64 = 1000.0;

/// A file of pairs, and how each side goes through it.
struct Set {
    name: &'static str,
    file: String,
    ours: String,
    theirs: String,
}

/// A row of the table: set, pass, what the number is, its key in the lines, direction, bar.
type Shown = (&'static str, &'static str, &'static str, &'static str, Better, Bar);

const SHOWN: &[Shown] = &[
    ("suite", "first", "suite, first pass, pairs/s", "pairs_per_s", Better::Higher, Bar::Ratio(100.0)),
    ("suite", "first", "suite, first pass, p50 ms", "p50_ms", Better::Lower, Bar::None),
    ("suite", "first", "suite, first pass, p99 ms", "p99_ms", Better::Lower, Bar::AtMost(2.0)),
    ("suite", "first", "suite, first pass, slowest ms", "max_ms", Better::Lower, Bar::None),
    ("suite", "repeated", "suite, repeated, pairs/s", "pairs_per_s", Better::Higher, Bar::None),
    ("suite", "repeated", "suite, repeated, p50 ms", "p50_ms", Better::Lower, Bar::None),
    ("suite", "repeated", "suite, repeated, p99 ms", "p99_ms", Better::Lower, Bar::AtMost(2.0)),
    ("suite", "repeated", "suite, repeated, slowest ms", "max_ms", Better::Lower, Bar::None),
    ("boxed", "first", "boxed integers, pairs/s", "pairs_per_s", Better::Higher, Bar::AtLeast(100_000.0)),
    ("boxed", "first", "boxed integers, p99 ms", "p99_ms", Better::Lower, Bar::AtMost(2.0)),
    ("fractions", "first", "reducible fractions, pairs/s", "pairs_per_s", Better::Higher, Bar::None),
    ("fractions", "first", "reducible fractions, p99 ms", "p99_ms", Better::Lower, Bar::AtMost(2.0)),
    (
        "tower",
        "first",
        "a tower of exponents, ms to the end",
        "max_ms",
        Better::Lower,
        Bar::AtMost(WALL_LIMIT_MS),
    ),
    (
        "braces",
        "first",
        "100 kB of nested braces, ms to the end",
        "max_ms",
        Better::Lower,
        Bar::AtMost(WALL_LIMIT_MS),
    ),
];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    fetch::fetch(merit_testing::MATHS_SUITE)?;
    ensure!(
        root().join(SUITE).exists(),
        "{SUITE} is missing: it is made from Math-Verify's source distribution"
    );
    let sets = sets(asked.quick)?;
    let jobs: Vec<Job> = sets.iter().flat_map(jobs).collect();
    interleave(&jobs, asked.rounds, record)?;
    check_verdicts(&record.lines)?;
    Ok(beside_peers(&rows(&record.lines)?))
}

fn sets(quick: bool) -> Result<Vec<Set>> {
    let (boxed, of_these_theirs, fractions, warm) =
        if quick { (200, 20, 20, 5) } else { (100_000, 1_000, 500, 50) };
    let first = if quick { "--first 30" } else { "" };
    let made =
        |name: &'static str, pairs: Vec<Value>, ours: usize, theirs: usize, warm: usize| -> Result<Set> {
            let arguments = |timed: usize| format!("--warm {warm} --first {}", warm + timed);
            let file = inputs::write(&format!("maths-{name}"), &pairs)?;
            Ok(Set { name, file, ours: arguments(ours), theirs: arguments(theirs) })
        };
    let suite = Set {
        name: "suite",
        file: SUITE.to_owned(),
        ours: format!("--passes 21 {first}"),
        theirs: format!("--passes 3 {first}"),
    };
    Ok(vec![
        suite,
        made("boxed", (0..warm + boxed).map(boxed_integer).collect(), boxed, of_these_theirs, warm)?,
        made("fractions", (0..warm + fractions).map(fraction).collect(), fractions, fractions, warm)?,
        made("tower", hostile(r"\boxed{9^{9^{9^{9^{9}}}}}".to_owned()), 1, 1, 1)?,
        made("braces", hostile(nested_braces()), 1, 1, 1)?,
    ])
}

fn jobs(set: &Set) -> Vec<Job> {
    let Set { name, file, ours, theirs } = set;
    let mut jobs: Vec<Job> = MODES
        .iter()
        .map(|(mode, _)| {
            Job::merit("verifying", &format!("{file} {mode} {ours}"), json!({"set": name, "mode": mode}))
        })
        .collect();
    let arguments = format!("{file} {theirs}");
    jobs.push(Job::peer_in("maths", "math-verify", "math_verify_bench.py", &arguments, json!({"set": name})));
    jobs
}

/// As the last line of a GSM8K solution. All numbers differ, so that nothing can be kept from one pair to the next; every
/// fourth answer is wrong.
fn boxed_integer(at: usize) -> Value {
    let right = (at * 7919 + 72) % 1_000_003;
    let half = right / 2;
    let given = right + usize::from(at % 4 == 3);
    let response = format!(
        "She sold {half} clips in the morning and {} in the afternoon. Altogether she sold {half} + {} = \\boxed{{{given}}} clips.",
        right - half,
        right - half
    );
    pair("boxed", at, format!("\\boxed{{{right}}}"), response, given == right)
}

/// A fraction in lowest terms beside the same one expanded; every fourth has another numerator. No two are alike.
fn fraction(at: usize) -> Value {
    let (top, bottom, factor) = (at + 1, 2 * at + 3, 2 + at % 11);
    let wrong = usize::from(at % 4 == 3);
    let response = format!("$\\frac{{{}}}{{{}}}$", top * factor + wrong, bottom * factor);
    pair("fraction", at, format!("$\\frac{{{top}}}{{{bottom}}}$"), response, wrong == 0)
}

/// One ordinary pair to warm up on, then the hostile response.
fn hostile(response: String) -> Vec<Value> {
    let gold = || "42".to_owned();
    vec![pair("ordinary", 0, gold(), "$42$".to_owned(), true), pair("hostile", 0, gold(), response, false)]
}

fn nested_braces() -> String {
    const DEPTH: usize = 50_000;
    format!("\\boxed{{{}7{}}}", "{".repeat(DEPTH), "}".repeat(DEPTH))
}

fn pair(kind: &str, at: usize, gold: String, prediction: String, expected: bool) -> Value {
    json!({"id": format!("{kind}:{at}"), "gold": gold, "prediction": prediction, "expected": expected})
}

/// Both sides came to the expected verdicts, and so to the same.
fn check_verdicts(lines: &[Value]) -> Result<()> {
    for line in lines {
        let right = line["wrong"].as_array().is_some_and(Vec::is_empty);
        ensure!(right, "a side came to other verdicts than expected: {line}");
    }
    Ok(())
}

fn rows(lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &(set, when, regime, key, better, bar) in SHOWN {
        for (mode, words) in MODES {
            let ours = json!({"side": "merit", "set": set, "when": when, "mode": mode});
            let theirs = json!({"side": "math-verify", "set": set, "when": when});
            rows.push(Row {
                regime: format!("{regime}{words}"),
                merit: per_round(lines, &ours, key)?,
                peer: "Math-Verify".to_owned(),
                theirs: per_round(lines, &theirs, key)?,
                better,
                bar,
            });
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_made_pairs_are_alike_and_a_quarter_is_wrong() {
        for make in [boxed_integer, fraction] {
            let pairs: Vec<Value> = (0..2_000).map(make).collect();
            let golds: BTreeSet<&str> = pairs.iter().filter_map(|pair| pair["gold"].as_str()).collect();
            assert_eq!(golds.len(), 2_000);
            assert_eq!(pairs.iter().filter(|pair| pair["expected"] == json!(false)).count(), 500);
        }
        // 1/3 against 2/6; 4/9 against 4*5 + 1 over 45.
        assert_eq!(fraction(0)["prediction"], json!("$\\frac{2}{6}$"));
        assert_eq!(fraction(3)["prediction"], json!("$\\frac{21}{45}$"));
    }

    #[test]
    fn a_verdict_that_is_not_the_expected_one_ends_the_run() {
        assert!(check_verdicts(&[json!({"wrong": []})]).is_ok());
        for wrong in [json!({"wrong": ["boxed:3"]}), json!({"pairs_per_s": 1.0})] {
            let said = check_verdicts(&[json!({"wrong": []}), wrong.clone()]).unwrap_err().to_string();
            assert_eq!(said, format!("a side came to other verdicts than expected: {wrong}"));
        }
    }

    #[test]
    fn the_braces_are_a_hundred_kilobytes_deep() {
        assert!(nested_braces().len() > 100_000);
    }
}
