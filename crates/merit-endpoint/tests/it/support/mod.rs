//! Small helpers of the tests: settings for a scripted server, and answers as servers write them.
#![allow(unreachable_pub)]

use merit_core::Seed;
use merit_endpoint::{
    Asked, ChatMessage, ChatRequest, Endpoint, EndpointConfig, Params, Reply, ScriptedServer,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A server with this script.
pub fn server(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> ScriptedServer {
    ScriptedServer::start(script).unwrap()
}

/// Settings for `server` with short pauses.
pub fn config(server: &ScriptedServer) -> EndpointConfig {
    EndpointConfig {
        deadline_s: 20.0,
        idle_s: 10.0,
        backoff_base_s: 0.01,
        backoff_most_s: 0.05,
        ..EndpointConfig::new(server.base_url(), "tiny")
    }
}

/// An open endpoint.
pub fn open(config: &EndpointConfig) -> Endpoint {
    Endpoint::open(config, Seed::root(1)).unwrap()
}

/// One question.
pub fn ask(text: &str) -> ChatRequest {
    ask_with(text, Params::default())
}

/// One question with these params.
pub fn ask_with(text: &str, params: Params) -> ChatRequest {
    ChatRequest { messages: vec![ChatMessage::user(text)], params, ..ChatRequest::default() }
}

/// A chunk of a streamed conversation.
pub fn delta(delta: &Value) -> Value {
    json!({ "model": "scripted", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

/// The last chunk of a streamed conversation.
pub fn ended(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

/// A choice that says `text`, with more fields.
pub fn choice(text: &str, more: &Value) -> Value {
    let mut choice = json!({ "index": 0, "message": { "content": text }, "finish_reason": "stop" });
    for (name, value) in more.as_object().unwrap() {
        choice[name] = value.clone();
    }
    json!({ "model": "scripted", "choices": [choice] })
}

/// Waits until `holds`; gives up after a minute, only to tell late from never.
pub fn eventually(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
