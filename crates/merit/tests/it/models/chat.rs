//! `merit chat`, with a model in the process and with a server.

use crate::models::made::{TEMPLATE, gguf, smollm};
use crate::models::process::{MERIT, merit};
use merit_endpoint::{Reply, ScriptedServer};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

#[test]
fn every_line_is_answered_and_the_same_seed_says_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), Some(TEMPLATE)).display().to_string();
    let talk = |seed: &str, threads: &str| {
        let words = [
            "chat",
            &model,
            "--max-tokens",
            "12",
            "--seed",
            seed,
            "--threads",
            threads,
            "--stats",
            "--system",
            "Be brief.",
        ];
        merit(&words, "hello\n\nthe other\n").well()
    };
    let (one, two) = (talk("3", "1"), talk("3", "2"));
    assert_eq!(one.out, two.out);
    assert!(one.err.contains("2 answers: ") && one.err.contains("tokens/s"), "{}", one.err);
    assert!(one.err.starts_with("[the answer is cut"), "twelve tokens are not enough: {}", one.err);
    assert_ne!(one.out, talk("4", "1").out);
}

#[test]
fn an_answer_shows_nothing_that_a_terminal_would_obey() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), Some(TEMPLATE)).display().to_string();
    let said = merit(&["chat", &model, "--max-tokens", "200", "--temperature", "2"], "go on\n").well();
    let bad = said.out.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(bad, None, "{:?}", said.out);
}

#[test]
fn a_conversation_that_fills_the_context_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), Some(TEMPLATE)).display().to_string();
    let long = format!("{}\n", "word ".repeat(100));
    merit(&["chat", &model, "--context", "128"], &long).refused("the context holds 128");
}

#[test]
fn what_cannot_be_talked_to_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let bare = gguf(folder.path(), None).display().to_string();
    merit(&["chat", &bare], "hi\n").refused("has no chat template");
    merit(&["chat", "/nowhere.gguf"], "hi\n").refused("/nowhere.gguf");
    merit(&["chat", &bare, "--context", "1000"], "hi\n").refused("holds 256 tokens at most");
    let other = tempfile::tempdir().unwrap();
    let made_for_chats = gguf(other.path(), Some(TEMPLATE)).display().to_string();
    merit(&["chat", &made_for_chats, "--top-p", "1.5"], "hi\n").refused("top_p 1.5");
    merit(&["chat", &bare, "--api-key-env", "KEY"], "hi\n").refused("--api-key-env KEY is for a server");
    merit(&["chat", "http://127.0.0.1:9/v1"], "hi\n").refused("names no model");
    merit(&["chat", "http://127.0.0.1:9/v1#m", "--threads", "2"], "hi\n")
        .refused("--threads is for a model in this");
    merit(&["chat", "http://192.0.2.1/v1#m"], "hi\n").refused("is another machine");
    merit(&["chat", "https://192.0.2.1/v1#m"], "hi\n").refused("--remote");
    merit(&["chat", "http://192.0.2.1/v1#m", "--remote", "--api-key-env", "PATH"], "hi\n")
        .refused("anybody on the way could read the key");
    merit(&["chat", "https://127.0.0.1:9/v1#m", "--ca-file", "/nowhere.pem"], "hi\n").refused("/nowhere.pem");
}

/// What a chat says and remarks when a server answers so.
fn remarked(message: &serde_json::Value, finish: &str) -> (String, String) {
    let delta = json!({ "choices": [{ "index": 0, "delta": message }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
    let server = ScriptedServer::start(move |_| Reply::stream(&[delta.clone(), end.clone()])).unwrap();
    let said = merit(&["chat", &format!("{}#tiny", server.base_url())], "hi\n").well();
    (said.out, said.err)
}

#[test]
fn no_answer_is_silent() {
    let said = |message, finish, out: &str, err: &str| {
        assert_eq!(remarked(&message, finish), (out.to_owned(), err.to_owned()));
    };
    said(json!({ "content": "hello" }), "stop", "hello\n", "");
    said(json!({ "content": "" }), "stop", "\n", "[the answer is empty]\n");
    said(
        json!({ "reasoning": "hm" }),
        "stop",
        "[thinking] hm\n",
        "[it was only thought: nothing was said]\n",
    );
    said(json!({ "reasoning": "hm", "content": "yes" }), "stop", "[thinking] hm\n\nyes\n", "");
    said(
        json!({ "content": "and so" }),
        "length",
        "and so\n",
        "[the answer is cut: it has as many tokens as were allowed; give --max-tokens]\n",
    );
    said(json!({ "refusal": "I will not." }), "stop", "\n", "[the model refuses: I will not.]\n");
    said(json!({}), "content_filter", "\n", "[the server's filter took the answer away]\n");
    let call = json!({ "index": 0, "id": "a", "function": { "name": "ls", "arguments": "{}" } });
    said(
        json!({ "tool_calls": [call] }),
        "tool_calls",
        "\n",
        "[it calls `ls` {}, and a chat has no tools]\n",
    );
}

#[test]
fn an_answer_that_breaks_off_is_a_failure_and_one_sent_at_once_is_shown() {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": "half" } }] });
    let server = ScriptedServer::start(move |_| Reply::stream_head().then_event(&delta)).unwrap();
    let said = merit(&["chat", &format!("{}#tiny", server.base_url())], "hi\n");
    assert_eq!((said.code, said.out.as_str()), (Some(1), "half\n"));
    assert!(said.err.contains("broke off after 1 pieces"), "{}", said.err);
    let server = ScriptedServer::start(|_| Reply::chat("at once")).unwrap();
    let said = merit(&["chat", &format!("{}#tiny", server.base_url())], "hi\n").well();
    assert_eq!(said.out, "at once\n");
}

#[test]
fn a_server_is_asked_with_the_whole_conversation_and_heard_as_it_speaks() {
    let delta = |text: &str| json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
                      "usage": { "prompt_tokens": 7, "completion_tokens": 2 } });
    let server = ScriptedServer::start(move |asked| {
        let messages = asked.body["messages"].as_array().unwrap().len();
        Reply::stream(&[delta("seen "), delta(&messages.to_string()), end.clone()])
    })
    .unwrap();
    let model = format!("{}#tiny", server.base_url());
    let said = merit(&["chat", &model, "--system", "Be brief.", "--stats"], "one\ntwo\n").well();
    assert_eq!(said.out, "seen 2\nseen 4\n");
    assert!(said.err.contains("2 answers: 14 tokens read, 4 tokens written"), "{}", said.err);
}

#[test]
fn ctrl_c_ends_the_answer_and_not_the_chat() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start(|asked| {
        let first = json!({ "choices": [{ "index": 0, "delta": { "content": "begun" } }] });
        if asked.number == 0 { Reply::stream_head().then_event(&first).then_hang() } else { Reply::chat("x") }
    })
    .unwrap();
    let model = format!("{}#tiny", server.base_url());
    let mut child = Command::new(MERIT)
        .args(["chat", &model])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\n").unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut begun = [0; 5];
    output.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"begun");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut ended = [0; 1];
    output.read_exact(&mut ended).unwrap();
    assert_eq!(&ended, b"\n");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn smollm2_knows_the_capital_of_france() {
    let Some(model) = smollm() else { return };
    let model = model.display().to_string();
    let words = ["chat", &model, "--temperature", "0", "--max-tokens", "24", "--context", "512"];
    let said = merit(&words, "What is the capital of France?\n").well();
    assert!(said.out.contains("Paris"), "{}", said.out);
}
