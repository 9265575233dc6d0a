//! tau-bench result files: a list of `{task_id, trial, reward, info: {task, reward_info, …}, traj}`.
//!
//! Its world computes a reward exactly when it is done, so that `info.reward_info` tells the end: present, the environment
//! ended the episode; null, the agent ran out of steps, which is the only other way out; `info.error`, the run broke, and
//! the record does not say on which side. A tool's answer that begins with `Error:` or `Unknown action` was refused. What the world
//! checks is a final state, so there is no single right answer: reference actions and outputs are in the task's payload.

use crate::draft::{Draft, Foreign, Key, TaskDraft};
use crate::entry;
use crate::fields::{kind, object, required, seen, wrong};
use crate::format::{Format, Rules};
use crate::messages::messages;
use crate::play::{Play, play};
use crate::{ItemError, Row};
use merit_core::{About, Boundary, End, Fault, Limit, Reported, Role};
use serde_json::{Map, Value};

pub(crate) const FORMAT: Format = Format {
    about: About {
        name: "tau-bench",
        summary: "Result files of tau-bench: an agent with tools and a simulated user.",
        paper: "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains (2024)",
    },
    example: r#"{"task_id": 3, "trial": 0, "reward": 1.0,
  "info": {"task": {"user_id": "u1", "instruction": "You want your seat changed.",
      "actions": [{"name": "change_seat", "kwargs": {"seat": "4A"}}], "outputs": []},
    "reward_info": {"reward": 1.0}},
  "traj": [
    {"role": "system", "content": "Desk policy"},
    {"role": "user", "content": "Seat 4A, please."},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "a", "type": "function", "function": {"name": "change_seat", "arguments": "{\"seat\": \"4A\"}"}}]},
    {"role": "tool", "tool_call_id": "a", "name": "change_seat", "content": "done"},
    {"role": "assistant", "content": "You have seat 4A."},
    {"role": "user", "content": "Thanks ###STOP###"}]}"#,
    error_prefixes: &["Error:", "Unknown action"],
    solved_at: Some(1.0),
    fits,
    read,
};

fn fits(value: &Value) -> bool {
    value.get("traj").is_some() && value.get("task_id").is_some()
}

fn read(row: Row, rules: &Rules) -> Result<Draft, ItemError> {
    let mut fields = match row.into_value() {
        Value::Object(fields) if fields.contains_key("traj") && fields.contains_key("task_id") => fields,
        other => {
            let want = "`task_id`, `trial`, `reward`, `info` and `traj`";
            return Err(ItemError::Shape { seen: seen(&other), want });
        }
    };
    let traj = fields.remove("traj").unwrap_or_default();
    let mut play = play(messages(&traj, "traj")?, &rules.errors, &rules.options.limits)?;
    let info = fields.remove("info").unwrap_or_default();
    let info = object(&info, "info")?;
    let payload = task(info)?;
    let size = payload.get("actions").and_then(Value::as_array).map_or(0, Vec::len);
    let task = TaskDraft {
        world: rules.world(domain(&play)),
        payload,
        answer: None,
        size: u32::try_from(size).unwrap_or(u32::MAX),
    };
    let named = entry::name(&mut fields, "task_id");
    let key = named.map(Key::Named).ok_or_else(|| {
        wrong("task_id", "a number or a short name", fields.get("task_id").unwrap_or(&Value::Null))
    })?;
    let member = entry::place(&mut fields, "trial");
    let reported = match entry::reported(&mut fields, &["reward"])? {
        Some(Reported { reward, .. }) => Reported { reward, by: FORMAT.about.name.to_owned() },
        None => return Err(ItemError::Missing { field: "reward".to_owned() }),
    };
    let end = end(info, &play)?;
    entry::check_acted(&play, &end)?;
    let others = info
        .iter()
        .filter(|(key, value)| !value.is_null() && !["task", "error", "reward_info"].contains(&key.as_str()));
    let mut left_out: Vec<String> = others.map(|(key, _)| format!("info.{key}")).collect();
    if info.get("reward_info").is_some_and(Value::is_object) {
        left_out.push("info.reward_info (beyond being there)".to_owned());
    }
    left_out.append(&mut play.left_out);
    let reported = Some(reported);
    Ok(Draft::Foreign(Box::new(Foreign { key, member, task, fields, play, end, reported, left_out })))
}

/// The reference: instruction, actions, outputs and whatever else describes the task. A run that broke may have none.
fn task(info: &Map<String, Value>) -> Result<Map<String, Value>, ItemError> {
    if info.contains_key("error") && !info.contains_key("task") {
        return Ok(Map::new());
    }
    let task = object(required(info, "task", "info.task")?, "info.task")?;
    for key in ["actions", "outputs"] {
        if let Some(list) = task.get(key).filter(|list| !list.is_array()) {
            let field = format!("info.task.{key}");
            return Err(ItemError::Type { field, want: "an array", got: kind(list) });
        }
    }
    Ok(task.clone())
}

fn end(info: &Map<String, Value>, play: &Play) -> Result<End, ItemError> {
    if let Some(error) = info.get("error").filter(|error| !error.is_null()) {
        let message = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Ok(End::Failed { fault: Fault::new(Boundary::Unknown, message) });
    }
    match info.get("reward_info") {
        Some(Value::Object(_)) => Ok(End::EnvironmentDone),
        Some(Value::Null) => Ok(End::Truncated { limit: Limit::Turns }),
        Some(other) => Err(wrong("info.reward_info", "an object or null", other)),
        // Files of before the field was there: the user's own sign that it is over.
        None => Ok(if user_stopped(play) { End::EnvironmentDone } else { End::Unknown }),
    }
}

fn user_stopped(play: &Play) -> bool {
    let last = play.transcript.segments().last();
    last.is_some_and(|segment| segment.role == Role::User && segment.text.contains("###STOP###"))
}

/// The desk whose policy the agent was given.
fn domain(play: &Play) -> &'static str {
    let policy = play.transcript.segments().iter().find(|segment| segment.role == Role::System);
    let title = policy.and_then(|segment| segment.text.lines().find(|line| !line.trim().is_empty()));
    let title = title.unwrap_or_default().to_lowercase();
    match (title.contains("airline"), title.contains("retail")) {
        (true, false) => "tau-bench-airline",
        (false, true) => "tau-bench-retail",
        _ => "tau-bench",
    }
}
