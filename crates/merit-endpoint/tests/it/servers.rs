//! The answers of real servers, in the shapes that each of them sends, read without loss.

use crate::support::{ask, ask_with, config, open, server};
use merit_core::TokenId;
use merit_endpoint::{
    Answer, EndpointConfig, EndpointError, Finish, FunctionCall, Params, Piece, Prompt, Reply, Server,
    TextRequest, Usage, wait,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const SERVERS: [&str; 4] = ["vllm", "sglang", "llama-cpp", "ollama"];
/// Those whose answers were recorded from a server that ran.
const RECORDED: [&str; 3] = ["vllm", "llama-cpp", "ollama"];

fn shape(file: &str) -> String {
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

fn answer(reply: Reply, stream: bool) -> Result<Answer, EndpointError> {
    let server = server(move |_| reply.clone());
    wait(open(&EndpointConfig { stream, retries: 0, ..config(&server) }).chat(&ask("?")))
}

fn read(file: &str) -> Answer {
    answer(reply(file), file.ends_with(".txt")).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The answer to a request for log-probabilities and, where the server tells them, token ids.
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
    let params = Params { logprobs: Some(2), token_ids: kind != Server::Openai, ..Params::default() };
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

/// What a server thought and said: each keeps other ends of the lines.
fn lines(name: &str, thought: &str, said: &str) -> (String, String) {
    match name {
        "vllm" => (format!("\n{thought}\n"), format!("\n\n{said}")),
        "sglang" => (thought.to_owned(), said.to_owned()),
        _ => (format!("{thought}\n"), said.to_owned()),
    }
}

/// The line's end before a call is the model's.
fn before_call(name: &str, said: &str) -> String {
    if name == "sglang" { said.to_owned() } else { format!("{said}\n") }
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
            "sglang" => cost(21, 16, 31, 24),
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
    }
    for name in RECORDED {
        let named = read(&format!("{name}-named.json"));
        assert_eq!(named.tool_calls.len(), 1, "{name}: {named:?}");
        // To vLLM an answer that had to be this call has ended like any other.
        let finish = if name == "vllm" { Finish::Stop } else { Finish::ToolCalls };
        assert_eq!(named.finish, finish, "{name}");
        let file = format!("{name}-talk.json");
        let answer = read(&file);
        check_call(&file, &answer);
        let expected = lines(name, "Look it up.", &before_call(name, "One moment."));
        assert_eq!((answer.reasoning, answer.text), expected, "{name}");
        assert!(answer.usage.is_some_and(|usage| usage.prompt_tokens == 259), "{name}: {:?}", answer.usage);
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
        let expected = lines(name, "Look it up.", &before_call(name, "One moment."));
        assert_eq!(*heard.lock().unwrap(), expected, "{name}");
        assert_eq!((answer.reasoning, answer.text), expected, "{name}");
        let usage = answer.usage.unwrap();
        let read = if name == "sglang" { (180, 30) } else { (259, 48) };
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), read, "{name}");
    }
}

/// What must be the same however an answer came: all but the id of a call and what the server had kept.
fn lasting(mut answer: Answer) -> Answer {
    answer.tool_calls.iter_mut().for_each(|call| {
        call.id.clear();
        call.arguments = arguments(call).to_string();
    });
    answer.usage.as_mut().unwrap().cached_tokens = 0;
    answer
}

#[test]
fn what_was_recorded_in_pieces_is_what_was_recorded_whole() {
    for name in RECORDED {
        for (whole, pieces) in [("talk.json", "stream.txt"), ("named.json", "named-stream.txt")] {
            let (whole, pieces) = (read(&format!("{name}-{whole}")), read(&format!("{name}-{pieces}")));
            assert_eq!(lasting(whole), lasting(pieces), "{name}");
        }
        let whole = lasting(detailed(name, "tokens.json").unwrap());
        assert_eq!(whole, lasting(detailed(name, "tokens-stream.txt").unwrap()), "{name}");
    }
}

#[test]
fn tokens_and_their_scores_are_read_where_each_server_puts_them() {
    for name in RECORDED {
        let answer = detailed(name, "tokens.json").unwrap_or_else(|error| panic!("{name}: {error}"));
        // vLLM was told that the model thinks, and no thought has ended.
        let said = if name == "vllm" { &answer.reasoning } else { &answer.text };
        assert_eq!((said.as_str(), &answer.finish), ("To find 3", &Finish::Length), "{name}");
        let told: &[u32] = if name == "ollama" { &[] } else { &[2068, 1042, 216, 35] };
        assert_eq!(ids(answer.tokens.as_ref()), told, "{name}");
        assert_eq!(answer.prompt_tokens.map(|tokens| tokens.len()), (name == "vllm").then_some(17), "{name}");
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
    assert_eq!(read("vllm-stop.json").stopped_at, Some(TokenId(216)));
    let body: Value = serde_json::from_str(&shape("sglang-tokens.json")).unwrap();
    let server = server(move |_| Reply::json(200, &body));
    let config = EndpointConfig { server: Server::Sglang, stream: false, retries: 0, ..config(&server) };
    let wanted = Params { token_ids: true, ..Params::default() };
    let answer = wait(open(&config).chat(&ask_with("?", wanted))).unwrap();
    assert_eq!(ids(answer.tokens.as_ref()), [2132, 374, 220, 717]);
    assert_eq!(ids(answer.prompt_tokens.as_ref()), [151_644, 872, 198]);
    assert_eq!(answer.stopped_at, Some(TokenId(151_645)));
}

#[test]
fn continuations_of_texts_are_read_whole_and_in_pieces() {
    for name in ["vllm", "llama-cpp"] {
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
    let error = answer(reply("vllm-choices.json"), false).unwrap_err();
    assert!(error.to_string().contains("choices[1].index is 1, but one answer was asked for"), "{error}");
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
        ("sglang-error", 400, "not found in tools list"),
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
    for (name, most) in [("vllm", 2048), ("sglang", 8192), ("llama-cpp", 2048), ("ollama", 2048)] {
        let error = refused(&format!("{name}-long"), 400);
        assert!(
            matches!(error, EndpointError::ContextOverflow { limit: Some(limit), .. } if limit == most),
            "{error:?}"
        );
        assert_eq!(error.cause(), "conversation too long");
    }
    // Ollama's words are those of the server behind it, which wrote them as JSON.
    assert!(!refused("ollama-long", 400).to_string().contains('{'));
}

/// Fields that are read. `said` is the message or a piece of it.
const READ: &[&str] = &[
    "model",
    "prompt_token_ids",
    "choices.index",
    "choices.finish_reason",
    "choices.stop_reason",
    "choices.matched_stop",
    "choices.text",
    "choices.token_ids",
    "choices.response_token_ids",
    "choices.prompt_token_ids",
    "choices.said.content",
    "choices.said.reasoning",
    "choices.said.reasoning_content",
    "choices.said.tool_calls.id",
    "choices.said.tool_calls.index",
    "choices.said.tool_calls.function.name",
    "choices.said.tool_calls.function.arguments",
    "choices.logprobs.content.token",
    "choices.logprobs.content.id",
    "choices.logprobs.content.bytes",
    "choices.logprobs.content.logprob",
    "choices.logprobs.content.top_logprobs.token",
    "choices.logprobs.content.top_logprobs.id",
    "choices.logprobs.content.top_logprobs.bytes",
    "choices.logprobs.content.top_logprobs.logprob",
    "choices.logprobs.tokens",
    "choices.logprobs.token_logprobs",
    "choices.logprobs.top_logprobs",
    "usage.prompt_tokens",
    "usage.completion_tokens",
    "usage.prompt_tokens_details.cached_tokens",
    "usage.completion_tokens_details.reasoning_tokens",
    "usage.reasoning_tokens",
    "timings.cache_n",
    "timings.prompt_n",
    "timings.predicted_n",
];
/// Fields that carry nothing of the answer: names, times, sums of what is read, and what is the same each time.
const LEFT: &[&str] = &[
    "id",
    "object",
    "created",
    "system_fingerprint",
    "metadata.weight_version",
    "choices.said.role",
    "choices.said.tool_calls.type",
    "choices.logprobs.text_offset",
    "usage.total_tokens",
    "usage.prompt_tokens_details.created_cache_tokens",
    // Never asked for by us.
    "prompt_logprobs",
];

/// The names of the fields that hold something. Lists are looked through; what has tokens for names is one field.
fn fields(at: &str, value: &Value, found: &mut Vec<String>) {
    let named_by_tokens = ["choices.logprobs.top_logprobs", "prompt_logprobs"].contains(&at);
    match value {
        Value::Null => {}
        Value::Array(list) => list.iter().for_each(|value| fields(at, value, found)),
        Value::Object(object) if !named_by_tokens => object.iter().for_each(|(name, value)| {
            let name = if ["message", "delta"].contains(&name.as_str()) { "said" } else { name };
            fields(format!("{at}.{name}").trim_start_matches('.'), value, found);
        }),
        _ => found.push(at.to_owned()),
    }
}

#[test]
fn every_field_of_every_answer_is_read_or_carries_nothing() {
    let folder = format!("{}/tests/shapes", env!("CARGO_MANIFEST_DIR"));
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for file in names.filter(|name| SERVERS.iter().any(|server| name.starts_with(server))) {
        let text = shape(&file);
        let events =
            text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|event| *event != "[DONE]");
        let bodies: Vec<&str> = if file.ends_with(".txt") { events.collect() } else { vec![&text] };
        for body in bodies {
            let body: Value = serde_json::from_str(body).unwrap();
            let mut found = Vec::new();
            if body.get("choices").is_some() {
                fields("", &body, &mut found);
            }
            // Beside the counts llama.cpp's times are times.
            let known =
                |field: &str| READ.contains(&field) || LEFT.contains(&field) || field.starts_with("timings.");
            assert_eq!(found.iter().find(|field| !known(field)), None, "{file}");
        }
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
