//! Search over 100,000 documents: milliseconds a query on one thread, beside bm25s on the same corpus and queries.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::spread::Spread;
use super::table::{Bar, Better, Row, alone, beside_peers};
use super::{Asked, Subject};
use anyhow::Result;
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "search",
    by_default: true,
    peers: &["bm25s"],
    examples: &[("merit-search", "search")],
    measure,
};

const FOLDER: &str = "target/bench-inputs/search";
/// Words of a query.
const LENGTHS: [u32; 3] = [1, 3, 8];
const BAR_MS: f64 = 1.0;

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let size = if asked.quick { "500 20" } else { "100000 500" };
    let jobs = [
        Job::merit("search", &format!("{size} {FOLDER}"), json!({})),
        Job::peer_in("search", "bm25s", "bm25_search.py", FOLDER, json!({"backend": "numpy"})),
        Job::peer_in(
            "search",
            "bm25s",
            "bm25_search.py",
            &format!("{FOLDER} --numba"),
            json!({"backend": "numba"}),
        ),
    ];
    interleave(&jobs, asked.rounds, record)?;
    Ok(format!("{}\n{}", beside_peers(&beside(&record.lines)?), alone(&ours(&record.lines)?)))
}

fn beside(lines: &[Value]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for words in LENGTHS {
        for backend in ["numpy", "numba"] {
            let ours = json!({"side": "merit", "what": "search", "config": "plain", "words": words});
            let theirs = json!({"side": "bm25s", "what": "search", "backend": backend, "words": words});
            rows.push(Row {
                regime: format!("plain words, {words} in the query, p50 ms"),
                merit: per_round(lines, &ours, "p50_ms")?,
                peer: format!("bm25s, {backend}"),
                theirs: per_round(lines, &theirs, "p50_ms")?,
                better: Better::Lower,
                bar: Bar::AtMost(BAR_MS),
            });
        }
    }
    Ok(rows)
}

/// What, value, bar, whether it is met.
type Fact = (String, String, String, Option<bool>);

fn ours(lines: &[Value]) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    for (mode, promised) in [("words", Bar::AtMost(BAR_MS)), ("dense", Bar::None), ("hybrid", Bar::None)] {
        for words in LENGTHS {
            for quantile in ["p50_ms", "p99_ms"] {
                let wanted = json!({"what": "search", "config": "english", "mode": mode, "words": words});
                let times = Spread::of(&per_round(lines, &wanted, quantile)?);
                let bar = if quantile == "p50_ms" { promised } else { Bar::None };
                let (bar, met) = bar.verdict(times.median, 1.0);
                let bar = if met.is_some() { format!("{bar} ms") } else { bar };
                let name = quantile.trim_end_matches("_ms");
                let what = format!("default settings, {mode}, {words} words in the query, {name}");
                facts.push((what, format!("{times} ms"), bar, met));
            }
        }
    }
    for config in ["plain", "english"] {
        let wanted = json!({"what": "build", "config": config, "side": "merit"});
        if matching(lines, &wanted).next().is_some() {
            let seconds = Spread::of(&per_round(lines, &wanted, "seconds")?);
            let what = match config {
                "plain" => "building the index, plain words",
                _ => "building the index, default settings and 256-dimensional vectors",
            };
            facts.push((what.to_owned(), format!("{seconds} s"), "—".to_owned(), None));
        }
    }
    Ok(facts)
}
