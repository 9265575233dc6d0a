//! OpenAI-style messages: `{messages: […], tools?, reward? | score?, answer?, task_id? | group?, trial?, finish_reason?, error?}`,
//! or a bare list of messages.
//!
//! A conversation that stops on a plain assistant message ended with it: that message is the answer. One that stops on a
//! call, a tool or a user has an unknown end, unless the recorder says more (`finish_reason` of `length`, an `error`). This
//! format has no sign for a tool's errors but `is_error`; how other calls ended is unknown unless error prefixes are given.

use crate::draft::{Draft, Foreign, TaskDraft};
use crate::entry;
use crate::fields::seen;
use crate::format::{Format, Rules};
use crate::messages::messages;
use crate::play::play;
use crate::{ItemError, Row};
use merit_core::About;
use serde_json::{Map, Value};

pub(crate) const FORMAT: Format = Format {
    about: About {
        name: "openai",
        summary: "Messages with roles and tool calls, as OpenAI's chat completions have them.",
        paper: "",
    },
    example: r#"{"messages": [
  {"role": "user", "content": "What is 6 times 7?"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "a", "type": "function", "function": {"name": "multiply", "arguments": "{\"x\": 6, \"y\": 7}"}}]},
  {"role": "tool", "tool_call_id": "a", "content": "42"},
  {"role": "assistant", "content": "42"}], "answer": "42", "reward": 1.0}"#,
    error_prefixes: &[],
    solved_at: None,
    fits,
    read,
};

fn fits(value: &Value) -> bool {
    let list = value.get("messages").unwrap_or(value);
    let message = |value: &Value| value.get("role").is_some();
    list.as_array().is_some_and(|list| list.first().is_some_and(message))
}

fn read(row: Row, rules: &Rules) -> Result<Draft, ItemError> {
    let (mut fields, list) = match row.into_value() {
        list @ Value::Array(_) => (Map::new(), list),
        Value::Object(mut map) if map.contains_key("messages") => {
            let list = map.remove("messages").unwrap_or_default();
            (map, list)
        }
        other => {
            return Err(ItemError::Shape { seen: seen(&other), want: "`messages` or a list of messages" });
        }
    };
    let mut play = play(messages(&list, "messages")?, &rules.errors, &rules.options.limits)?;
    let mut payload = Map::new();
    for key in ["tools", "functions"] {
        if let Some(tools) = fields.remove(key).filter(|tools| !tools.is_null()) {
            payload.insert("tools".to_owned(), tools);
        }
    }
    let answer = entry::answer(&mut fields);
    let task = TaskDraft { world: rules.world("openai"), payload, answer, size: 0 };
    let named = ["task_id", "group", "id"].into_iter().find_map(|key| entry::name(&mut fields, key));
    let member = ["trial", "member"].into_iter().find_map(|key| entry::place(&mut fields, key));
    let reported = entry::reported(&mut fields, &["reward", "score"])?;
    let end = entry::end(&mut fields, &mut play)?;
    entry::check_acted(&play, &end)?;
    let key = entry::key(named, &play, &task);
    let left_out = std::mem::take(&mut play.left_out);
    Ok(Draft::Foreign(Box::new(Foreign { key, member, task, fields, play, end, reported, left_out })))
}
