//! What servers say, read right: whole and in pieces, with log-probabilities, token ids, calls and counts.

use crate::support;

use crate::support::{ask, ask_with, choice, config, delta, ended, open, server};
use merit_core::TokenId;
use merit_endpoint::{
    Answer, ChatMessage, ChatRequest, ChatRole, EndpointConfig, EndpointError, Finish, FunctionCall,
    FunctionSpec, Params, Piece, Prompt, Reply, ScriptedServer, Server, TextRequest, Usage, wait,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn ids(numbers: &[u32]) -> Vec<TokenId> {
    numbers.iter().copied().map(TokenId).collect()
}

fn vllm(server: &ScriptedServer, stream: bool) -> EndpointConfig {
    EndpointConfig { server: Server::Vllm, stream, ..config(server) }
}

fn tokens_wanted() -> Params {
    Params { logprobs: Some(1), token_ids: true, ..Params::default() }
}

fn scores(answer: &Answer) -> Vec<f32> {
    answer.logprobs.iter().flatten().map(|score| score.logprob).collect()
}

#[test]
fn a_question_is_sent_as_the_protocol_says_and_its_answer_read() {
    let usage = json!({ "prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": { "cached_tokens": 8 } });
    let server = server(move |_| {
        let mut answer = choice("four", &json!({}));
        answer["usage"] = usage.clone();
        Reply::json(200, &answer)
    });
    let endpoint = open(&config(&server));
    let params = Params { temperature: Some(0.7), max_tokens: Some(16), ..Params::default() };
    let messages = [ChatMessage::system("be brief"), ChatMessage::user("2+2?")];
    let answer = wait(endpoint.complete(&messages, &params)).unwrap();
    assert_eq!(
        (answer.text.as_str(), &answer.finish, answer.model.as_str()),
        ("four", &Finish::Stop, "scripted")
    );
    let counted = Usage { prompt_tokens: 12, cached_tokens: 8, completion_tokens: 3, ..Usage::default() };
    assert_eq!(answer.usage, Some(counted));
    let asked = &server.asked()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    let body = json!({ "model": "tiny", "temperature": 0.7, "max_tokens": 16,
                       "messages": [{ "role": "system", "content": "be brief" }, { "role": "user", "content": "2+2?" }] });
    assert_eq!(asked.body, body);
    assert!(!asked.headers.contains_key("authorization"));
}

#[test]
fn a_streamed_answer_is_the_whole_answer_and_is_heard_piece_by_piece() {
    let server = server(|_| {
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 4, "completion_tokens": 2 } });
        Reply::stream_head()
            .then_raw(": a comment\r\n\r\n")
            .then_event(&delta(&json!({ "role": "assistant", "content": "" })))
            .then_event(&delta(&json!({ "reasoning_content": "hm" })))
            .then_event(&delta(&json!({ "content": "Grü" })))
            .then_raw("data: {\"choices\":[{\"delta\":")
            .then_raw("{\"content\":\"ße\"}}]}\n\n")
            .then_event(&ended("length"))
            .then_event(&usage)
            .then_raw("data: [DONE]\n\n")
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    let endpoint = open(&config(&server));
    let answer = wait(endpoint.chat_aloud(&ask("?"), move |piece| ear.lock().unwrap().push(piece))).unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.reasoning.as_str(), &answer.finish),
        ("Grüße", "hm", &Finish::Length)
    );
    assert_eq!(answer.usage.map(|usage| usage.completion_tokens), Some(2));
    let text = |text: &str| Piece::Text(text.to_owned());
    assert_eq!(*heard.lock().unwrap(), [Piece::Reasoning("hm".into()), text("Grü"), text("ße")]);
    let body = &server.asked()[0].body;
    assert_eq!((&body["stream"], &body["stream_options"]["include_usage"]), (&json!(true), &json!(true)));
}

#[test]
fn a_server_that_does_not_stream_when_asked_to_is_understood() {
    let server = server(|_| Reply::chat("at once"));
    let endpoint = open(&EndpointConfig { stream: true, ..config(&server) });
    assert_eq!(wait(endpoint.chat(&ask("?"))).unwrap().text, "at once");
}

#[test]
fn a_stream_without_its_last_mark_is_whole_when_it_says_why_it_ended() {
    let server = server(|_| {
        Reply::stream_head()
            .then_event(&delta(&json!({ "content": "ok" })))
            .then_raw(&format!("data: {}", ended("stop")))
    });
    let endpoint = open(&EndpointConfig { stream: true, ..config(&server) });
    assert_eq!(wait(endpoint.chat(&ask("?"))).unwrap().text, "ok");
}

#[test]
fn token_ids_and_log_probabilities_agree_whole_and_streamed() {
    let entry = |token: &str, logprob: f32| {
        json!({ "token": token, "logprob": logprob, "bytes": null,
                                                   "top_logprobs": [{ "token": "z", "logprob": -0.1 }] })
    };
    let server = server(move |asked| {
        let (a, b) = (entry("a", -0.25), entry("b", -0.5));
        if asked.body["stream"] == true {
            let chunk = |text: &str, id: u32, score: &Value| {
                json!({ "choices": [{ "index": 0, "delta": { "content": text }, "token_ids": [id],
                                      "logprobs": { "content": [score] }, "finish_reason": null }] })
            };
            let first = json!({ "prompt_token_ids": [9, 8], "choices": [{ "index": 0, "delta": { "role": "assistant" } }] });
            return Reply::stream(&[first, chunk("a", 5, &a), chunk("b", 6, &b), ended("stop")]);
        }
        let more = json!({ "token_ids": [5, 6], "logprobs": { "content": [a, b] }, "stop_reason": "b" });
        let mut answer = choice("ab", &more);
        answer["prompt_token_ids"] = json!([9, 8]);
        Reply::json(200, &answer)
    });
    for stream in [false, true] {
        let answer = wait(open(&vllm(&server, stream)).chat(&ask_with("?", tokens_wanted()))).unwrap();
        assert_eq!(answer.text, "ab");
        assert_eq!(answer.tokens, Some(ids(&[5, 6])));
        assert_eq!(answer.prompt_tokens, Some(ids(&[9, 8])));
        assert_eq!(scores(&answer), [-0.25, -0.5]);
        assert_eq!(answer.logprobs.unwrap()[0].top[0].token, "z");
        assert_eq!(answer.stopped_by.as_deref(), if stream { None } else { Some("b") });
    }
    assert_eq!(server.asked()[0].body["return_token_ids"], true);
}

#[test]
fn tokens_are_continued_as_they_are_and_plain_log_probabilities_read() {
    let server = server(|_| {
        let logprobs = json!({ "tokens": ["x", "y"], "token_logprobs": [-1.0, -2.0], "top_logprobs": [{ "x": -1.0 }, null],
                               "text_offset": [0, 1] });
        let choice = json!({ "index": 0, "text": "xy", "finish_reason": "length", "logprobs": logprobs,
                             "token_ids": [3, 4], "prompt_token_ids": [1, 2] });
        Reply::json(200, &json!({ "choices": [choice] }))
    });
    let request = TextRequest { prompt: Prompt::Tokens(ids(&[1, 2])), params: tokens_wanted() };
    let answer = wait(open(&vllm(&server, false)).continue_text(&request)).unwrap();
    assert_eq!((answer.tokens.clone(), scores(&answer)), (Some(ids(&[3, 4])), vec![-1.0, -2.0]));
    assert_eq!(answer.prompt_tokens, Some(ids(&[1, 2])));
    let asked = &server.asked()[0];
    assert_eq!(
        (asked.path.as_str(), &asked.body["prompt"], &asked.body["logprobs"]),
        ("/v1/completions", &json!([1, 2]), &json!(1))
    );
}

#[test]
fn ids_beside_the_log_probabilities_are_found() {
    let server = server(|_| {
        let content = json!([{ "id": 11, "token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [] }]);
        Reply::json(200, &choice("a", &json!({ "logprobs": { "content": content } })))
    });
    let llama = EndpointConfig { server: Server::LlamaCpp, ..config(&server) };
    let answer = wait(open(&llama).chat(&ask_with("?", tokens_wanted()))).unwrap();
    assert_eq!(answer.tokens, Some(ids(&[11])));
}

#[test]
fn what_was_asked_for_and_is_not_there_is_an_error_that_names_it() {
    let cases = [
        (json!({}), "no `logprobs`"),
        (json!({ "logprobs": { "content": [{ "token": "a", "logprob": -1 }] } }), "no token ids"),
        (
            json!({ "logprobs": { "content": [{ "token": "a", "logprob": -1 }] }, "token_ids": [1, 2] }),
            "2 token ids but 1",
        ),
        (
            json!({ "logprobs": { "content": [{ "token": "a", "logprob": null }] } }),
            "choices[0].logprobs.content[0] has no `logprob`",
        ),
        (json!({ "token_ids": [-3] }), "choices[0].token_ids[0] is -3, not a token id"),
    ];
    for (more, says) in cases {
        let answer = choice("a", &more);
        let server = server(move |_| Reply::json(200, &answer));
        let error = wait(open(&vllm(&server, false)).chat(&ask_with("?", tokens_wanted()))).unwrap_err();
        assert!(matches!(error, EndpointError::Malformed { .. }), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

fn weather() -> ChatRequest {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    let tool = FunctionSpec { name: "weather".into(), description: "the weather".into(), parameters };
    let call = FunctionCall { id: "call_0".into(), name: "weather".into(), arguments: "{}".into() };
    let asked = ChatMessage { tool_calls: vec![call], ..ChatMessage::new(ChatRole::Assistant, "") };
    let told = ChatMessage {
        tool_call_id: Some("call_0".into()),
        ..ChatMessage::new(ChatRole::Tool, "which city?")
    };
    let params = Params { tool_choice: Some(json!("auto")), ..Params::default() };
    ChatRequest { messages: vec![ChatMessage::user("rain?"), asked, told], tools: vec![tool], params }
}

#[test]
fn calls_are_put_together_from_their_pieces() {
    let server = server(|asked| {
        let call = |index: u32, id: Option<&str>, name: Option<&str>, arguments: &str| {
            delta(&json!({ "tool_calls": [{ "index": index, "id": id, "type": "function",
                                            "function": { "name": name, "arguments": arguments } }] }))
        };
        if asked.body["stream"] == true {
            return Reply::stream(&[
                call(0, Some("a"), Some("weather"), ""),
                call(0, None, None, "{\"city\""),
                call(0, None, None, ":\"Bonn\"}"),
                call(1, Some("b"), Some("weather"), "{}"),
                ended("tool_calls"),
            ]);
        }
        let calls = json!([
            { "id": "a", "type": "function", "function": { "name": "weather", "arguments": "{\"city\":\"Bonn\"}" } },
            { "id": "b", "type": "function", "function": { "name": "weather", "arguments": {} } } ]);
        let message = json!({ "content": null, "tool_calls": calls });
        Reply::json(200, &json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }))
    });
    for stream in [false, true] {
        let answer = wait(open(&EndpointConfig { stream, ..config(&server) }).chat(&weather())).unwrap();
        let call = |id: &str, arguments: &str| FunctionCall {
            id: id.into(),
            name: "weather".into(),
            arguments: arguments.into(),
        };
        assert_eq!(answer.tool_calls, [call("a", "{\"city\":\"Bonn\"}"), call("b", "{}")]);
        assert_eq!((answer.text.as_str(), &answer.finish), ("", &Finish::ToolCalls));
    }
    let body = &server.asked()[0].body;
    assert_eq!(body["tools"][0]["function"]["name"], "weather");
    assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["arguments"], "{}");
    assert_eq!(body["messages"][2]["tool_call_id"], "call_0");
}

#[test]
fn a_stop_is_kept_at_the_end_also_where_the_server_would_remove_it() {
    let server = server(|asked| {
        assert!(asked.body.get("stop").is_none(), "this server would remove it");
        if asked.body["stream"] == true {
            let tail = Reply::stream_head().then_event(&delta(&json!({ "content": "one\ntw" })));
            return tail.then_event(&delta(&json!({ "content": "o" }))).then_hang();
        }
        Reply::json(200, &choice("one\ntwo", &json!({})))
    });
    for stream in [false, true] {
        let endpoint = open(&EndpointConfig { stream, ..config(&server) });
        let params = Params { stop: vec!["zz".into(), "\n".into()], ..Params::default() };
        let answer = wait(endpoint.chat(&ask_with("?", params))).unwrap();
        assert_eq!((answer.text.as_str(), answer.stopped_by.as_deref()), ("one\n", Some("\n")));
        assert_eq!(answer.finish, Finish::Stop);
    }
    assert!(support::eventually(|| server.left_early() == 1), "nobody reads what nobody wants");
}

#[test]
fn texts_become_vectors_in_order_over_several_requests() {
    let server = server(|asked| {
        let texts = asked.body["input"].as_array().unwrap();
        let data = texts.iter().enumerate().rev();
        let data = data
            .map(|(index, text)| json!({ "index": index, "embedding": [text.as_str().unwrap().len(), 0.5] }));
        Reply::json(200, &json!({ "data": data.collect::<Vec<_>>() }))
    });
    let endpoint = open(&EndpointConfig { embed_batch: 2, ..config(&server) });
    let vectors = wait(endpoint.embeddings(&["a", "bb", "ccc"])).unwrap();
    assert_eq!(vectors, [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]]);
    assert_eq!(server.asked().len(), 2);
    assert_eq!(wait(endpoint.embeddings(&[])).unwrap(), Vec::<Vec<f32>>::new());
}

#[test]
fn models_are_listed() {
    let server = server(|asked| {
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("GET", "/v1/models"));
        Reply::json(200, &json!({ "data": [{ "id": "tiny", "max_model_len": 2048 }] }))
    });
    let cards = wait(open(&config(&server)).models()).unwrap();
    assert_eq!((cards[0].id.as_str(), cards[0].context_limit), ("tiny", Some(2048)));
}
