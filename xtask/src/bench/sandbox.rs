//! What a fenced Python call costs beside a bare forked worker and a fresh interpreter; how late a program that ignores its deadline
//! is stopped; and a storm of calls at 64-way that must leave nothing behind.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::spread::{Spread, short};
use super::table::{Bar, Better, Row, alone, beside_peers};
use super::{Asked, Subject};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "sandbox",
    by_default: true,
    peers: &[],
    examples: &[("merit-sandbox", "latency"), ("merit-sandbox", "deadline"), ("merit-sandbox", "storm")],
    measure,
};

/// A fenced call may cost so many times a bare fork, and a fresh interpreter must cost so many times a fenced call.
const BESIDE_BARE: f64 = 0.83;
const BESIDE_FRESH: f64 = 3.0;
/// Milliseconds after its deadline by which a program must be gone.
const STOPPED_MS: f64 = 50.0;

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let (calls, programs) = if asked.quick { (5, 6) } else { (40, 60) };
    let jobs = [
        Job::merit("latency", &format!("1 {calls}"), json!({"what": "latency"})),
        Job::merit("deadline", &programs.to_string(), json!({"what": "deadline"})),
    ];
    interleave(&jobs, asked.rounds, record)?;
    let storm = if asked.quick { "200 64 1" } else { "10000 64 1" };
    interleave(&[Job::merit("storm", storm, json!({"what": "storm"}))], 1, record)?;
    let rows = latencies(&record.lines)?;
    let mut facts = stops(&record.lines)?;
    facts.extend(weather(&record.lines)?);
    Ok(format!("{}\n{}", beside_peers(&rows), alone(&facts)))
}

fn latencies(lines: &[Value]) -> Result<Vec<Row>> {
    let one = |way: &str, pause: u32| per_round(lines, &json!({"way": way, "pause_ms": pause}), "median_ms");
    let many = |way: &str, key: &str| per_round(lines, &json!({"way": way, "callers": 64}), key);
    let mut rows = Vec::new();
    for (pause, when) in [(20, "20 ms between calls"), (0, "one after the other")] {
        for (peer, bar) in [("bare fork", Bar::Ratio(BESIDE_BARE)), ("python3 -c", Bar::Ratio(BESIDE_FRESH))]
        {
            let theirs = one(peer, pause)?;
            let row = |way: &str, words: &str, bar| -> Result<Row> {
                let regime = format!("a snippet, {when}{words}, median ms");
                let (merit, theirs) = (one(way, pause)?, theirs.clone());
                Ok(Row { regime, merit, peer: peer.to_owned(), theirs, better: Better::Lower, bar })
            };
            rows.push(row("fenced", "", bar)?);
            rows.push(row("fenced, no spares", ", nothing forked ahead", Bar::None)?);
        }
    }
    for (peer, bar) in [("bare fork", Bar::Ratio(BESIDE_BARE)), ("python3 -c", Bar::Ratio(BESIDE_FRESH))] {
        rows.push(Row {
            regime: "64 callers, processor ms per call".to_owned(),
            merit: many("fenced", "cpu_ms_per_call")?,
            peer: peer.to_owned(),
            theirs: many(peer, "cpu_ms_per_call")?,
            better: Better::Lower,
            bar,
        });
        rows.push(Row {
            regime: "64 callers, calls/s".to_owned(),
            merit: many("fenced", "calls_per_s")?,
            peer: peer.to_owned(),
            theirs: many(peer, "calls_per_s")?,
            better: Better::Higher,
            bar: Bar::None,
        });
    }
    Ok(rows)
}

type Fact = (String, String, String, Option<bool>);

fn stops(lines: &[Value]) -> Result<Vec<Fact>> {
    let mut facts = Vec::new();
    for (key, when) in [("alone", "alone"), ("beside_16_spinning", "beside 16 programs that spin")] {
        for quantile in ["p50", "max"] {
            let mut late = Vec::new();
            for line in matching(lines, &json!({"what": "deadline"})) {
                let wrong = &line[key]["wrong_verdicts"];
                ensure!(wrong.as_array().is_some_and(Vec::is_empty), "wrong verdicts: {wrong}");
                let ms = line[key]["gone_ms"][quantile].as_f64();
                late.push(ms.with_context(|| format!("no `{key}` in {line}"))?);
            }
            let late = Spread::of(&late);
            let (bar, met) = Bar::AtMost(STOPPED_MS).verdict(late.median, 1.0);
            let what =
                format!("a program that ignores its deadline is gone so long after it, {when}, {quantile}");
            facts.push((what, format!("{late} ms"), format!("{bar} ms"), met));
        }
    }
    Ok(facts)
}

fn weather(lines: &[Value]) -> Result<Vec<Fact>> {
    let storm = json!({"what": "storm"});
    let line = matching(lines, &storm).next().context("the storm printed nothing")?;
    let number = |key: &str| line[key].as_f64().with_context(|| format!("no number `{key}` in {line}"));
    let none = |what: &str, key: &str| -> Result<Fact> {
        let count = number(key)?;
        Ok((what.to_owned(), short(count), "0".to_owned(), Some(count == 0.0)))
    };
    let calls = short(number("calls")?);
    let of =
        |who: &str, tenth: usize| line[who][tenth].as_f64().with_context(|| format!("no `{who}` in {line}"));
    let grown = |what: &str, who: &str| -> Result<Fact> {
        let (early, late) = (of(who, 1)? / 1024.0, of(who, 9)? / 1024.0);
        let shown = format!("{} MiB, then {} MiB", short(early), short(late));
        Ok((format!("{what}, second tenth and last"), shown, "—".to_owned(), None))
    };
    Ok(vec![
        none(&format!("{calls} hostile and harmless calls at 64-way: wrong verdicts"), "wrong")?,
        none("processes, files, descriptors and mounts left behind by them", "left")?,
        grown("memory of the caller", "own_kb_by_tenth")?,
        grown("memory of the servers", "servers_kb_by_tenth")?,
        (
            "calls per second in the storm".to_owned(),
            short(number("calls_per_second")?),
            "—".to_owned(),
            None,
        ),
    ])
}
