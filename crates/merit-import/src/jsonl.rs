//! Plain lines: `{prompt, response, answer?, reward? | score?, id?, group?, member?, system?, finish_reason?}`, and merit's own
//! episodes, bare or as `{episode, score?, …}` the way `merit rollout --json` and `merit show --json` write them.
//!
//! A prompt is a text or a list of messages; assistant messages in it are turns like any other. The response is the answer, unless `finish_reason` says that it was cut. An own
//! episode comes back exactly as it was written, tokens and all, and must keep the rules of the record.

use crate::draft::{Draft, Foreign, TaskDraft};
use crate::entry;
use crate::fields::{seen, wrong};
use crate::format::{Format, Rules};
use crate::messages::{Answers, Said, messages};
use crate::play::play;
use crate::{ItemError, Row};
use merit_core::conformance::{check_episode, check_score};
use merit_core::{About, Episode, Role, Score};
use serde_json::{Map, Value};

pub(crate) const FORMAT: Format = Format {
    about: About {
        name: "jsonl",
        summary: "Plain lines of prompt and response, and merit's own episodes.",
        paper: "",
    },
    example: r#"{"prompt": "What is 6 times 7?", "response": "42", "answer": "42", "reward": 1.0, "id": "q1"}"#,
    error_prefixes: &[],
    solved_at: None,
    fits,
    read,
};

fn fits(value: &Value) -> bool {
    let plain = value.get("prompt").is_some() && value.get("response").is_some();
    plain || own(value).is_some()
}

/// The episode of merit's own in an entry.
fn own(value: &Value) -> Option<&Value> {
    let episode = value.get("episode").unwrap_or(value);
    let whole = ["id", "task", "transcript", "turns", "end"].iter().all(|key| episode.get(key).is_some());
    whole.then_some(episode)
}

fn read(row: Row, rules: &Rules) -> Result<Draft, ItemError> {
    let value = match row {
        Row::Plain { prompt, response, answer } => {
            let said = vec![message(Role::User, prompt), message(Role::Policy, response)];
            return draft(said, answer, Map::new(), rules);
        }
        Row::Entry(value) => value,
    };
    if let Some(episode) = own(&value) {
        return whole(episode, &value);
    }
    match value {
        Value::Object(map) if map.contains_key("prompt") && map.contains_key("response") => plain(map, rules),
        other => Err(ItemError::Shape { seen: seen(&other), want: "`prompt` and `response`, or an episode" }),
    }
}

fn whole(episode: &Value, entry: &Value) -> Result<Draft, ItemError> {
    let broken = |error: serde_json::Error| ItemError::Rules(error.to_string());
    let episode: Episode = serde_json::from_value(episode.clone()).map_err(broken)?;
    let score = entry.get("score").filter(|score| !score.is_null());
    let score: Option<Score> = score.cloned().map(serde_json::from_value).transpose().map_err(broken)?;
    let mut found = check_episode(&episode);
    found.extend(score.iter().flat_map(|score| check_score(score, episode.turns.len())));
    match found.is_empty() {
        true => Ok(Draft::Whole(Box::new(episode), score.map(Box::new))),
        false => Err(ItemError::Rules(found.join("; "))),
    }
}

fn plain(mut fields: Map<String, Value>, rules: &Rules) -> Result<Draft, ItemError> {
    let mut said = Vec::new();
    if fields.get("system").is_some_and(Value::is_string)
        && let Some(Value::String(system)) = fields.remove("system")
    {
        said.push(message(Role::System, system));
    }
    match fields.remove("prompt") {
        Some(Value::String(prompt)) => said.push(message(Role::User, prompt)),
        Some(list @ Value::Array(_)) => said.extend(messages(&list, "prompt")?),
        other => return Err(wrong("prompt", "a string or a list of messages", &other.unwrap_or_default())),
    }
    match fields.remove("response") {
        Some(Value::String(response)) => said.push(message(Role::Policy, response)),
        other => return Err(wrong("response", "a string", &other.unwrap_or_default())),
    }
    let answer = entry::answer(&mut fields);
    draft(said, answer, fields, rules)
}

/// An entry of what was said, of the right answer and of the fields that are left.
fn draft(
    said: Vec<Said>,
    answer: Option<String>,
    mut fields: Map<String, Value>,
    rules: &Rules,
) -> Result<Draft, ItemError> {
    let mut play = play(said, &rules.errors, &rules.options.limits)?;
    let task = TaskDraft { world: rules.world("jsonl"), payload: Map::new(), answer, size: 0 };
    let named = ["group", "id"].into_iter().find_map(|key| entry::name(&mut fields, key));
    let member = entry::place(&mut fields, "member");
    let reported = entry::reported(&mut fields, &["reward", "score"])?;
    let end = entry::end(&mut fields, &mut play)?;
    let key = entry::key(named, &play, &task);
    let left_out = std::mem::take(&mut play.left_out);
    Ok(Draft::Foreign(Box::new(Foreign { key, member, task, fields, play, end, reported, left_out })))
}

fn message(role: Role, text: String) -> Said {
    Said { role, text, calls: Vec::new(), answers: Answers::default(), finish: None, left_out: Vec::new() }
}
