//! The rule graders, string match and JSON match, beside OpenJudge's, one thread each.
//!
//! Both sides read the same files; the run fails when a side's verdict is not the expected one.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject, inputs};
use anyhow::{Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "graders",
    by_default: true,
    peers: &["py-openjudge"],
    examples: &[("merit-verify", "grading")],
    measure,
};

/// Pairs of a set; small enough to stay in the processor's cache on both sides.
const PAIRS: usize = 2_000;
const BAR: Bar = Bar::Ratio(10.0);

/// A kind of pair: its name in the lines and the table, the grader, how to make one, and the rate that OpenJudge reached in an
/// earlier measurement of this kind, where there was one.
struct Set {
    name: &'static str,
    grader: &'static str,
    make: fn(usize) -> Value,
    earlier: Option<f64>,
}

const SETS: [Set; 4] = [
    Set { name: "short answer, equal", grader: "exact", make: short_answer, earlier: Some(132_000.0) },
    Set { name: "sentence of 240 characters, contains", grader: "contains", make: sentence, earlier: None },
    Set { name: "JSON tool call of 80 bytes", grader: "json", make: tool_call, earlier: Some(81_000.0) },
    Set { name: "JSON record of 1 kB", grader: "json", make: order_record, earlier: None },
];

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let mut all = Vec::new();
    for set in &SETS {
        all.extend(jobs(set, asked.quick)?);
    }
    interleave(&all, asked.rounds, record)?;
    for line in &record.lines {
        let right = line["wrong"].as_array().is_some_and(Vec::is_empty);
        ensure!(right, "a side came to other verdicts than expected: {line}");
    }
    let mut rows = Vec::new();
    for set in &SETS {
        rows.extend(rows_of(set, &record.lines)?);
    }
    Ok(beside_peers(&rows))
}

fn jobs(set: &Set, quick: bool) -> Result<Vec<Job>> {
    let pairs: Vec<Value> = (0..if quick { 40 } else { PAIRS }).map(set.make).collect();
    let file = inputs::write(&format!("graders-{}", set.name.replace([' ', ','], "-")), &pairs)?;
    let (ours, theirs) = if quick { (3, 3) } else { (301, 31) };
    let (grader, tags) = (set.grader, json!({"set": set.name}));
    let ours = format!("{file} {grader} --passes {ours}");
    let theirs = format!("{file} {grader} --passes {theirs}");
    let mut jobs = vec![Job::merit("grading", &ours, tags.clone())];
    if grader != "json" {
        jobs.push(Job::merit("grading", &format!("{ours} --explain"), tags.clone()));
    }
    jobs.push(Job::peer_in("graders", "openjudge", "openjudge_graders.py", &theirs, tags));
    Ok(jobs)
}

fn rows_of(set: &Set, lines: &[Value]) -> Result<Vec<Row>> {
    let ours = |explained: bool| {
        let wanted = json!({"side": "merit", "set": set.name, "explained": explained});
        per_round(lines, &wanted, "pairs_per_s")
    };
    let row = |words: &str, merit: Vec<f64>, peer: &str, theirs: Vec<f64>| Row {
        regime: format!("{}{words}, pairs/s", set.name),
        merit,
        peer: peer.to_owned(),
        theirs,
        better: Better::Higher,
        bar: BAR,
    };
    let theirs = per_round(lines, &json!({"side": "openjudge", "set": set.name}), "pairs_per_s")?;
    let mut rows = vec![row("", ours(false)?, "OpenJudge", theirs.clone())];
    if set.grader != "json" {
        rows.push(row(", verdict in words", ours(true)?, "OpenJudge", theirs));
    }
    if let Some(rate) = set.earlier {
        rows.push(row("", ours(false)?, "OpenJudge, earlier", vec![rate]));
    }
    Ok(rows)
}

const TOWNS: [&str; 8] =
    ["Paris", "Buenos Aires", "Ulan Bator", "Reykjavik", "Nairobi", "Wellington", "Port Moresby", "Quito"];

/// Every third answer is wrong, every other one of the right ones is in another case.
fn short_answer(at: usize) -> Value {
    let town = TOWNS[at % 8];
    let response = match at % 3 {
        0 => town.to_owned(),
        1 => town.to_uppercase(),
        _ => TOWNS[(at + 1) % 8].to_owned(),
    };
    pair(response, town.to_owned(), at % 3 != 2)
}

/// The answer stands near the end of the sentence, or nowhere.
fn sentence(at: usize) -> Value {
    let (reference, said) = (TOWNS[at % 8], TOWNS[(at + usize::from(at % 3 == 2)) % 8]);
    let said = if at % 3 == 1 { said.to_lowercase() } else { said.to_owned() };
    let response = format!(
        "I looked the country up in the atlas, compared the population figures of its larger cities with the table that was \
         given, and checked the result against record {at} of the gazetteer, so the capital that was asked for is {said}, as \
         far as I can tell."
    );
    pair(response, reference.to_owned(), at % 3 != 2)
}

/// The same call with its keys in another order, or with another argument.
fn tool_call(at: usize) -> Value {
    let (town, days) = (TOWNS[at % 8], at % 14 + 1);
    let reference = format!(
        r#"{{"tool": "forecast", "arguments": {{"town": "{town}", "days": {days}, "metric": true}}}}"#
    );
    let given = days + usize::from(at % 3 == 2);
    let response = match at % 3 {
        0 => reference.clone(),
        _ => format!(r#"{{"arguments":{{"days":{given},"metric":true,"town":"{town}"}},"tool":"forecast"}}"#),
    };
    pair(response, reference, at % 3 != 2)
}

/// Lines of goods with nested objects; the wrong ones differ in the last line.
fn order_record(at: usize) -> Value {
    let record = |price_of_last: usize| {
        let line = |n: usize| {
            let price = if n == 9 { price_of_last } else { 100 + n };
            json!({"sku": format!("A-{at}-{n}"), "count": n + 1, "price": {"amount": price, "currency": "EUR"}, "tags": ["new", "large"]})
        };
        json!({"order": at, "customer": {"name": "Ada", "town": TOWNS[at % 8]}, "lines": (0..10).map(line).collect::<Vec<_>>(), "paid": true})
    };
    let (reference, response) = (record(109), record(109 + usize::from(at % 3 == 2)));
    pair(response.to_string(), reference.to_string(), at % 3 != 2)
}

fn pair(response: String, reference: String, expected: bool) -> Value {
    json!({"response": response, "reference": reference, "expected": expected})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_the_pairs_is_wrong_and_only_those_differ_in_meaning() {
        for set in &SETS {
            for at in 0..48 {
                let pair = (set.make)(at);
                let text = |key: &str| pair[key].as_str().unwrap_or_default().to_lowercase();
                let (response, reference) = (text("response"), text("reference"));
                let same = match set.grader {
                    "exact" => response == reference,
                    "contains" => response.contains(&reference),
                    _ => {
                        let read =
                            |text: &str| serde_json::from_str::<Value>(text).expect("made pairs are JSON");
                        read(&response) == read(&reference)
                    }
                };
                assert_eq!(json!(same), pair["expected"], "{}: {pair}", set.name);
                assert_eq!(same, at % 3 != 2);
            }
        }
    }

    #[test]
    fn the_sizes_are_as_the_table_says() {
        let size = |set: &Set| (set.make)(0)["response"].as_str().map_or(0, str::len);
        let sizes: Vec<usize> = SETS.iter().map(size).collect();
        assert!((235..255).contains(&sizes[1]), "{sizes:?}");
        assert!((75..95).contains(&sizes[2]), "{sizes:?}");
        assert!((950..1_050).contains(&sizes[3]), "{sizes:?}");
    }
}
