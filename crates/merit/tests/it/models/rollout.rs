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
    let said = rollout(&format!("{}#gone", server.base_url()), &["--tasks", "1"]).well();
    let line = &said.json()[0];
    assert_eq!(line["episode"]["end"]["type"], "failed", "{line}");
    assert_eq!(line["reward"], Value::Null);
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
}
