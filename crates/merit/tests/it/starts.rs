//! When a tool's server is started: never by a check, never by a replay, once by a training run.

use crate::tiny::{Said, say};
use std::path::Path;

/// A server of the Model Context Protocol with one tool, which writes a line to `starts` when it is started.
const SERVER: &str = r#"
import json, sys
open("starts", "a").write("started\n")
tool = {"name": "double", "description": "Twice a number.", "inputSchema": {
    "type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}}
for line in sys.stdin:
    ask = json.loads(line)
    if "id" not in ask:
        continue
    method, params = ask["method"], ask.get("params", {})
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "doubles", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [tool]}
    elif method == "tools/call":
        text = str(2 * int(params["arguments"]["n"]))
        result = {"content": [{"type": "text", "text": text}]}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": result}), flush=True)
"#;

const RECIPE: &str = r#"
name = "doubles"
about = "a tool of a server that counts its starts"

[world]
type = "tasks"
file = "tasks.jsonl"
advertise = false
answer_mark = "Answer:"
calls = { type = "fenced" }
tools = [{ type = "mcp", stateless = true, server = { command = ["python3", "server.py"] } }]

[model]
vocabulary = 300
layers = 1
width = 16
heads = 2
kv_heads = 1
feed_forward = 32
context = 256

[warm_start]
demonstrations = 8
skill = 1.0
steps = 4
batch = 4

[rollout]
max_turns = 2
max_turn_tokens = 24
max_episode_tokens = 64

[reward]
type = "exact-answer"

[credit]
type = "grpo"

[budget]
steps = 2
groups = 2
group_size = 2

[evaluation]
tasks = 2
every = 0
"#;

fn prepare(dir: &Path) {
    let line = |n: u32| {
        let split = if n.is_multiple_of(4) { "held-out" } else { "train" };
        serde_json::json!({
            "prompt": format!("twice {n}?"), "answer": (2 * n).to_string(), "split": split,
            "gold_moves": [
                { "type": "call", "tool": "double", "input": format!("{{\"n\":\"{n}\"}}") },
                { "type": "answer", "text": (2 * n).to_string() },
            ],
        })
    };
    let tasks: Vec<String> = (1..=16).map(|n| line(n).to_string()).collect();
    for (name, text) in [
        ("server.py", SERVER.to_owned()),
        ("recipe.toml", RECIPE.to_owned()),
        ("tasks.jsonl", tasks.join("\n")),
    ] {
        std::fs::write(dir.join(name), text).unwrap();
    }
}

/// Runs a command; says how often the server was started meanwhile.
fn starts_of(dir: &Path, arguments: &[&str]) -> (usize, Said) {
    let count = || std::fs::read_to_string(dir.join("starts")).map_or(0, |text| text.lines().count());
    let before = count();
    let said = say(dir, arguments).well();
    (count() - before, said)
}

#[test]
fn a_server_is_started_by_training_once_and_by_checks_and_replays_never() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let dir = dir.path();
    assert_eq!(starts_of(dir, &["recipe", "check", "recipe.toml"]).0, 0);
    let (starts, live) =
        starts_of(dir, &["rollout", "recipe.toml", "--json", "--tasks", "3", "--record", "calls.tape"]);
    assert_eq!(starts, 1);
    assert!(live.out.contains("double"), "{}", live.out);
    // A machine without the server.
    std::fs::rename(dir.join("server.py"), dir.join("gone.py")).unwrap();
    let replay = ["rollout", "recipe.toml", "--json", "--tasks", "3", "--replay", "calls.tape"];
    assert_eq!(starts_of(dir, &replay).0, 0);
    assert_eq!(starts_of(dir, &["recipe", "check", "recipe.toml"]).0, 0);
    std::fs::rename(dir.join("gone.py"), dir.join("server.py")).unwrap();
    assert_eq!(starts_of(dir, &["train", "recipe.toml", "--run", "run"]).0, 1);
}
