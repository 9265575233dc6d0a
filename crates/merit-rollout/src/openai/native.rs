//! Calls as servers have them: out of what the record says, and back into it.
//!
//! In: the messages of a context, or an answer. Out: messages whose calls stand apart, each answered under its id, or the text
//! that makes the same calls in the environment's language. What a model got wrong stays its own: it is written down, and the
//! environment or the tool tells it so.

use merit_api::{CallLanguage, ToolSpec};
use merit_core::{Message, Role, ToolCall};
use merit_endpoint::{Answer, ChatMessage, ChatRole, FunctionCall, FunctionSpec};
use std::collections::VecDeque;

/// The tools as a server is told them.
pub(super) fn functions(language: &dyn CallLanguage) -> Vec<FunctionSpec> {
    let function = |tool: &ToolSpec| FunctionSpec {
        name: tool.name.clone(),
        description: tool.summary.clone(),
        parameters: tool.arguments.schema(),
    };
    language.tools().iter().map(function).collect()
}

/// The conversation with its calls apart. Ids are numbers in the order of the calls: the record does not keep a server's own.
pub(super) fn messages(language: &dyn CallLanguage, read: Vec<Message>) -> Vec<ChatMessage> {
    let advert = language.advert();
    let (mut messages, mut calls) = (Vec::<ChatMessage>::new(), 0_usize);
    let mut open = VecDeque::<(String, String)>::new();
    for Message { role, text } in read {
        let message = match role {
            Role::Policy => {
                open.clear();
                said(language, &text, &mut calls, &mut open)
            }
            // A command of a text world is answered by the world itself.
            Role::Tool | Role::User | Role::Environment => match open.pop_front() {
                Some((id, tool)) => ChatMessage {
                    tool_call_id: Some(id),
                    ..ChatMessage::new(ChatRole::Tool, language.answered(&tool, &text))
                },
                None => ChatMessage::user(text),
            },
            Role::System => ChatMessage::system(without(&text, &advert)),
            Role::Hint => ChatMessage::user(text),
        };
        push(&mut messages, message);
    }
    messages
}

/// A turn of the model; its calls wait for their answers in `open`.
fn said(
    language: &dyn CallLanguage,
    text: &str,
    calls: &mut usize,
    open: &mut VecDeque<(String, String)>,
) -> ChatMessage {
    let Some((beside, made)) = language.read(text) else {
        return ChatMessage::new(ChatRole::Assistant, text);
    };
    let mut message = ChatMessage::new(ChatRole::Assistant, beside);
    for call in made {
        // Nine letters and digits: the only form that every template takes.
        let id = format!("call{:05}", *calls);
        *calls += 1;
        open.push_back((id.clone(), call.tool.clone()));
        let arguments = arguments(language, &call);
        message.tool_calls.push(FunctionCall { id, name: call.tool, arguments });
    }
    message
}

fn arguments(language: &dyn CallLanguage, call: &ToolCall) -> String {
    let card = language.tools().iter().find(|tool| tool.name == call.tool);
    let arguments = card.and_then(|tool| tool.arguments.arguments(&call.input).ok());
    arguments.map_or_else(|| call.input.clone(), |arguments| arguments.to_string())
}

/// Neighbours with the same role are one message, because many templates want the roles to take turns. Calls stay apart.
fn push(messages: &mut Vec<ChatMessage>, message: ChatMessage) {
    let joins = |message: &ChatMessage| message.tool_calls.is_empty() && message.tool_call_id.is_none();
    match messages.last_mut() {
        Some(last) if last.role == message.role && joins(last) && joins(&message) => {
            last.content.push('\n');
            last.content.push_str(&message.content);
        }
        _ if message.role == ChatRole::System && message.content.is_empty() => {}
        _ => messages.push(message),
    }
}

/// The instructions without the part that tells the tools: the server tells them itself.
fn without(text: &str, advert: &str) -> String {
    if advert.is_empty() { text.to_owned() } else { text.replacen(advert, "", 1).trim().to_owned() }
}

/// What the model says in the environment's language. Where that takes one call a turn, the first is made.
pub(super) fn spoken(language: &dyn CallLanguage, answer: &Answer) -> String {
    let most = if language.takes_several() { answer.tool_calls.len() } else { 1 };
    let calls: Vec<ToolCall> = answer.tool_calls.iter().take(most).map(|call| made(language, call)).collect();
    language.write(&answer.text, &calls)
}

/// The call; arguments that are not what the tool takes go to it as they were written, and it says what is wrong.
fn made(language: &dyn CallLanguage, call: &FunctionCall) -> ToolCall {
    let card = language.tools().iter().find(|tool| tool.name == call.name);
    let written = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let arguments = serde_json::from_str(written).ok();
    let input = card.zip(arguments).and_then(|(tool, arguments)| tool.arguments.input(&arguments).ok());
    ToolCall { tool: call.name.clone(), input: input.unwrap_or_else(|| call.arguments.clone()) }
}
