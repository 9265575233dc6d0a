//! The rows: how each combinator is made at random and read plainly.

use super::{Plain, Reading, Shape, all, condition, paid, read};
use serde_json::{Value, json};

/// One row per combinator.
pub const SHAPES: &[Shape] = &[
    Shape {
        kind: "sum",
        whole: false,
        make: |parts, _| json!({ "type": "sum", "of": parts }),
        read: |c, r| Ok(all(&c["of"], r)?.into_iter().reduce(|a, b| a + b)),
        paid: |c, r| add(c["of"].as_array().unwrap().iter().filter_map(|part| paid(part, r))),
    },
    Shape {
        kind: "product",
        whole: false,
        make: |parts, _| json!({ "type": "product", "of": parts }),
        read: |c, r| Ok(all(&c["of"], r)?.into_iter().reduce(|a, b| a * b)),
        paid: |_, _| None,
    },
    Shape {
        kind: "gate",
        whole: false,
        make: |parts, k| {
            let mut gate = json!({
                "type": "gate", "when": when(&parts[0], k[0]), "at_least": 2.0 * k[1] - 1.0, "then": parts[1]
            });
            if k[2] < 0.5 {
                gate["otherwise"] = parts[2].clone();
            }
            gate
        },
        read: |c, r| match condition(&c["when"], r)? {
            None => Ok(None),
            Some(x) if x >= number(c, "at_least") => read(&c["then"], r),
            Some(_) => c.get("otherwise").map_or(Ok(Some(0.0)), |otherwise| read(otherwise, r)),
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "abstain",
        whole: false,
        make: |parts, k| json!({ "type": "abstain", "when": when(&parts[0], k[0]), "at_least": 2.0 * k[1] - 1.0, "then": parts[1] }),
        read: |c, r| match condition(&c["when"], r)? {
            Some(x) if x >= number(c, "at_least") => Err(()),
            _ => read(&c["then"], r),
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "veto",
        whole: false,
        make: |parts, k| {
            let bound = ["below", "at_most", "above", "at_least"][(k[1] * 3.99) as usize];
            let mut veto =
                json!({ "type": "veto", "when": when(&parts[0], k[0]), "value": -3.0, "then": parts[1] });
            veto[bound] = (2.0 * k[2] - 1.0).into();
            veto
        },
        read: |c, r| {
            let x = condition(&c["when"], r)?;
            let falls = |x: f64| {
                c.get("below").is_some_and(|b| x < b.as_f64().unwrap())
                    || c.get("at_most").is_some_and(|b| x <= b.as_f64().unwrap())
                    || c.get("above").is_some_and(|b| x > b.as_f64().unwrap())
                    || c.get("at_least").is_some_and(|b| x >= b.as_f64().unwrap())
            };
            if x.is_some_and(falls) { Ok(Some(-3.0)) } else { read(&c["then"], r) }
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "clip",
        whole: false,
        make: |parts, k| {
            let low = 2.0 * k[0] - 1.0;
            json!({ "type": "clip", "of": parts[0], "low": low, "high": low + k[1] })
        },
        read: |c, r| Ok(read(&c["of"], r)?.map(|x| x.max(number(c, "low")).min(number(c, "high")))),
        paid: |_, _| None,
    },
    Shape {
        kind: "schedule",
        whole: false,
        make: |parts, _| json!({ "type": "schedule", "of": parts[0], "from": 2.0, "to": 0.0, "start_step": 0, "end_step": 4 }),
        read: |c, r| Ok(read(&c["of"], r)?.map(|x| x * slope(r))),
        paid: |c, r| Some(paid(&c["of"], r)?.into_iter().map(|x| x * slope(r)).collect()),
    },
    Shape {
        kind: "per-turn",
        whole: true,
        make: |parts, k| {
            let reduce = ["mean", "sum", "min", "max", "last"][(k[0] * 4.99) as usize];
            json!({ "type": "per-turn", "reduce": reduce, "of": parts[0] })
        },
        read: |c, r| {
            let turns: Vec<f64> = by_turn(&c["of"], r)?.into_iter().flatten().collect();
            let (sum, n) = (turns.iter().sum::<f64>(), turns.len() as f64);
            Ok(turns.last().map(|last| match c["reduce"].as_str().unwrap() {
                "mean" => sum / n,
                "sum" => sum,
                "min" => turns.iter().copied().fold(f64::MAX, f64::min),
                "max" => turns.iter().copied().fold(f64::MIN, f64::max),
                _ => *last,
            }))
        },
        paid: |c, r| {
            let turns = by_turn(&c["of"], r).unwrap_or_default();
            let n = turns.iter().flatten().count() as f64;
            let last = turns.iter().rposition(Option::is_some)?;
            let pay = |(i, x): (usize, &Option<f64>)| match (c["reduce"].as_str().unwrap(), x.unwrap_or(0.0))
            {
                ("mean", x) => Some(x / n),
                ("sum", x) => Some(x),
                ("last", x) => Some(if i == last { x } else { 0.0 }),
                _ => None,
            };
            turns.iter().enumerate().map(pay).collect()
        },
    },
    Shape {
        kind: "normalised-sum",
        whole: true,
        make: |parts, k| {
            let scope = if k[0] < 0.5 { "group" } else { "batch" };
            json!({ "type": "normalised-sum", "of": parts[..2], "weights": [1.0, k[1]], "scope": scope })
        },
        read: |c, r| {
            let whom = if c["scope"] == "group" { r.group() } else { (0..r.scores.len()).collect() };
            let mut total = None;
            for (part, weight) in c["of"].as_array().unwrap().iter().zip(c["weights"].as_array().unwrap()) {
                let Some(own) = read(part, r)? else { continue };
                let among: Vec<f64> =
                    whom.iter().filter_map(|&i| read(part, &r.of(i)).ok().flatten()).collect();
                let n = among.len() as f64;
                let mean = among.iter().sum::<f64>() / n;
                let std = (among.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
                let entered = if std > 1e-8 { (own - mean) / (std + 1e-6) } else { 0.0 };
                *total.get_or_insert(0.0) += weight.as_f64().unwrap() * entered;
            }
            Ok(total)
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "dynamic-weights",
        whole: true,
        make: |parts, _| json!({ "type": "dynamic-weights", "of": parts[..2] }),
        // Nothing was kept from earlier steps: the two weights are equal.
        read: |c, r| Ok(all(&c["of"], r)?.into_iter().reduce(|a, b| a + b).map(|sum| sum / 2.0)),
        paid: |_, _| None,
    },
    Shape {
        kind: "checklist",
        whole: true,
        make: make_checklist,
        read: |c, r| Ok(checklist_shares(c, r)?.map(|shares| shares.iter().sum())),
        paid: |c, r| {
            let shares = checklist_shares(c, r).ok().flatten()?;
            (c["payout"] == "turn").then(|| {
                let at = |turn| {
                    c["items"].as_array().unwrap().iter().zip(&shares).filter(move |(i, _)| i["turn"] == turn)
                };
                (0..r.turns()).map(|turn| at(turn).map(|(_, share)| share).sum()).collect()
            })
        },
    },
    Shape {
        kind: "rubric",
        whole: false,
        make: |parts, k| {
            json!({ "type": "rubric", "scale": if k[0] < 0.5 { "unit" } else { "signed" }, "axes": [
                { "name": "a", "of": when(&parts[0], k[0]), "weight": 0.5, "low": -1.0, "veto_below": -k[1], "veto_value": -2.0 },
                { "name": "b", "of": parts[1], "veto_below": -0.9, "veto_value": -1.5 },
                { "name": "c", "of": parts[2], "weight": k[2], "high": 2.0 },
            ], "gate": { "axis": "b", "at_least": k[1], "guards": ["c"] } })
        },
        read: |c, r| {
            let grades: Result<Vec<_>, ()> = (0..3).map(|i| condition(&c["axes"][i]["of"], r)).collect();
            let grades = grades?;
            for (i, grade) in grades.iter().enumerate() {
                let below = c["axes"][i]["veto_below"].as_f64().unwrap_or(f64::NEG_INFINITY);
                if grade.is_some_and(|grade| grade < below) {
                    return Ok(Some(number(&c["axes"][i], "veto_value")));
                }
            }
            let shut = grades[1].is_some_and(|grade| grade < number(&c["gate"], "at_least"));
            let axes = [(0.5, -1.0, 1.0), (1.0, 0.0, 1.0), (number(&c["axes"][2], "weight"), 0.0, 2.0)];
            let (mut sum, mut weights) = (0.0, 0.0);
            for (i, (weight, low, high)) in axes.into_iter().enumerate() {
                let Some(grade) = grades[i] else { continue };
                let share = (grade.max(low).min(high) - low) / (high - low);
                sum += if i == 2 && shut { 0.0 } else { weight * share };
                weights += weight;
            }
            let scaled = |mean: f64| if c["scale"] == "unit" { mean } else { 2.0 * mean - 1.0 };
            Ok((weights > 0.0).then(|| scaled(sum / weights)))
        },
        paid: |_, _| None,
    },
];

/// Three items: the first tied to a turn and perhaps required, the third needs the second.
fn make_checklist(parts: &[Value], k: &[f64]) -> Value {
    json!({
        "type": "checklist",
        "payout": if k[0] < 0.5 { "turn" } else { "trajectory" },
        "on_required_failure": if k[1] < 0.5 { "stop" } else { "zero" },
        "on_not_applicable": if k[2] < 0.5 { "fail" } else { "leave-out" },
        "items": [
            { "name": "a", "check": by_name_or_sum(k[0]), "at_least": 0.5, "turn": (k[1] * 4.0) as usize, "required": k[2] < 0.3 },
            { "name": "b", "check": when(&parts[1], k[1]), "at_least": k[0] - 0.5, "weight": 2.0 },
            { "name": "c", "check": parts[2], "at_least": 0.0, "weight": 0.5, "needs": ["b"] },
        ],
    })
}

/// Something that can be judged at a turn.
fn by_name_or_sum(knob: f64) -> Value {
    if knob < 0.5 { json!("@0") } else { json!({ "type": "sum", "of": [{ "type": "format" }] }) }
}

fn checklist_shares(c: &Value, r: &Reading<'_>) -> Result<Option<[f64; 3]>, ()> {
    let turn = c["items"][0]["turn"].as_u64().unwrap() as usize;
    let reached = turn < r.turns();
    let a = if reached { condition(&c["items"][0]["check"], &r.at_turn(turn))? } else { Some(f64::MIN) };
    let (b, d) = (condition(&c["items"][1]["check"], r)?, condition(&c["items"][2]["check"], r)?);
    // Absent: left out.
    let silent = (c["on_not_applicable"] == "fail").then_some(false);
    let holds = |value: Option<f64>, i: usize| {
        value.map_or(silent, |v| Some(v >= number(&c["items"][i], "at_least")))
    };
    let first = holds(a, 0);
    let required_failed = c["items"][0]["required"] == true && first == Some(false);
    let second = if required_failed { Some(false) } else { holds(b, 1) };
    let third = if required_failed || second == Some(false) { Some(false) } else { holds(d, 2) };
    let items = [(first, 1.0), (second, 2.0), (third, 0.5)];
    let total: f64 = items.iter().filter(|(v, _)| v.is_some()).map(|(_, w)| w).sum();
    let nothing = required_failed && c["on_required_failure"] == "zero";
    let shares = items.map(|(v, w)| if v == Some(true) && !nothing { w / total } else { 0.0 });
    Ok((total > 0.0).then_some(shares))
}

pub fn number(config: &Value, key: &str) -> f64 {
    config[key].as_f64().unwrap()
}

/// A condition: the expression, or some term by its name.
pub fn when(part: &Value, knob: f64) -> Value {
    if knob < 0.3 { json!(format!("@{}", (knob * 20.0) as usize)) } else { part.clone() }
}

fn slope(reading: &Reading<'_>) -> f64 {
    (2.0 - reading.step as f64 / 2.0).max(0.0)
}

pub fn add(parts: impl Iterator<Item = Vec<f64>>) -> Option<Vec<f64>> {
    parts.reduce(|a, b| a.iter().zip(b).map(|(a, b)| a + b).collect())
}

fn by_turn(config: &Value, reading: &Reading<'_>) -> Result<Vec<Option<f64>>, ()> {
    let turns = 0..reading.turns();
    turns.map(|turn| -> Plain { read(config, &reading.at_turn(turn)) }).collect()
}
