//! `merit generate`: lines in, completions out in their order, whatever the batch.

use crate::models::made::{TEMPLATE, gguf, smollm};
use crate::models::process::{MERIT, merit};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

const LINES: &str = r#"{"prompt": "the cat", "max_tokens": 5, "id": "a"}
{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}], "n": 3, "max_tokens": 9}

{"prompt": "the", "max_tokens": 20, "temperature": 0.0, "logprobs": 2}
{"prompt": "the", "max_tokens": 3, "seed": 7}
{"prompt": "the", "max_tokens": 3, "seed": 7}
{"prompt": "same", "max_tokens": 12}
{"prompt": "same", "max_tokens": 12}
"#;

fn model(folder: &tempfile::TempDir) -> String {
    gguf(folder.path(), Some(TEMPLATE)).display().to_string()
}

#[test]
fn the_output_has_the_order_of_the_input_and_the_same_bits_at_any_batch_and_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(&folder);
    let run = |batch: &str, threads: &str| {
        merit(&["generate", &model, "--batch", batch, "--threads", threads], LINES).well()
    };
    let one = run("1", "1");
    for (batch, threads) in [("2", "1"), ("16", "1"), ("16", "2")] {
        assert_eq!(one.out, run(batch, threads).out, "batch {batch}, {threads} threads");
    }
    let told = one.json();
    let places: Vec<(u64, u64)> =
        told.iter().map(|line| (line["line"].as_u64().unwrap(), line["sample"].as_u64().unwrap())).collect();
    assert_eq!(places, [(1, 0), (2, 0), (2, 1), (2, 2), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0)]);
    assert_eq!((&told[0]["id"], &told[1]["id"]), (&json!("a"), &Value::Null));
    let tokens = |at: usize| told[at]["tokens"].as_array().unwrap();
    assert!(tokens(1) != tokens(2) && tokens(2) != tokens(3), "samples of a line differ");
    assert_eq!(tokens(5), tokens(6), "the same seed says the same");
    assert_ne!(tokens(7), tokens(8), "lines differ by their place");
    assert!(tokens(0).len() <= 5 && told[0].get("logprobs").is_none());
    let scores = told[4]["logprobs"].as_array().unwrap();
    let tops = told[4]["top_logprobs"].as_array().unwrap();
    assert_eq!((scores.len(), tops.len()), (tokens(4).len(), tokens(4).len()));
    assert!(
        tops.iter()
            .zip(scores)
            .all(|(top, score)| top.as_array().unwrap().len() == 2 && top[0]["logprob"] == *score)
    );
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (model, lines) = (model(&folder), folder.path().join("lines.jsonl"));
    std::fs::write(&lines, LINES).unwrap();
    let path = lines.to_str().unwrap();
    let said = merit(&["generate", &model, "--input", path, "--output", path, "--force"], "");
    assert!(said.code == Some(2) && said.err.contains("is what is read"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(&lines).unwrap(), LINES);
}

#[test]
fn a_line_that_cannot_be_used_is_an_error_in_its_place_and_stops_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(&folder);
    let lines = r#"{"promt": "x"}
{"prompt": "x", "max_tokens": 2}
not json
{"prompt": "x", "messages": []}
{"prompt": "x", "top_p": 1.5}
{"messages": [{"role": "usr", "content": "x"}]}
{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
{"prompt": "x", "regex": "("}
{"prompt": "x", "n": 0}
{"id": 9, "prompt": "x", "max_tokens": 0}
{"prompt": "LONG"}
"#
    .replace("LONG", &"word ".repeat(100));
    let said = merit(&["generate", &model], &lines);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("10 of 11 lines have an error"), "{}", said.err);
    let told = said.json();
    assert_eq!(
        told.iter().map(|line| line["line"].as_u64().unwrap()).collect::<Vec<_>>(),
        (1..=11).collect::<Vec<_>>()
    );
    let wanted = [
        (0, "line", "did you mean `prompt`?"),
        (2, "line", "not JSON"),
        (3, "line", "both `prompt` and `messages`"),
        (4, "params", "top_p 1.5"),
        (5, "conversation", "did you mean `user`?"),
        (6, "conversation", "the last message is the assistant's"),
        (7, "constraint", "regular expression"),
        (8, "line", "`n` is 0"),
        (9, "params", "max_tokens is 0"),
        (10, "context", "the prompt has"),
    ];
    for (at, kind, words) in wanted {
        let error = &told[at]["error"];
        assert!(error["kind"] == kind && error["message"].as_str().unwrap().contains(words), "{error}");
    }
    assert!(told[1]["text"].is_string() && told[9]["id"] == 9);
}

#[test]
fn a_schema_a_pattern_and_stop_texts_shape_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(&folder);
    let lines = r#"{"prompt": "x", "regex": "(yes|no)!", "max_tokens": 50}
{"prompt": "x", "json_schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false}, "max_tokens": 100}
{"prompt": "x", "regex": "[ab]{30}", "stop": ["ab"], "max_tokens": 100}
"#;
    let told = merit(&["generate", &model, "--seed", "5"], lines).well().json();
    assert!(["yes!", "no!"].contains(&told[0]["text"].as_str().unwrap()), "{}", told[0]);
    let value: Value = serde_json::from_str(told[1]["text"].as_str().unwrap()).unwrap();
    assert!(value["ok"].is_boolean() && value.as_object().unwrap().len() == 1);
    let text = told[2]["text"].as_str().unwrap();
    let stopped = told[2]["finish"] == "stop-string";
    assert_eq!((text.find("ab").is_some(), stopped), (stopped, stopped), "{text}");
    assert!(!stopped || text.find("ab") == Some(text.len() - 2), "{text}");
}

#[test]
fn a_line_is_answered_while_the_next_is_not_yet_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(MERIT)
        .args(["generate", &model(&folder), "--max-tokens", "3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in 1..=3 {
        input.write_all(b"{\"prompt\": \"the\"}\n").unwrap();
        let told: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(told["line"], line);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn files_are_read_and_written_and_never_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(&folder);
    let (from, to) = (folder.path().join("in.jsonl"), folder.path().join("out.jsonl"));
    std::fs::write(&from, "{\"prompt\": \"the\", \"max_tokens\": 2}\n").unwrap();
    let (from, to) = (from.display().to_string(), to.display().to_string());
    let words = ["generate", &model, "--input", &from, "--output", &to];
    assert_eq!(merit(&words, "").well().out, "");
    let first = std::fs::read_to_string(&to).unwrap();
    assert_eq!(first.lines().count(), 1);
    merit(&words, "").refused("--force replaces it");
    merit(&[&words[..], &["--force"]].concat(), "").well();
    assert_eq!(std::fs::read_to_string(&to).unwrap(), first);
    merit(&["generate", &model, "--input", "/nowhere"], "").refused("cannot read /nowhere");
    merit(&["generate", "http://127.0.0.1:9/v1#m"], "").refused("`merit chat` talks to servers");
}

#[test]
fn a_message_that_spells_a_mark_of_the_model_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(&folder);
    let ask = |content: &str, extra: Value| {
        let mut messages = vec![json!({"role": "user", "content": content})];
        messages.extend(extra.as_array().unwrap().iter().cloned());
        json!({ "messages": messages, "max_tokens": 1 }).to_string()
    };
    let calls = json!([{ "role": "assistant", "tool_calls": [{ "name": "f", "arguments": {} }] },
                       { "role": "tool", "content": "4" }]);
    let lines =
        [ask("<|im_end|>", json!([])), ask("<|im_end|>", calls.clone()), ask("two", calls)].join("\n");
    let said = merit(&["generate", &model, "--stats"], &lines);
    let told = said.json();
    assert!(told[0]["text"].is_string() && told[2]["text"].is_string(), "{}", said.out);
    assert!(
        told[1]["error"]["message"].as_str().unwrap().contains("message 0 holds `<|im_end|>`"),
        "{}",
        told[1]
    );
}

#[test]
fn smollm2_completes_a_batch_as_it_completes_each_line_alone() {
    let Some(model) = smollm() else { return };
    let model = model.display().to_string();
    let line = |text: &str| {
        json!({"messages": [{"role": "user", "content": text}], "temperature": 0.0, "max_tokens": 12})
            .to_string()
    };
    let lines =
        [line("What is the capital of France?"), line("Say hello."), line("What is 2 + 2?")].join("\n");
    let words = ["generate", &model, "--context", "256"];
    let together = merit(&words, &lines).well();
    assert!(together.json()[0]["text"].as_str().unwrap().contains("Paris"), "{}", together.out);
    let alone = merit(&[&words[..], &["--batch", "1"]].concat(), &lines).well();
    assert_eq!(together.out, alone.out);
}
