//! Ideas for checks, drawn from the candidates themselves: lengths, words, facts of JSON documents, tools that were called.
//!
//! In: the episodes of the training pairs. Out: checks with weight 1, each a reward expression with a plain title. Nothing is said
//! about which of them is worth anything.

use merit_core::stats::quantile;
use merit_core::{Episode, hex};
use merit_evolve::{Entry, Kind};
use merit_reward::terms::policy_texts;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most ideas of one sort.
const MOST: usize = 80;

/// A check with the name it would have.
pub type Idea = (String, Entry);

pub fn ideas(episodes: &[Arc<Episode>]) -> Vec<Idea> {
    let texts: Vec<String> =
        episodes.iter().map(|episode| policy_texts(episode).collect::<Vec<_>>().join("\n")).collect();
    let mut all = lengths(&texts);
    all.extend(plain());
    all.extend(calls(episodes));
    all.extend(facts(episodes));
    all.extend(words(&texts));
    all
}

fn idea(id: String, title: String, body: Value) -> Idea {
    let entry =
        Entry { kind: Kind::Check, title, when: Vec::new(), body, weight: 1.0, made_by: "mined".to_owned() };
    (id, entry)
}

/// Windows at the quartiles of the lengths in words.
fn lengths(texts: &[String]) -> Vec<Idea> {
    let counts: Vec<f64> = texts.iter().map(|text| text.split_whitespace().count() as f64).collect();
    let at = |q| quantile(&counts, q).unwrap_or(1.0).max(1.0) as usize;
    let (low, middle, high, most) = (at(0.25), at(0.5), at(0.75), at(1.0).max(2));
    let window = |name: &str, title: String, min: usize, max: usize| {
        let body = json!({ "type": "length", "unit": "words", "min": min, "max": max.max(min), "reading": "all-turns" });
        idea(format!("length-{name}"), title, body)
    };
    vec![
        window("short", format!("at most {low} words"), 1, low),
        window("below-middle", format!("at most {middle} words"), 1, middle),
        window("above-middle", format!("at least {middle} words"), middle, most * 2),
        window("long", format!("at least {high} words"), high, most * 2),
    ]
}

/// What needs no setting.
fn plain() -> Vec<Idea> {
    let repeats = json!({ "type": "repetition", "n": 3, "reading": "all-turns" });
    vec![
        idea("no-repetition".into(), "few repeated phrases".into(), repeats),
        idea("tool-success".into(), "tool calls succeed".into(), json!({ "type": "tool-success" })),
        idea("few-calls".into(), "few tool calls".into(), json!({ "type": "cost", "per_call": 1.0 })),
        idea("few-turns".into(), "few turns".into(), json!({ "type": "cost", "per_turn": 1.0 })),
        idea("ended".into(), "came to an end".into(), json!({ "type": "ended" })),
    ]
}

/// Every tool that some called and some did not, and no call twice.
fn calls(episodes: &[Arc<Episode>]) -> Vec<Idea> {
    let mut users: BTreeMap<&str, usize> = BTreeMap::new();
    for episode in episodes {
        let calls = episode.turns.iter().flat_map(|turn| &turn.calls);
        let named: BTreeSet<&str> = calls.map(|call| call.call.tool.as_str()).collect();
        named.into_iter().for_each(|tool| *users.entry(tool).or_default() += 1);
    }
    if users.is_empty() {
        return Vec::new();
    }
    let trace = |rule: Value| json!({ "type": "trace", "pay": "pass", "rules": [rule] });
    let again =
        idea("no-repeated-call".into(), "no call is made twice".into(), trace(json!({ "no_repeat": {} })));
    let some = users.into_iter().filter(|(_, users)| *users < episodes.len()).take(MOST);
    let called = some.map(|(tool, _)| {
        let rule = json!({ "must_call": { "tool": tool } });
        idea(format!("calls-{}", slug(tool)), format!("calls `{tool}`"), trace(rule))
    });
    called.chain([again]).collect()
}

/// Facts of answers that are JSON objects: a key is there, a value is this, a number is at least the middle one.
fn facts(episodes: &[Arc<Episode>]) -> Vec<Idea> {
    let mut seen: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut documents = 0;
    for episode in episodes {
        let answer = episode.answer().and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(Value::Object(fields)) = answer {
            documents += 1;
            for (key, value) in fields {
                seen.entry(key).or_default().push(value);
            }
        }
    }
    if documents * 2 < episodes.len() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (key, values) in seen {
        if values.len() < documents {
            all.push(fact(&key, "there", format!("has `{key}`"), &json!({})));
        }
        let numbers: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
        let distinct: BTreeSet<String> = values.iter().map(Value::to_string).collect();
        if numbers.len() == values.len() && distinct.len() > 2 {
            let middle = quantile(&numbers, 0.5).unwrap_or_default();
            let (title, schema) = (format!("`{key}` is at least {middle}"), json!({ "minimum": middle }));
            all.push(fact(&key, "high", title, &schema));
        } else if distinct.len() <= 12 {
            let different: BTreeMap<String, &Value> =
                values.iter().map(|value| (value.to_string(), value)).collect();
            let scalar = different.into_iter().filter(|(_, value)| !value.is_object() && !value.is_array());
            for (at, (text, value)) in scalar.enumerate() {
                all.push(fact(
                    &key,
                    &format!("is-{at}"),
                    format!("`{key}` is {text}"),
                    &json!({ "const": value }),
                ));
            }
        }
    }
    all.truncate(MOST);
    all
}

fn fact(key: &str, what: &str, title: String, schema: &Value) -> Idea {
    let schema = json!({ "type": "object", "required": [key], "properties": { key: schema } });
    let weights = json!({ "parse": 0.0, "structure": 0.0, "types": 1.0, "content": 0.0 });
    let check = json!({ "schema": schema, "gate": "valid", "weights": weights });
    let body = json!({ "type": "json", "check": check });
    idea(format!("json-{}-{what}", slug(key)), title, body)
}

/// Words, and pairs of words, that some candidates say and others do not; those that split the candidates most evenly first.
fn words(texts: &[String]) -> Vec<Idea> {
    let mut users: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts {
        let words: Vec<String> = text
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let mut said: BTreeSet<String> = words.iter().filter(|word| word.len() > 1).cloned().collect();
        said.extend(words.windows(2).map(|two| two.join(" ")));
        said.into_iter().for_each(|phrase| *users.entry(phrase).or_default() += 1);
    }
    let enough = (texts.len() / 20).max(3);
    let mut some: Vec<(usize, String)> =
        users.into_iter().map(|(phrase, users)| (users.min(texts.len() - users), phrase)).collect();
    some.retain(|(split, _)| *split >= enough);
    some.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    some.truncate(MOST);
    some.into_iter().map(|(_, phrase)| says(&phrase)).collect()
}

fn says(phrase: &str) -> Idea {
    let metric = json!({
        "type": "contains",
        "max_candidates": 1_000_000,
        "refuse_alternatives": false,
        "min_share": 0.0,
        "refuse_negated": false,
    });
    let body = json!({
        "type": "text",
        "reading": "all-turns",
        "reference": { "value": phrase },
        "pay": "pass",
        "check": { "metric": metric },
    });
    idea(format!("says-{}", slug(phrase)), format!("says `{phrase}`"), body)
}

/// A text as the name of an entry.
fn slug(text: &str) -> String {
    let letters: String = text
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .take(40)
        .collect();
    let plain = text.is_ascii() && text.len() <= 40;
    // What is shortened or rewritten could collide with another.
    if plain { letters } else { format!("{letters}-{}", &hex(&Sha256::digest(text.as_bytes()))[..8]) }
}
