//! An episode as messages with the roles `system`, `user`, `assistant` and `tool`.
//!
//! What the world says and hints are messages of the user. A policy of ours writes its calls as text, and so they stay; a record
//! of text alone keeps calls apart, and there they become `tool_calls`, which their answers name.

use merit_core::{CallRecord, Episode, Known, Role, Segment, Turn};
use serde_json::{Value, json};

/// The messages of an episode, parted where the policy first speaks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// What the policy was given.
    pub prompt: Vec<Value>,
    /// What it said, with everything that came back.
    pub completion: Vec<Value>,
}

impl Conversation {
    /// All messages in order.
    pub fn messages(self) -> Vec<Value> {
        self.prompt.into_iter().chain(self.completion).collect()
    }
}

/// The messages of an episode.
pub fn conversation(episode: &Episode) -> Conversation {
    let mut conversation = Conversation::default();
    let mut turns = episode.turns.iter();
    let mut open = Vec::new();
    for segment in episode.transcript.segments() {
        let message = match segment.role {
            Role::Policy => said(segment, turns.next(), &mut open),
            Role::Tool => answered(&segment.text, &mut open),
            // What only hands over to the policy has no text.
            _ if segment.text.is_empty() => continue,
            Role::System => json!({ "role": "system", "content": segment.text }),
            Role::User | Role::Environment | Role::Hint => {
                json!({ "role": "user", "content": segment.text })
            }
        };
        let begun = segment.role == Role::Policy || !conversation.completion.is_empty();
        let part = if begun { &mut conversation.completion } else { &mut conversation.prompt };
        part.push(message);
    }
    conversation
}

/// A call that no message has answered yet, with its name in the conversation.
type OpenCall<'a> = (String, &'a CallRecord);

fn said<'a>(segment: &Segment, turn: Option<&'a Turn>, open: &mut Vec<OpenCall<'a>>) -> Value {
    let mut message = json!({ "role": "assistant", "content": segment.text });
    let Some(turn) = turn.filter(|turn| segment.known == Known::Text && !turn.calls.is_empty()) else {
        return message;
    };
    let named = turn.calls.iter().enumerate().map(|(at, call)| (format!("call_{}_{at}", turn.index), call));
    let named: Vec<OpenCall<'a>> = named.collect();
    message["tool_calls"] = named.iter().map(tool_call).collect();
    open.extend(named);
    message
}

fn tool_call((id, record): &OpenCall<'_>) -> Value {
    let input = &record.call.input;
    // Chat templates write arguments as JSON themselves; a text would be quoted twice.
    let arguments = serde_json::from_str(input).ok().filter(Value::is_object);
    let arguments = arguments.unwrap_or_else(|| Value::String(input.clone()));
    json!({ "id": id, "type": "function", "function": { "name": record.call.tool, "arguments": arguments } })
}

fn answered(text: &str, open: &mut Vec<OpenCall<'_>>) -> Value {
    let mut message = json!({ "role": "tool", "content": text });
    if let Some(at) = open.iter().position(|(_, record)| record.output == text) {
        let (id, record) = open.remove(at);
        message["tool_call_id"] = id.into();
        message["name"] = record.call.tool.clone().into();
    }
    message
}
