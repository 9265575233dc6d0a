//! `merit rollout --model`: any model as the agent in a world.

use crate::models::made::{TEMPLATE, gguf};
use crate::models::process::merit;
use merit_endpoint::{Reply, ScriptedServer};
use serde_json::{Value, json};

/// What a careful buyer of one thing would do next, read off the conversation as the server gets it.
pub(crate) fn careful(messages: &[Value]) -> String {
    let text = |message: &Value| message["content"].as_str().unwrap().to_owned();
    let bought = text(&messages[0]);
    let words: Vec<&str> = bought.trim_end_matches(". total?").split(' ').collect();
    let (sign, count, item) = (words[0], words[1], words[2]);
    let sign = if sign == "buy" { "" } else { "-" };
    match messages.len() {
        1 => format!("lookup {item}"),
        3 => format!("calc {sign}{count}*{}", text(&messages[2])),
        _ => format!("answer {}", text(&messages[4])),
    }
}

const ONE_ENTRY: [&str; 4] = ["--set", "world.sizes=[1]", "--set", "world.held_out_sizes=[1]"];

fn rollout(model: &str, more: &[&str]) -> crate::models::process::Said {
    merit(&[&["rollout", "ledger-tools", "--json", "--model", model], &ONE_ENTRY[..], more].concat(), "")
}

#[test]
fn a_model_behind_an_endpoint_plays_and_is_scored_like_any_agent() {
    let server =
        ScriptedServer::start(|asked| Reply::chat(&careful(asked.body["messages"].as_array().unwrap())))
            .unwrap();
    let said = rollout(&format!("{}#careful", server.base_url()), &["--tasks", "4"]).well();
    let lines = said.json();
    assert_eq!(lines.len(), 4);
    for line in lines {
        assert_eq!(line["outcome"], "solved", "{line}");
        // Nobody knows how likely its words were, so nobody trains on them.
        assert_eq!(line["episode"]["transcript"][1]["provenance"], "synthetic");
    }
}

#[test]
fn an_endpoint_that_breaks_is_a_failure_of_ours_and_no_wrong_answer() {
    let server =
        ScriptedServer::start(|_| Reply::json(400, &json!({ "error": { "message": "no such model" } })))
            .unwrap();
    let said = rollout(&format!("{}#gone", server.base_url()), &["--tasks", "1"]);
    assert_eq!((said.code, said.err.as_str()), (Some(1), "merit: 1 of 1 failed: 1 server said 400\n"));
    let line = &said.json()[0];
    assert_eq!(line["episode"]["end"]["type"], "failed", "{line}");
    assert_eq!(line["episode"]["end"]["fault"]["cause"], "server said 400");
    assert_eq!(line["reward"], Value::Null);
}

#[test]
fn failures_are_told_in_words_and_counted_by_their_cause() {
    let server = ScriptedServer::start(|asked| match asked.number {
        0 | 2 => Reply::json(400, &json!({ "error": { "message": "no such model" } })),
        1 => Reply::json(200, &json!({ "choices": [] })),
        _ => Reply::chat("answer 1"),
    })
    .unwrap();
    let model = format!("{}#shaky", server.base_url());
    let words = [&["rollout", "ledger-tools", "--model", &model, "--tasks", "4"], &ONE_ENTRY[..]].concat();
    let said = merit(&words, "").well();
    assert!(said.out.contains("broke (model): the sampler failed: http://127.0.0.1"), "{}", said.out);
    assert!(said.out.contains("refused (HTTP 400): no such model"), "{}", said.out);
    assert!(
        said.out.ends_with("3 of 4 failed: 2 server said 400, 1 answer not understood\n"),
        "{}",
        said.out
    );
}

#[test]
fn a_server_is_offered_the_worlds_tools_by_the_protocol_where_that_is_asked_for() {
    let server = ScriptedServer::start(|asked| {
        let messages = asked.body["messages"].as_array().unwrap();
        let names: Vec<&str> = asked.body["tools"].as_array().into_iter().flatten().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["lookup", "calc", "answer"]);
        let next = careful(messages);
        let Some((tool, input)) = next.split_once(' ').filter(|(verb, _)| *verb != "answer") else {
            return Reply::chat(&next);
        };
        assert!(messages.iter().skip(2).step_by(2).all(|m| m["role"] == "tool" && m["tool_call_id"].is_string()));
        let property = if tool == "calc" { "expression" } else { "name" };
        let function = json!({ "name": tool, "arguments": json!({ property: input }).to_string() });
        let message = json!({ "content": null, "tool_calls": [{ "id": "x", "type": "function", "function": function }] });
        Reply::json(200, &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] }))
    })
    .unwrap();
    let model = format!("{}#careful", server.base_url());
    let said = rollout(&model, &["--tasks", "4", "--native-tools"]).well();
    for line in said.json() {
        assert_eq!(line["outcome"], "solved", "{line}");
    }
}

#[test]
fn another_machine_is_asked_only_when_it_is_allowed() {
    rollout("http://192.0.2.1/v1#m", &["--tasks", "1"]).refused("--remote");
    let teacher = "roles.teacher={type='openai', endpoint={base_url='https://192.0.2.1/v1', model='m'}}";
    merit(&["rollout", "ledger-tools", "--role", "teacher", "--set", teacher], "").refused("`remote = true`");
}

#[test]
fn a_model_from_a_file_plays_by_its_own_template() {
    let folder = tempfile::tempdir().unwrap();
    let model = gguf(folder.path(), Some(TEMPLATE)).display().to_string();
    let said = rollout(&model, &["--tasks", "2", "--set", "rollout.max_turn_tokens=6"]).well();
    for line in said.json() {
        assert_eq!(line["episode"]["transcript"][1]["provenance"], "sampled", "{line}");
    }
    let bare = tempfile::tempdir().unwrap();
    let bare = gguf(bare.path(), None).display().to_string();
    let said = rollout(&bare, &[]);
    assert!(said.err.contains("has no chat template"), "{}", said.err);
    rollout(&model, &["--api-key-env", "KEY"]).refused("--api-key-env KEY is for a server");
    rollout(&model, &["--remote"]).refused("--remote is for a server");
    rollout(&model, &["--native-tools"]).refused("--native-tools is for a server");
}
