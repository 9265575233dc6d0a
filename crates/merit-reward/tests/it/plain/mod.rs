//! A second, naive reading of rewards: straight from the config's JSON and the terms of the scores, with none of the
//! library's machinery. One row per combinator says how to make a random one, what it comes to, and what it pays by turn.

mod more_shapes;
mod shapes;

use merit_core::{Episode, Score, TermOutcome};
use serde_json::Value;
use std::sync::Arc;

/// Every row.
pub fn shapes() -> Vec<&'static Shape> {
    shapes::SHAPES.iter().chain(more_shapes::MORE).collect()
}

fn shape(kind: &str) -> Option<&'static Shape> {
    shapes().into_iter().find(|shape| shape.kind == kind)
}

/// `Err` is unscorable, `Ok(None)` not applicable.
pub type Plain = Result<Option<f64>, ()>;

/// How a combinator is made and read.
pub struct Shape {
    pub kind: &'static str,
    /// It compares whole episodes, so it may not stand inside `per-turn`.
    pub whole: bool,
    /// From three parts and three numbers in [0, 1]. A string `@n` becomes the name of the n-th term.
    pub make: fn(&[Value], &[f64]) -> Value,
    pub read: fn(&Value, &Reading<'_>) -> Plain,
    pub paid: fn(&Value, &Reading<'_>) -> Option<Vec<f64>>,
}

/// What is read: an episode of a scored batch, or a turn of it.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub scores: &'a [Score],
    pub episodes: &'a [Arc<Episode>],
    /// The terms whose parse failures are unscorable.
    pub unscorable: &'a [String],
    pub step: u64,
    pub discount: f64,
    pub at: usize,
    pub turn: Option<usize>,
}

impl Reading<'_> {
    pub fn of(&self, at: usize) -> Self {
        Self { at, ..*self }
    }

    pub fn at_turn(&self, turn: usize) -> Self {
        Self { turn: Some(turn), ..*self }
    }

    /// Everybody in the group, oneself included.
    pub fn group(&self) -> Vec<usize> {
        let group = |at: usize| self.episodes[at].id.group;
        (0..self.episodes.len()).filter(|&at| group(at) == group(self.at)).collect()
    }

    /// How many turns there are.
    pub fn turns(&self) -> usize {
        self.episodes[self.at].turns.len()
    }
}

/// What a config comes to.
pub fn read(config: &Value, reading: &Reading<'_>) -> Plain {
    let kind = config["type"].as_str().unwrap();
    match shape(kind) {
        Some(shape) => (shape.read)(config, reading),
        None => {
            let weight = config["weight"].as_f64().unwrap_or(1.0);
            let name = config["name"].as_str().unwrap();
            Ok(raw(name, reading)?.map(|raw| raw * weight))
        }
    }
}

/// What a config pays by turn.
pub fn paid(config: &Value, reading: &Reading<'_>) -> Option<Vec<f64>> {
    let kind = config["type"].as_str().unwrap();
    match shape(kind) {
        Some(shape) => (shape.paid)(config, reading),
        None => {
            let name = config["name"].as_str().unwrap();
            let term = reading.scores[reading.at].terms.iter().find(|t| t.name == name).unwrap();
            let total = term.outcome.value()? * term.weight;
            let found: f64 = term.turns.iter().flatten().sum();
            (found != 0.0).then(|| term.turns.iter().map(|t| total * t.unwrap_or(0.0) / found).collect())
        }
    }
}

/// The raw value of a term.
pub fn raw(name: &str, reading: &Reading<'_>) -> Plain {
    let term = reading.scores[reading.at].terms.iter().find(|t| t.name == name).unwrap();
    match &term.outcome {
        TermOutcome::ParseFailure { .. } if reading.unscorable.iter().any(|t| t == name) => Err(()),
        TermOutcome::ParseFailure { .. } => Ok(Some(PARSE_FAILURE)),
        TermOutcome::Value { value } if term.turns.is_empty() => Ok(Some(*value)),
        TermOutcome::Value { value } => Ok(reading.turn.map_or(Some(*value), |turn| term.turns[turn])),
        TermOutcome::NotApplicable { .. } => Ok(None),
        TermOutcome::GraderFailed { why } => panic!("{name}: {why}"),
    }
}

/// What `exact-answer` is told to make of a parse failure throughout these tests.
pub const PARSE_FAILURE: f64 = -0.25;

/// What a condition decides by: a term's raw value or an expression.
pub fn condition(condition: &Value, reading: &Reading<'_>) -> Plain {
    match condition {
        Value::String(name) => raw(name, reading),
        config => read(config, reading),
    }
}

/// Every part that applies.
pub fn all(configs: &Value, reading: &Reading<'_>) -> Result<Vec<f64>, ()> {
    let worths: Result<Vec<_>, ()> = configs.as_array().unwrap().iter().map(|c| read(c, reading)).collect();
    Ok(worths?.into_iter().flatten().collect())
}

/// Gives every term a name of its own, takes parts that look at whole episodes out of `per-turn`, resolves `@n`.
pub fn settle(config: &mut Value, terms: &[&str]) {
    let mut names = Vec::new();
    name_terms(config, terms, false, &mut names);
    resolve(config, &names);
}

/// The names of the terms whose parse failures are unscorable.
pub fn unscorable(config: &Value) -> Vec<String> {
    match config {
        Value::Array(list) => list.iter().flat_map(unscorable).collect(),
        Value::Object(map) if map.get("on_parse_failure").is_some_and(|path| path == "unscorable") => {
            vec![map["name"].as_str().unwrap().to_owned()]
        }
        Value::Object(map) => map.values().flat_map(unscorable).collect(),
        _ => Vec::new(),
    }
}

fn name_terms(config: &mut Value, terms: &[&str], by_turn: bool, names: &mut Vec<String>) {
    match config {
        Value::Array(list) => list.iter_mut().for_each(|part| name_terms(part, terms, by_turn, names)),
        Value::Object(map) => {
            let kind = map.get("type").and_then(Value::as_str).map(str::to_owned);
            if let Some(kind) = &kind
                && terms.contains(&kind.as_str())
            {
                names.push(format!("t{}", names.len()));
                map.insert("name".into(), names[names.len() - 1].clone().into());
                return;
            }
            let whole = kind.as_deref().and_then(shape).is_some_and(|shape| shape.whole);
            if by_turn && whole {
                let first = inner(map);
                *config = serde_json::json!({ "type": "sum", "of": [first] });
                return name_terms(config, terms, by_turn, names);
            }
            let by_turn = by_turn || kind.as_deref() == Some("per-turn");
            map.values_mut().for_each(|value| name_terms(value, terms, by_turn, names));
        }
        _ => {}
    }
}

/// Some part inside a combinator, at any depth below lists.
fn inner(map: &serde_json::Map<String, Value>) -> Value {
    fn first(value: &Value) -> Option<Value> {
        match value {
            Value::Object(map) if map.contains_key("type") => Some(value.clone()),
            Value::Object(map) => map.values().find_map(first),
            Value::Array(list) => list.iter().find_map(first),
            _ => None,
        }
    }
    map.values().find_map(first).unwrap()
}

fn resolve(config: &mut Value, names: &[String]) {
    match config {
        Value::Array(list) => list.iter_mut().for_each(|part| resolve(part, names)),
        Value::Object(map) => map.values_mut().for_each(|part| resolve(part, names)),
        Value::String(text) => {
            if let Some(n) = text.strip_prefix('@').and_then(|n| n.parse::<usize>().ok()) {
                *text = names[n % names.len()].clone();
            }
        }
        _ => {}
    }
}
