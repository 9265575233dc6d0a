//! The answers of real servers, in the shapes that each of them sends, read without loss.

use crate::support::{ask, ask_with, config, open, server};
use merit_core::TokenId;
use merit_endpoint::{
    Answer, EndpointConfig, EndpointError, Finish, FunctionCall, Params, Piece, Prompt, Reply, Server,
    TextRequest, Usage, wait,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

pub(crate) const SERVERS: [&str; 4] = ["vllm", "sglang", "llama-cpp", "ollama"];

pub(crate) fn shape(file: &str) -> String {
    let path = format!("{}/tests/shapes/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The body of a file; a stream is all that it says.
fn reply(file: &str) -> Reply {
    if file.ends_with(".txt") {
        return Reply::stream_head().then_raw(&shape(file));
    }
    Reply::json(200, &serde_json::from_str(&shape(file)).unwrap())
}

pub(crate) fn answer(reply: Reply, stream: bool) -> Result<Answer, EndpointError> {
    let server = server(move |_| reply.clone());
    wait(open(&EndpointConfig { stream, retries: 0, ..config(&server) }).chat(&ask("?")))
}

fn read(file: &str) -> Answer {
    answer(reply(file), file.ends_with(".txt")).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The answer to a request for log-probabilities and, where the server tells them, token ids: SGLang not in the pieces of a
/// conversation.
fn detailed(name: &str, file: &str) -> Result<Answer, EndpointError> {
    let reply = reply(&format!("{name}-{file}"));
    let server = server(move |_| reply.clone());
    let kind = match name {
        "vllm" => Server::Vllm,
        "sglang" => Server::Sglang,
        "llama-cpp" => Server::LlamaCpp,
        _ => Server::Openai,
    };
    let stream = file.ends_with(".txt");
    let endpoint = open(&EndpointConfig { server: kind, stream, retries: 0, ..config(&server) });
    let token_ids = kind != Server::Openai && (name, file) != ("sglang", "tokens-stream.txt");
    let params = Params { logprobs: Some(2), token_ids, ..Params::default() };
    if file.starts_with("text") {
        return wait(endpoint.continue_text(&TextRequest { prompt: Prompt::Text("?".to_owned()), params }));
    }
    wait(endpoint.chat(&ask_with("?", params)))
}

fn arguments(call: &FunctionCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap()
}

fn ids(tokens: Option<&Vec<TokenId>>) -> Vec<u32> {
    tokens.into_iter().flatten().map(|id| id.0).collect()
}

/// What an answer cost: read, of it kept, drawn, of it thought.
fn cost(prompt_tokens: u64, cached_tokens: u64, completion_tokens: u64, reasoning_tokens: u64) -> Usage {
    Usage { prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens }
}

/// What a server thought and said: two of them keep the line's ends around both.
fn lines(name: &str, thought: &str, said: &str) -> (String, String) {
    match name {
        "vllm" | "sglang" => (format!("\n{thought}\n"), format!("\n\n{said}")),
        _ => (format!("{thought}\n"), said.to_owned()),
    }
}

#[test]
fn words_thoughts_and_costs_are_read_from_every_server() {
    for name in SERVERS {
        let answer = read(&format!("{name}-plain.json"));
        let (thought, said) = lines(name, "3 times 4", "It is 12.");
        assert_eq!((&answer.text, &answer.reasoning), (&said, &thought), "{name}");
        assert_eq!((&answer.finish, answer.tool_calls.len()), (&Finish::Stop, 0), "{name}");
        let usage = match name {
            "vllm" => cost(95, 0, 21, 6),
            "sglang" => cost(95, 94, 21, 12),
            "llama-cpp" => cost(95, 17, 21, 0),
            // It tells neither what it had kept nor what was thought.
            _ => cost(95, 0, 21, 0),
        };
        assert_eq!(answer.usage, Some(usage), "{name}");
        assert!(!answer.model.is_empty(), "{name}");
    }
}

fn check_call(file: &str, answer: &Answer) {
    assert_eq!(answer.finish, Finish::ToolCalls, "{file}");
    let [call] = answer.tool_calls.as_slice() else { panic!("{file}: {answer:?}") };
    assert!(call.name == "weather" && !call.id.is_empty(), "{file}: {call:?}");
    assert_eq!(arguments(call), json!({ "city": "Bonn" }), "{file}");
}

#[test]
fn calls_are_read_from_every_server() {
    for name in SERVERS {
        let file = format!("{name}-call.json");
        check_call(&file, &read(&file));
        let named = read(&format!("{name}-named.json"));
        assert_eq!(named.tool_calls.len(), 1, "{name}: {named:?}");
        // To vLLM an answer that had to be this call has ended like any other.
        let finish = if name == "vllm" { Finish::Stop } else { Finish::ToolCalls };
        assert_eq!(named.finish, finish, "{name}");
        let file = format!("{name}-talk.json");
        let answer = read(&file);
        check_call(&file, &answer);
        let (thought, said) = lines(name, "Look it up.", "One moment.\n");
        // Before a call SGLang trims what it says at once, and not what it streams.
        let said = if name == "sglang" { said.trim() } else { &said };
        assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), (thought.as_str(), said), "{name}");
    }
}

#[test]
fn streams_of_every_server_are_the_whole_answer_and_heard_in_order() {
    for name in SERVERS {
        let file = format!("{name}-stream.txt");
        let reply = reply(&file);
        let server = server(move |_| reply.clone());
        let heard = Arc::new(Mutex::new((String::new(), String::new())));
        let ear = Arc::clone(&heard);
        let listener = move |piece| match piece {
            Piece::Reasoning(text) => ear.lock().unwrap().0.push_str(&text),
            Piece::Text(text) => ear.lock().unwrap().1.push_str(&text),
            Piece::Restart => panic!("nothing broke"),
        };
        let answer = wait(open(&config(&server)).chat_aloud(&ask("?"), listener)).unwrap();
        check_call(&file, &answer);
        let expected = lines(name, "Look it up.", "One moment.\n");
        assert_eq!(*heard.lock().unwrap(), expected, "{name}");
        assert_eq!((answer.reasoning, answer.text), expected, "{name}");
        let usage = answer.usage.unwrap();
        let read = if name == "sglang" { (267, 48) } else { (259, 48) };
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), read, "{name}");
    }
}

/// What must be the same however an answer came: all but the id of a call and what the server had kept. Beside a call SGLang
/// tells the token of the end only in a stream, and trims only what it says at once.
fn lasting(mut answer: Answer) -> Answer {
    if !answer.tool_calls.is_empty() {
        answer.text = answer.text.trim().to_owned();
        answer.stopped_at = None;
    }
    answer.tool_calls.iter_mut().for_each(|call| {
        call.id.clear();
        call.arguments = arguments(call).to_string();
    });
    answer.usage.as_mut().unwrap().cached_tokens = 0;
    answer
}

#[test]
fn what_was_recorded_in_pieces_is_what_was_recorded_whole() {
    for name in SERVERS {
        for (whole, pieces) in [("talk.json", "stream.txt"), ("named.json", "named-stream.txt")] {
            let (whole, pieces) = (read(&format!("{name}-{whole}")), read(&format!("{name}-{pieces}")));
            assert_eq!(lasting(whole), lasting(pieces), "{name}");
        }
        let mut whole = lasting(detailed(name, "tokens.json").unwrap());
        if name == "sglang" {
            (whole.tokens, whole.prompt_tokens) = (None, None);
        }
        assert_eq!(whole, lasting(detailed(name, "tokens-stream.txt").unwrap()), "{name}");
    }
}

#[test]
fn tokens_and_their_scores_are_read_where_each_server_puts_them() {
    for name in SERVERS {
        let answer = detailed(name, "tokens.json").unwrap_or_else(|error| panic!("{name}: {error}"));
        // These two were told that the model thinks, and no thought has ended.
        let thinks = ["vllm", "sglang"].contains(&name);
        let said = if thinks { &answer.reasoning } else { &answer.text };
        assert_eq!((said.as_str(), &answer.finish), ("To find 3", &Finish::Length), "{name}");
        let told: &[u32] = if name == "ollama" { &[] } else { &[2068, 1042, 216, 35] };
        assert_eq!(ids(answer.tokens.as_ref()), told, "{name}");
        assert_eq!(answer.prompt_tokens.map(|tokens| tokens.len()), thinks.then_some(17), "{name}");
        let scores = answer.logprobs.unwrap();
        assert_eq!(
            scores.iter().map(|score| score.token.as_str()).collect::<String>(),
            "To find 3",
            "{name}"
        );
        for score in &scores {
            assert!(
                score.logprob < 0.0 && score.bytes.as_deref() == Some(score.token.as_bytes()),
                "{name}: {score:?}"
            );
            assert_eq!(score.top.len(), 2, "{name}: {score:?}");
            // Drawn at temperature 0: the likeliest is the one drawn.
            assert_eq!((&score.top[0].token, &score.top[0].bytes), (&score.token, &score.bytes), "{name}");
            assert!(
                score.top[1].bytes.is_some() && score.top[1].logprob < score.logprob,
                "{name}: {score:?}"
            );
        }
    }
    for file in ["vllm-stop.json", "sglang-stop.json"] {
        assert_eq!(read(file).stopped_at, Some(TokenId(216)), "{file}");
    }
}

#[test]
fn continuations_of_texts_are_read_whole_and_in_pieces() {
    for name in ["vllm", "sglang", "llama-cpp"] {
        let whole = detailed(name, "text.json").unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((whole.text.as_str(), &whole.finish), (" four, five,", &Finish::Length), "{name}");
        assert_eq!(ids(whole.tokens.as_ref()), [1876, 28, 2531, 28], "{name}");
        let scores = whole.logprobs.as_ref().unwrap();
        assert!(scores.iter().all(|score| score.logprob < 0.0 && score.top.len() == 2), "{name}: {scores:?}");
        let pieces = detailed(name, "text-stream.txt").unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(lasting(whole), lasting(pieces), "{name}");
    }
    // Ollama is asked for log-probabilities and sends none here.
    for file in ["text.json", "text-stream.txt"] {
        let error = detailed("ollama", file).unwrap_err();
        assert!(error.to_string().contains("it has no `logprobs`, though they were asked for"), "{error}");
    }
}

#[test]
fn models_and_how_much_they_hold_are_read_from_every_server() {
    for (name, id, limit) in [
        ("vllm", "smollm2-135m-instruct", Some(2048)),
        ("sglang", "smollm2-135m-instruct", Some(2048)),
        ("llama-cpp", "smollm2-135m-instruct", Some(2048)),
        ("ollama", "smollm2:135m", None),
    ] {
        let reply = reply(&format!("{name}-models.json"));
        let server = server(move |_| reply.clone());
        let cards = wait(open(&config(&server)).models()).unwrap();
        let [card] = cards.as_slice() else { panic!("{name}: {cards:?}") };
        assert_eq!((card.id.as_str(), card.context_limit), (id, limit), "{name}");
    }
}

#[test]
fn a_second_answer_that_nobody_asked_for_is_told() {
    for file in ["vllm-choices.json", "sglang-choices.json"] {
        let error = answer(reply(file), false).unwrap_err().to_string();
        assert!(error.contains("choices[1].index is 1, but one answer was asked for"), "{file}: {error}");
    }
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
    let refused = |file: &str, status: u16| {
        let body: Value = serde_json::from_str(&shape(&format!("{file}.json"))).unwrap();
        answer(Reply::json(status, &body), false).unwrap_err()
    };
    for (file, status, words) in [
        ("vllm-gone", 404, "The model `gone` does not exist"),
        ("ollama-gone", 404, "model 'gone' not found"),
        ("vllm-wrong", 400, "Input should be a valid list"),
        ("llama-cpp-wrong", 400, "Expected 'messages' to be an array"),
        ("llama-cpp-choices", 400, "but got 2"),
        ("ollama-wrong", 400, "cannot unmarshal string"),
    ] {
        let error = refused(file, status);
        assert!(
            matches!(&error, EndpointError::Refused { status: told, message, .. } if *told == status && message.contains(words)),
            "{file}: {error:?}"
        );
        assert_eq!(error.cause(), format!("server said {status}"));
    }
    for name in SERVERS {
        let error = refused(&format!("{name}-long"), 400);
        assert!(matches!(error, EndpointError::ContextOverflow { limit: Some(2048), .. }), "{error:?}");
        assert_eq!(error.cause(), "conversation too long");
    }
    // Ollama's words are those of the server behind it, which wrote them as JSON.
    assert!(!refused("ollama-long", 400).to_string().contains('{'));
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
