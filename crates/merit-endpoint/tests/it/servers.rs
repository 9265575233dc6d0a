//! The answers of real servers, in the shapes that each of them sends, read without loss.

use crate::support::{ask, ask_with, config, open, server};
use merit_core::TokenId;
use merit_endpoint::{
    Answer, EndpointConfig, EndpointError, Finish, FunctionCall, Params, Piece, Reply, Server, Usage, wait,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const SERVERS: [&str; 4] = ["vllm", "sglang", "llama-cpp", "ollama"];

fn shape(file: &str) -> String {
    let path = format!("{}/tests/shapes/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn answer(reply: Reply, stream: bool) -> Result<Answer, EndpointError> {
    let server = server(move |_| reply.clone());
    wait(open(&EndpointConfig { stream, retries: 0, ..config(&server) }).chat(&ask("?")))
}

fn whole(file: &str) -> Answer {
    let body: Value = serde_json::from_str(&shape(file)).unwrap();
    answer(Reply::json(200, &body), false).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn arguments(call: &FunctionCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap()
}

/// What an answer cost: read, of it kept, drawn, of it thought.
fn cost(prompt_tokens: u64, cached_tokens: u64, completion_tokens: u64, reasoning_tokens: u64) -> Usage {
    Usage { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens }
}

/// What a server thought and said; llama.cpp keeps the line's end of both.
fn lines(name: &str, thought: &str, said: &str) -> (String, String) {
    let end = if name == "llama-cpp" { "\n" } else { "" };
    (format!("{thought}{end}"), format!("{said}{end}"))
}

#[test]
fn words_thoughts_and_costs_are_read_from_every_server() {
    for name in SERVERS {
        let answer = whole(&format!("{name}-plain.json"));
        let (thought, _) = lines(name, "3 times 4", "");
        assert_eq!((answer.text.as_str(), &answer.reasoning), ("It is 12.", &thought), "{name}");
        assert_eq!((&answer.finish, answer.tool_calls.len()), (&Finish::Stop, 0), "{name}");
        let usage = match name {
            "llama-cpp" => cost(17, 16, 28, 0),
            // It tells neither what it had kept nor what was thought.
            "ollama" => cost(21, 0, 31, 0),
            _ => cost(21, 16, 31, 24),
        };
        assert_eq!(answer.usage, Some(usage), "{name}");
        assert!(!answer.model.is_empty(), "{name}");
    }
}

#[test]
fn calls_are_read_from_every_server() {
    for name in SERVERS {
        let answer = whole(&format!("{name}-call.json"));
        let said = if name == "llama-cpp" { "One moment.\n" } else { "" };
        assert_eq!((answer.text.as_str(), &answer.finish), (said, &Finish::ToolCalls), "{name}");
        let [call] = answer.tool_calls.as_slice() else { panic!("{name}: {answer:?}") };
        assert!(call.name == "weather" && !call.id.is_empty(), "{name}: {call:?}");
        assert_eq!(arguments(call), json!({ "city": "Bonn" }), "{name}");
        let usage = match name {
            "llama-cpp" => cost(313, 0, 48, 0),
            "ollama" => cost(180, 0, 19, 0),
            _ => cost(180, 176, 19, 0),
        };
        assert_eq!(answer.usage, Some(usage), "{name}");
    }
}

#[test]
fn streams_of_every_server_are_the_whole_answer_and_heard_in_order() {
    for name in SERVERS {
        let text = shape(&format!("{name}-stream.txt"));
        let server = server(move |_| Reply::stream_head().then_raw(&text));
        let heard = Arc::new(Mutex::new((String::new(), String::new())));
        let ear = Arc::clone(&heard);
        let listener = move |piece| match piece {
            Piece::Reasoning(text) => ear.lock().unwrap().0.push_str(&text),
            Piece::Text(text) => ear.lock().unwrap().1.push_str(&text),
            Piece::Restart => panic!("nothing broke"),
        };
        let answer = wait(open(&config(&server)).chat_aloud(&ask("?"), listener)).unwrap();
        let expected = lines(name, "Look it up.", "One moment.");
        assert_eq!(*heard.lock().unwrap(), expected, "{name}");
        assert_eq!((answer.reasoning, answer.text), expected, "{name}");
        let [call] = answer.tool_calls.as_slice() else { panic!("{name}: {:?}", answer.tool_calls) };
        assert!(call.name == "weather" && !call.id.is_empty(), "{name}: {call:?}");
        assert_eq!(arguments(call), json!({ "city": "Bonn" }), "{name}");
        assert_eq!(answer.finish, Finish::ToolCalls, "{name}");
        let usage = match name {
            "llama-cpp" => cost(313, 0, 48, 0),
            "ollama" => cost(180, 0, 30, 0),
            _ => cost(180, 176, 30, 6),
        };
        assert_eq!(answer.usage, Some(usage), "{name}");
    }
}

#[test]
fn token_ids_are_read_where_each_server_puts_them() {
    let ids =
        |tokens: &Option<Vec<TokenId>>| -> Vec<u32> { tokens.iter().flatten().map(|id| id.0).collect() };
    for (name, kind) in [("vllm", Server::Vllm), ("sglang", Server::Sglang)] {
        let body: Value = serde_json::from_str(&shape(&format!("{name}-tokens.json"))).unwrap();
        let server = server(move |_| Reply::json(200, &body));
        let config = EndpointConfig { server: kind, stream: false, retries: 0, ..config(&server) };
        let wanted = Params { token_ids: true, ..Params::default() };
        let answer = wait(open(&config).chat(&ask_with("?", wanted)))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(ids(&answer.tokens), [2132, 374, 220, 717], "{name}");
        assert_eq!(ids(&answer.prompt_tokens), [151_644, 872, 198], "{name}");
    }
    let cut = whole("llama-cpp-cut.json");
    assert_eq!((cut.text.as_str(), &cut.finish), ("To find ", &Finish::Length));
    assert_eq!(ids(&cut.tokens), [2068, 1042, 216]);
    let scores = cut.logprobs.unwrap();
    assert!(scores.iter().all(|score| score.top.len() == 2 && score.logprob < 0.0), "{scores:?}");
    assert_eq!(scores[1].bytes.as_deref(), Some(b" find".as_slice()));
}

#[test]
fn a_stream_of_any_server_that_ends_early_is_a_cut_and_no_short_answer() {
    for name in SERVERS {
        let text = shape(&format!("{name}-stream.txt"));
        let events: Vec<&str> = text.split_inclusive("\n\n").collect();
        let last = events
            .iter()
            .position(|event| event.replace(": ", ":").contains("\"finish_reason\":\"tool_calls\""))
            .unwrap();
        for kept in 0..last {
            for mark in ["", "data: [DONE]\n\n"] {
                let reply = Reply::stream_head().then_raw(&events[..kept].concat()).then_raw(mark);
                let error = answer(reply, true).unwrap_err();
                assert!(matches!(error, EndpointError::Cut { .. }), "{name}, {kept} events: {error:?}");
                assert_eq!(error.cause(), "answer broke off");
            }
        }
    }
}

#[test]
fn the_errors_of_every_server_are_told_in_its_words() {
    let refused = |name: &str, status: u16| {
        let body: Value = serde_json::from_str(&shape(&format!("{name}.json"))).unwrap();
        answer(Reply::json(status, &body), false).unwrap_err()
    };
    let error = refused("vllm-error", 404);
    assert!(
        matches!(&error, EndpointError::Refused { status: 404, message, .. } if message.contains("`gone` does not exist")),
        "{error}"
    );
    assert_eq!(error.cause(), "server said 404");
    for (name, status, words) in [
        ("ollama", 404, "not found, try pulling it first"),
        ("sglang", 400, "not found in tools list"),
        ("llama-cpp", 400, "Expected 'messages' to be an array"),
    ] {
        let error = refused(&format!("{name}-error"), status);
        assert!(
            matches!(error, EndpointError::Refused { .. }) && error.to_string().contains(words),
            "{error}"
        );
    }
    for (name, most) in [("vllm", 8192), ("sglang", 8192), ("llama-cpp", 2048)] {
        let error = refused(&format!("{name}-long"), 400);
        assert!(
            matches!(error, EndpointError::ContextOverflow { limit: Some(limit), .. } if limit == most),
            "{error:?}"
        );
        assert_eq!(error.cause(), "conversation too long");
    }
}

#[test]
fn what_a_server_leaves_in_the_words_stays_there() {
    let read = |message: Value| {
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        answer(Reply::json(200, &json!({ "choices": [choice] })), false).unwrap()
    };
    let left = read(json!({ "content": "<think>3 times 4</think>It is 12." }));
    assert_eq!((left.text.as_str(), left.reasoning.as_str()), ("<think>3 times 4</think>It is 12.", ""));
    let thought = read(json!({ "content": "12", "thinking": "hm", "reasoning_content": "" }));
    assert_eq!((thought.text.as_str(), thought.reasoning.as_str()), ("12", "hm"));
    let refused = read(json!({ "content": null, "refusal": "I will not." }));
    assert_eq!((refused.text.as_str(), refused.refusal.as_str()), ("", "I will not."));
}

#[test]
fn costs_are_read_from_the_details_and_from_the_times() {
    let read = |name: &str, cost: Value| {
        let choice = json!({ "index": 0, "message": { "content": "12" }, "finish_reason": "stop" });
        answer(Reply::json(200, &json!({ "choices": [choice], name: cost })), false).unwrap().usage.unwrap()
    };
    let usage = read(
        "usage",
        json!({ "prompt_tokens": 9, "completion_tokens": 40, "prompt_tokens_details": { "cached_tokens": 4 },
                "completion_tokens_details": { "reasoning_tokens": 33, "audio_tokens": 0 } }),
    );
    let told = Usage { prompt_tokens: 9, cached_tokens: 4, completion_tokens: 40, reasoning_tokens: 33 };
    assert_eq!(usage, told);
    let usage = read("timings", json!({ "prompt_n": 5, "cache_n": 16, "predicted_n": 7, "prompt_ms": 3.5 }));
    assert_eq!((usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens), (21, 16, 7));
}

#[test]
fn a_server_that_sends_the_whole_answer_at_once_is_heard_too() {
    let server = server(|_| Reply::chat("at once"));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    wait(open(&config(&server)).chat_aloud(&ask("?"), move |piece| ear.lock().unwrap().push(piece))).unwrap();
    assert_eq!(*heard.lock().unwrap(), [Piece::Text("at once".to_owned())]);
}
