//! More rows: the combinators that choose, compare, rank, share and shape.

use super::shapes::{add, number, when};
use super::{Plain, Reading, Shape, all, paid, raw, read};
use serde_json::{Value, json};

/// One row per combinator.
pub const MORE: &[Shape] = &[
    Shape {
        kind: "shuffled",
        whole: true,
        make: |parts, _| json!({ "type": "shuffled", "of": parts[0] }),
        read: |c, r| {
            let Some(_) = read(&c["of"], r)? else { return Ok(None) };
            let number = |at: usize| read(&c["of"], &r.of(at)).ok().flatten();
            let mut earned: Vec<f64> = (0..r.scores.len()).filter_map(number).collect();
            earned.sort_by(f64::total_cmp);
            let seed = merit_core::Seed::root(0).child("shuffled", r.step);
            Ok(seed.child(&r.episodes[r.at].id.to_string(), 0).stream().pick(&earned).copied())
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "lexicographic",
        whole: false,
        make: |parts, k| {
            json!({ "type": "lexicographic", "tiers": [
                { "of": parts[0], "weight": k[0], "pass": k[1] - 0.5 },
                { "of": parts[1], "weight": -1.0, "pass": k[2] },
                { "of": parts[2] },
            ] })
        },
        read: |c, r| {
            Ok(tiers(c, r)?.iter().filter_map(|(w, worth)| Some(w * (*worth)?)).reduce(|a, b| a + b))
        },
        paid: |c, r| {
            let reached = tiers(c, r).unwrap_or_default().len();
            let tiers = c["tiers"].as_array().unwrap()[..reached].iter();
            add(tiers.filter_map(|t| Some(times(paid(&t["of"], r)?, t["weight"].as_f64().unwrap_or(1.0)))))
        },
    },
    Shape {
        kind: "staged",
        whole: true,
        make: |parts, k| match k[0] < 0.5 {
            true => json!({ "type": "staged", "by": "step", "carry": k[1] < 0.5, "stages": [
                { "of": parts[0], "until_step": 2 }, { "of": parts[1], "until_step": 4 }, { "of": parts[2] } ] }),
            false => json!({ "type": "staged", "by": "mastery", "carry": k[1] < 0.5, "stages": [
                { "of": parts[0], "mastered_at": 0.5, "mastered_by": when(&parts[1], k[2]) }, { "of": parts[2] } ] }),
        },
        read: |c, r| Ok(all(&json!(at_work(c, r)), r)?.into_iter().reduce(|a, b| a + b)),
        paid: |c, r| add(at_work(c, r).iter().filter_map(|part| paid(part, r))),
    },
    Shape {
        kind: "router",
        whole: false,
        make: |parts, k| {
            let routes = json!({ "a": parts[0], "b": parts[1] });
            let mut router = json!({ "type": "router", "by": "/kind", "routes": routes });
            if k[0] < 0.5 {
                router["otherwise"] = parts[2].clone();
            }
            router
        },
        read: |c, r| route(c, r).map_or(Ok(None), |part| read(part, r)),
        paid: |c, r| paid(route(c, r)?, r),
    },
    Shape {
        kind: "blend",
        whole: false,
        make: |parts, k| {
            let share = json!({ "from": k[0], "to": if k[1] < 0.5 { 0.0 } else { 1.0 }, "start_step": 1, "end_step": 3 });
            json!({ "type": "blend", "of": parts[0], "with": parts[1], "share": share })
        },
        read: |c, r| {
            let (mut sum, mut whole) = (0.0, 0.0);
            for (part, share) in shares(c, r) {
                let Some(value) = read(part, r)? else { continue };
                sum += share * value;
                whole += share;
            }
            Ok((whole > 0.0).then(|| sum / whole))
        },
        paid: |c, r| {
            let applying: Vec<(&Value, f64)> =
                shares(c, r).into_iter().filter(|(part, _)| matches!(read(part, r), Ok(Some(_)))).collect();
            let whole: f64 = applying.iter().map(|(_, share)| share).sum();
            add(applying.iter().filter_map(|(part, share)| Some(times(paid(part, r)?, share / whole))))
        },
    },
    Shape {
        kind: "gain",
        whole: true,
        make: |parts, k| {
            let baseline =
                [json!("group"), json!({ "payload": ["/base"] }), json!({ "kept": { "start": 0.25 } })];
            json!({ "type": "gain", "of": parts[0], "baseline": baseline[(k[0] * 2.99) as usize], "floor_at_zero": k[1] < 0.5 })
        },
        read: gain,
        paid: |c, r| {
            let nothing =
                c["floor_at_zero"] == true && gain(c, r).ok().flatten().is_some_and(|gain| gain <= 0.0);
            if nothing { None } else { paid(&c["of"], r) }
        },
    },
    Shape {
        kind: "pareto",
        whole: false,
        make: |parts, k| match k[0] < 0.5 {
            true => json!({ "type": "pareto", "utility": parts[0], "cost": parts[1], "alpha": k[1] }),
            false => {
                let sweep = json!({ "from": 2.0, "to": 0.0, "start_step": 0, "end_step": 4 });
                json!({ "type": "pareto", "utility": parts[0], "cost": parts[1], "sweep": sweep })
            }
        },
        read: |c, r| {
            let (utility, cost) = (read(&c["utility"], r)?, read(&c["cost"], r)?);
            Ok(utility.map(|utility| utility + alpha(c, r) * cost.unwrap_or(0.0)))
        },
        paid: |c, r| {
            let cost = paid(&c["cost"], r).map(|paid| times(paid, alpha(c, r)));
            add([paid(&c["utility"], r), cost].into_iter().flatten())
        },
    },
    Shape {
        kind: "pareto-rank",
        whole: true,
        // Plain terms, whose values have no rounding to break ties by.
        make: |_, _| json!({ "type": "pareto-rank", "of": [{ "type": "tool-success" }, { "type": "cost", "per_call": 1.0 }] }),
        read: |c, r| {
            let point = |at: usize| -> Result<Option<Vec<f64>>, ()> {
                let values = all(&c["of"], &r.of(at))?;
                Ok((values.len() == 2).then_some(values))
            };
            let Some(own) = point(r.at)? else { return Ok(None) };
            let points: Vec<Vec<f64>> =
                r.group().into_iter().filter_map(|at| point(at).ok().flatten()).collect();
            Ok((points.len() > 1).then(|| 1.0 - chain(&own, &points) as f64 / (points.len() - 1) as f64))
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "geometric-mean",
        whole: false,
        make: |parts, k| json!({ "type": "geometric-mean", "of": parts, "weights": [1.0, 0.1 + k[0], 2.0] }),
        read: |c, r| {
            let (mut product, mut weights, mut negative) = (1.0, 0.0, false);
            for i in 0..3 {
                let Some(value) = read(&c["of"][i], r)? else { continue };
                let weight = c["weights"][i].as_f64().unwrap();
                product *= value.abs().powf(weight);
                weights += weight;
                negative |= value < 0.0;
            }
            let mean = |product: f64| product.powf(1.0 / weights) * if negative { -1.0 } else { 1.0 };
            Ok((weights > 0.0).then(|| mean(product)))
        },
        paid: |_, _| None,
    },
    Shape {
        kind: "team",
        whole: true,
        make: |parts, k| {
            let team = if k[0] < 0.5 { json!("group") } else { json!({ "payload": "/kind" }) };
            json!({ "type": "team", "of": parts[0], "team": team, "spirit": k[1], "opponents": k[2] })
        },
        read: |c, r| {
            let Some(own) = read(&c["of"], r)? else { return Ok(None) };
            let side = |at: usize| match c["team"] == "group" {
                true => Some(r.episodes[at].id.group.to_string()),
                false => r.episodes[at].task.payload["kind"].as_str().map(str::to_owned),
            };
            let Some(mine) = side(r.at) else { return Ok(None) };
            let of = |mates: bool| -> Vec<f64> {
                let there = (0..r.episodes.len()).filter(|&at| (side(at).as_ref() == Some(&mine)) == mates);
                there.filter_map(|at| read(&c["of"], &r.of(at)).ok().flatten()).collect()
            };
            let mean = |values: Vec<f64>| {
                if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
            };
            let spirit = number(c, "spirit");
            Ok(Some(
                (1.0 - spirit) * own + spirit * mean(of(true)) - number(c, "opponents") * mean(of(false)),
            ))
        },
        paid: |c, r| Some(times(paid(&c["of"], r)?, 1.0 - number(c, "spirit"))),
    },
    Shape {
        kind: "ensemble",
        whole: false,
        make: |parts, k| {
            let rule = ["mean", "median", "min", "majority"][(k[0] * 3.99) as usize];
            let mut ensemble =
                json!({ "type": "ensemble", "rule": rule, "of": parts, "penalty": 0.1 + k[1] });
            if k[2] < 0.5 {
                ensemble["abstain_above"] = (0.05 + k[2]).into();
            }
            ensemble
        },
        read: |c, r| {
            let mut said = all(&c["of"], r)?;
            if said.is_empty() {
                return Ok(None);
            }
            said.sort_by(f64::total_cmp);
            let n = said.len();
            let mean = said.iter().sum::<f64>() / n as f64;
            let mut apart = (said.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
            let value = match c["rule"].as_str().unwrap() {
                "mean" => mean,
                "median" => (said[(n - 1) / 2] + said[n / 2]) / 2.0,
                "min" => said[0],
                _ => {
                    let yes = said.iter().filter(|x| **x >= 0.5).count();
                    apart = 1.0 - yes.max(n - yes) as f64 / n as f64;
                    if 2 * yes > n { 1.0 } else { 0.0 }
                }
            };
            if c["abstain_above"].as_f64().is_some_and(|most| apart > most) {
                Err(())
            } else {
                Ok(Some(value - number(c, "penalty") * apart))
            }
        },
        paid: |c, r| {
            let count = all(&c["of"], r).ok()?.len() as f64;
            let parts = c["of"].as_array().unwrap().iter().filter_map(|part| paid(part, r));
            Some(times(add(parts).filter(|_| c["rule"] == "mean")?, 1.0 / count))
        },
    },
    Shape {
        kind: "shaping",
        whole: true,
        make: |parts, k| {
            let potential = if k[0] < 0.5 {
                json!({ "type": "tool-success", "weight": 0.5 })
            } else {
                json!({ "type": "format" })
            };
            let step = if k[2] < 0.5 { "turn" } else { "token" };
            json!({ "type": "shaping", "of": parts[0], "potential": potential, "start": k[1] - 0.5, "step": step })
        },
        read: |c, r| {
            let Some(base) = read(&c["of"], r)? else { return Ok(None) };
            Ok(Some(base + shaped(c, r)?.iter().sum::<f64>()))
        },
        paid: |c, r| add([paid(&c["of"], r), shaped(c, r).ok()].into_iter().flatten()),
    },
];

fn times(list: Vec<f64>, factor: f64) -> Vec<f64> {
    list.into_iter().map(|x| x * factor).collect()
}

/// The tiers that count, with their weights.
fn tiers(c: &Value, r: &Reading<'_>) -> Result<Vec<(f64, Option<f64>)>, ()> {
    let mut reached = Vec::new();
    for tier in c["tiers"].as_array().unwrap() {
        let worth = read(&tier["of"], r)?;
        reached.push((tier["weight"].as_f64().unwrap_or(1.0), worth));
        if worth.is_some_and(|worth| tier.get("pass").is_some_and(|pass| worth < pass.as_f64().unwrap())) {
            break;
        }
    }
    Ok(reached)
}

/// Nothing is kept before the first batch, so a curriculum by mastery is at its first stage.
fn at_work(c: &Value, r: &Reading<'_>) -> Vec<Value> {
    let stages = c["stages"].as_array().unwrap();
    let over = |stage: &&Value| stage["until_step"].as_u64().is_some_and(|until| r.step >= until);
    let stage = stages.iter().filter(over).count();
    let first = if c["carry"] == true { 0 } else { stage };
    stages[first..=stage].iter().map(|stage| stage["of"].clone()).collect()
}

fn route<'a>(c: &'a Value, r: &Reading<'_>) -> Option<&'a Value> {
    let kind = r.episodes[r.at].task.payload["kind"].as_str();
    kind.and_then(|kind| c["routes"].get(kind)).or_else(|| c.get("otherwise"))
}

/// The two parts of a blend and their shares at the step, those without one left out.
fn shares<'a>(c: &'a Value, r: &Reading<'_>) -> Vec<(&'a Value, f64)> {
    let (from, to) = (number(&c["share"], "from"), number(&c["share"], "to"));
    let share = match r.step {
        0 | 1 => from,
        2 => (from + to) / 2.0,
        _ => to,
    };
    [(&c["of"], share), (&c["with"], 1.0 - share)].into_iter().filter(|(_, share)| *share > 0.0).collect()
}

fn gain(c: &Value, r: &Reading<'_>) -> Plain {
    let Some(own) = read(&c["of"], r)? else { return Ok(None) };
    let baseline = match &c["baseline"] {
        Value::String(_) => {
            let others = r.group().into_iter().filter(|&at| at != r.at);
            let others: Vec<f64> = others.filter_map(|at| read(&c["of"], &r.of(at)).ok().flatten()).collect();
            (!others.is_empty()).then(|| others.iter().sum::<f64>() / others.len() as f64)
        }
        kept if kept.get("kept").is_some() => Some(0.25),
        _ => r.episodes[r.at].task.payload["base"].as_f64(),
    };
    let floor = if c["floor_at_zero"] == true { 0.0 } else { f64::NEG_INFINITY };
    Ok(baseline.map(|baseline| (own - baseline).max(floor)))
}

fn alpha(c: &Value, r: &Reading<'_>) -> f64 {
    c["alpha"].as_f64().unwrap_or((2.0 - r.step as f64 / 2.0).max(0.0))
}

/// The length of the longest chain of points above `own`, each dominating the next.
fn chain(own: &[f64], points: &[Vec<f64>]) -> usize {
    let above = points
        .iter()
        .filter(|p| p.iter().zip(own).all(|(a, b)| a >= b) && p.iter().zip(own).any(|(a, b)| a > b));
    above.map(|point| 1 + chain(point, points)).max().unwrap_or(0)
}

/// Turn by turn: γ Φ(after) − γ^(1 − n) Φ(before), with nothing behind a real end.
fn shaped(c: &Value, r: &Reading<'_>) -> Result<Vec<f64>, ()> {
    let (episode, gamma) = (&r.episodes[r.at], r.discount);
    let weight = c["potential"]["weight"].as_f64().unwrap_or(1.0);
    let last = episode.turns.len().saturating_sub(1);
    let mut before = number(c, "start");
    let mut paid = Vec::new();
    for turn in 0..episode.turns.len() {
        let found = raw(c["potential"]["name"].as_str().unwrap(), &r.at_turn(turn))?;
        let phi = found.map_or(before, |found| weight * found);
        let after = if turn == last && episode.end.terminal() { 0.0 } else { phi };
        let tokens = episode.transcript.segments()[turn].tokens.len().max(1) as f64;
        let steps = if c["step"] == "turn" { 1.0 } else { tokens };
        paid.push(gamma * after - gamma.powf(1.0 - steps) * before);
        before = phi;
    }
    Ok(paid)
}
