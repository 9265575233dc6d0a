//! The advantage kernels beside verl's functions, on the same batches, one thread.
//!
//! Both sides draw their inputs from one generator; the run fails when their sums or first advantages differ.

use super::job::{Job, interleave};
use super::lines::{matching, per_round};
use super::record::Record;
use super::table::{Bar, Better, Row, beside_peers};
use super::{Asked, Subject};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(super) const SUBJECT: Subject = Subject {
    name: "advantages",
    by_default: true,
    peers: &["verl", "torch"],
    examples: &[("merit-credit", "advantages")],
    measure,
};

/// Rows, columns, mask.
type Regime = (u32, u32, &'static str);

const REGIMES: [Regime; 3] = [(1024, 1024, "prefix"), (1024, 1024, "turns"), (8192, 256, "prefix")];

/// Our rule, verl's function, the least ratio that was promised.
const PAIRS: [(&str, &str, Bar); 6] = [
    ("grpo", "grpo", Bar::Ratio(5.0)),
    ("grpo", "grpo-vectorized", Bar::Ratio(5.0)),
    ("rloo", "rloo", Bar::None),
    ("rloo", "rloo-vectorized", Bar::None),
    ("reinforce++", "reinforce++", Bar::None),
    ("gae", "gae", Bar::Ratio(20.0)),
];

/// Calls of which a round takes the median, after one of warm-up.
const REPEATS: usize = 7;
/// The peer computes in `f32`, and adds up a million advantages.
const SAME_SUM: f64 = 1e-5;
const SAME_ADVANTAGE: f64 = 1e-4;

fn measure(asked: &Asked, record: &mut Record) -> Result<String> {
    let quick: [Regime; 2] = [(64, 64, "prefix"), (64, 256, "turns")];
    let regimes: &[Regime] = if asked.quick { &quick } else { &REGIMES };
    let jobs: Vec<Job> = regimes.iter().flat_map(|regime| jobs(*regime)).collect();
    interleave(&jobs, asked.rounds, record)?;
    let cold = json!({"side": "merit", "repeat": 0});
    let warm: Vec<Value> = record
        .lines
        .iter()
        .filter(|line| matching(std::slice::from_ref(line), &cold).next().is_none())
        .cloned()
        .collect();
    let (mut times, mut errors) = (Vec::new(), Vec::new());
    for regime in regimes {
        for pair in PAIRS {
            let pair = Pair::new(*regime, pair);
            pair.check_same_work(&warm)?;
            times.push(pair.time(&warm)?);
            errors.push(pair.error(&warm)?);
        }
    }
    Ok(format!("{}\nLargest error against float64:\n\n{}", beside_peers(&times), beside_peers(&errors)))
}

fn jobs((rows, cols, mask): Regime) -> [Job; 2] {
    let tags = json!({"regime": regime_name((rows, cols, mask))});
    let gaps = if mask == "turns" { "turns" } else { "" };
    let ours = format!("{} {rows} {cols} {gaps}", REPEATS + 1);
    let theirs = format!("--size {rows}x{cols} --mask {mask} --repeats {REPEATS}");
    [Job::merit("advantages", &ours, tags.clone()), Job::peer("verl", "verl_advantages.py", &theirs, tags)]
}

fn regime_name((rows, cols, mask): Regime) -> String {
    format!("{rows}×{cols} {mask} mask")
}

/// A rule of ours and a function of theirs in one regime.
struct Pair {
    regime: String,
    rule: &'static str,
    function: &'static str,
    bar: Bar,
    ours: Value,
    theirs: Value,
}

impl Pair {
    fn new(regime: Regime, (rule, function, bar): (&'static str, &'static str, Bar)) -> Self {
        let regime = regime_name(regime);
        let ours = json!({"side": "merit", "regime": regime, "what": rule});
        let theirs = json!({"side": "verl", "regime": regime, "function": function});
        Self { regime, rule, function, bar, ours, theirs }
    }

    fn time(&self, lines: &[Value]) -> Result<Row> {
        Ok(Row {
            regime: format!("{}, {}, ms", self.rule, self.regime),
            merit: per_round(lines, &self.ours, "ms")?,
            peer: format!("verl `{}`", self.function),
            theirs: per_round(lines, &self.theirs, "median_ms")?,
            better: Better::Lower,
            bar: self.bar,
        })
    }

    fn error(&self, lines: &[Value]) -> Result<Row> {
        Ok(Row {
            regime: format!("{}, {}", self.rule, self.regime),
            merit: per_round(lines, &self.ours, "error")?,
            peer: format!("verl `{}`", self.function),
            theirs: per_round(lines, &self.theirs, "error")?,
            better: Better::Lower,
            bar: Bar::AtMost(1e-6),
        })
    }

    fn check_same_work(&self, lines: &[Value]) -> Result<()> {
        let first = |wanted| matching(lines, wanted).next().with_context(|| format!("no line has {wanted}"));
        let (ours, theirs) = (first(&self.ours)?, first(&self.theirs)?);
        let close = |a: &Value, b: &Value, within: f64| match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= within * b.abs().max(1.0),
            _ => false,
        };
        let heads = (&ours["check_first"], &theirs["check_first"]);
        let same = close(&ours["check_abs_sum"], &theirs["check_abs_sum"], SAME_SUM)
            && heads.0.as_array().zip(heads.1.as_array()).is_some_and(|(a, b)| {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b, SAME_ADVANTAGE))
            });
        ensure!(same, "the sides did not do the same work\nmerit: {ours}\nverl: {theirs}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sum: f64, first: f64) -> bool {
        let line = |side: &str, key: &str, sum: f64, first: f64| json!({"side": side, "regime": "8×8 prefix mask", key: "gae", "check_abs_sum": sum, "check_first": [first]});
        let lines = [line("merit", "what", sum, first), line("verl", "function", 500_000.0, 0.5)];
        Pair::new((8, 8, "prefix"), ("gae", "gae", Bar::None)).check_same_work(&lines).is_ok()
    }

    #[test]
    fn other_sums_or_other_advantages_are_other_work() {
        assert!(check(500_001.0, 0.50001));
        assert!(!check(500_100.0, 0.5));
        assert!(!check(500_000.0, 0.501));
    }
}
