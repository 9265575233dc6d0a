//! The official Python SDK lists and calls our served tools.

use crate::support::tools::{Counters, served};
use crate::support::{example, peers, soon};
use merit_mcp::{serve_http, wait};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;

/// What the SDK saw, by the way it opens the protocol.
fn seen(words: &[&str]) -> Option<Value> {
    let python = peers::python()?.join("python");
    let output = Command::new(python).arg(peers::script("list_and_call.py")).args(words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn check(seen: &Value) {
    for mode in ["auto", "legacy"] {
        let seen = &seen[mode];
        assert_eq!(seen["server"], "merit-test", "{mode}");
        assert_eq!(seen["version"], "2025-11-25", "{mode}");
        assert_eq!(seen["instructions"], "Add before you count.", "{mode}");
        assert_eq!(
            seen["tools"],
            json!(["add", "echo", "count", "sleep", "broken", "die", "pid", "big"]),
            "{mode}"
        );
        assert_eq!(seen["add_schema"]["required"], json!(["a", "b"]), "{mode}");
        let sums: Vec<String> = (0..50).map(|n| (2 * n).to_string()).collect();
        assert_eq!(seen["sums"], json!(sums), "{mode}");
        assert_eq!(seen["counts"], json!(["1", "2", "3"]), "{mode}: a session counts for itself");
        assert_eq!(seen["wrong"], json!([true, "give `a` and `b` as whole numbers"]), "{mode}");
        assert_eq!(seen["unknown"], json!([-32602, "no tool `cuont`; did you mean `count`?"]), "{mode}");
        assert_eq!(seen["broken"], json!([-32603, "the disk is on fire"]), "{mode}");
    }
}

#[test]
fn the_python_sdk_uses_our_tools_over_standard_streams() {
    if let Some(seen) = seen(&["stdio", &example("served")]) {
        check(&seen);
    }
}

#[test]
fn the_python_sdk_uses_our_tools_over_http() {
    let counters = Arc::new(Counters::default());
    let (tools, info) = served(&counters);
    let server = wait(serve_http(tools, "127.0.0.1:0".parse().unwrap(), info)).unwrap();
    if let Some(seen) = seen(&["http", &server.url()]) {
        check(&seen);
        let freed = || counters.open.lock().unwrap().is_empty() && counters.closed.lock().unwrap().len() == 2;
        assert!(soon(freed), "the sessions of the SDK were not freed");
    }
}
