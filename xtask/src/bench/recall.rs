//! A memory of a million items: milliseconds a query on one thread, for every way of finding, after it was closed and opened again.

use super::job::{Job, interleave};
use super::lines::per_round;
use super::record::Record;
use super::spread::Spread;
use super::table::{Bar, alone};
use super::{Asked, Subject};
use anyhow::Result;
use serde_json::json;

pub(super) const SUBJECT: Subject = Subject {
    name: "memory",
    by_default: false,
    peers: &[],
    examples: &[("merit-memory", "memory")],
    measure,
};

const BAR_MS: f64 = 5.0;
const RECALL: f64 = 0.95;

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let size = if asked.quick { "2000 20" } else { "1000000 300" };
    interleave(&[Job::merit("memory", size, json!({}))], asked.rounds, record)?;
    let mut facts = Vec::new();
    for by in ["exact", "words", "dense", "hybrid", "graph"] {
        let wanted = json!({"what": "retrieve", "by": by});
        for quantile in ["p50_ms", "p99_ms"] {
            let times = Spread::of(&per_round(&record.lines, &wanted, quantile)?);
            let bar = if quantile == "p50_ms" { Bar::AtMost(BAR_MS) } else { Bar::None };
            let (bar, met) = bar.verdict(times.median, 1.0);
            let bar = if met.is_some() { format!("{bar} ms") } else { bar };
            let name = quantile.trim_end_matches("_ms");
            facts.push((format!("{by}, {name}"), format!("{times} ms"), bar, met));
        }
        let busy = Spread::of(&per_round(&record.lines, &wanted, "processor_mean_ms")?);
        facts.push((format!("{by}, processor time, mean"), format!("{busy} ms"), "—".to_owned(), None));
        for (key, name) in
            [("first_s", "which makes what it searches"), ("again_s", "which reads what was kept")]
        {
            let first = Spread::of(&per_round(&record.lines, &wanted, key)?);
            let what = format!("{by}, the first query, {name}");
            facts.push((what, format!("{first} s"), "—".to_owned(), None));
        }
    }
    for words in [4, 12] {
        let wanted = json!({"what": "recall", "words": words});
        let recall = Spread::of(&per_round(&record.lines, &wanted, "recall")?);
        let (bar, met) = Bar::AtLeast(RECALL).verdict(recall.median, 1.0);
        let what = format!("dense, queries of {words} words, share of the ten nearest of all that is found");
        facts.push((what, recall.to_string(), bar, met));
    }
    Ok(alone(&facts))
}
