//! Our client and our server over standard streams.

use crate::support::{arguments, example, none, runs, served, soon};
use merit_mcp::{Client, McpError, ServerConfig, wait};
use serde_json::json;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

fn text(client: &Client, name: &str, given: serde_json::Value) -> String {
    let outcome = wait(client.call(name, arguments(given))).unwrap();
    assert!(!outcome.is_error, "{}", outcome.text);
    outcome.text
}

#[test]
fn tools_are_listed_and_called_from_ordinary_code() {
    let client = wait(Client::connect(&served())).unwrap();
    let names: Vec<&str> = client.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["add", "echo", "count", "sleep", "broken", "die", "pid", "big"]);
    assert_eq!(client.tools()[0].description, "The add of the test server.");
    assert_eq!(client.tools()[0].input_schema["required"], json!(["a", "b"]));
    assert_eq!(text(&client, "add", json!({"a": 2, "b": 40})), "42");
    assert_eq!(text(&client, "echo", json!({"deep": [1, {"x": "é\n"}]})), r#"{"deep":[1,{"x":"é\n"}]}"#);
    wait(client.close());
}

#[test]
fn what_the_agent_asks_wrongly_is_an_answer_and_what_breaks_is_an_error() {
    let client = wait(Client::connect(&served())).unwrap();
    let wrong = wait(client.call("add", none())).unwrap();
    assert!(wrong.is_error && wrong.text.contains("whole numbers"), "{wrong:?}");
    let unknown = wait(client.call("ad", none())).unwrap();
    assert!(unknown.is_error && unknown.text.contains("did you mean `add`?"), "{unknown:?}");
    let broken = wait(client.call("broken", none())).unwrap_err();
    assert!(matches!(&broken, McpError::Broken { code: -32603, message, .. } if message.contains("fire")));
}

#[test]
fn a_connection_is_a_session_and_calls_run_side_by_side_on_it() {
    let first = Arc::new(wait(Client::connect(&served())).unwrap());
    let second = wait(Client::connect(&served())).unwrap();
    let threads: Vec<_> = (0..16)
        .map(|thread| {
            let client = Arc::clone(&first);
            std::thread::spawn(move || {
                for call in 0..50 {
                    let (a, b) = (thread * 1000, call);
                    assert_eq!(text(&client, "add", json!({"a": a, "b": b})), (a + b).to_string());
                    text(&client, "count", json!({}));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(text(&first, "count", json!({})), "801");
    assert_eq!(text(&second, "count", json!({})), "1");
}

#[test]
fn a_late_call_is_cancelled_and_the_client_used_on() {
    let config = ServerConfig { timeout_s: 0.3, ..served() };
    let client = wait(Client::connect(&config)).unwrap();
    for _ in 0..3 {
        let late = wait(client.call("sleep", none())).unwrap_err();
        assert!(matches!(&late, McpError::Deadline { doing, .. } if doing.contains("`sleep`")), "{late}");
    }
    assert_eq!(text(&client, "add", json!({"a": 1, "b": 1})), "2");
}

#[test]
fn a_client_made_on_one_runtime_is_used_on_another() {
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let client = runtime().block_on(Client::connect(&served())).unwrap();
    let sum = runtime().block_on(client.call("add", arguments(json!({"a": 1, "b": 2})))).unwrap();
    assert_eq!(sum.text, "3");
}

#[test]
fn a_server_that_dies_in_a_call_is_gone_with_its_last_words() {
    let client = wait(Client::connect(&served())).unwrap();
    let gone = wait(client.call("die", none())).unwrap_err();
    let McpError::Gone { why, stderr, .. } = &gone else { panic!("{gone:?}") };
    assert!(why.contains("exit status: 7"), "{gone}");
    assert!(stderr.contains("last words of the server"), "{gone}");
    let again = wait(client.call("add", none())).unwrap_err();
    assert!(matches!(again, McpError::Gone { .. }), "{again:?}");
}

#[test]
fn closing_lets_the_server_end_in_good_order() {
    let folder = tempfile::tempdir().unwrap();
    let goodbye = folder.path().join("goodbye");
    let env = [("GOODBYE".to_owned(), goodbye.to_str().unwrap().to_owned())].into();
    let client = wait(Client::connect(&ServerConfig { env, ..served() })).unwrap();
    let pid = text(&client, "pid", json!({})).parse().unwrap();
    assert!(runs(pid));
    wait(client.close());
    assert!(!runs(pid), "the server runs on");
    assert!(goodbye.exists(), "the server was not let end by itself");
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let mut server = Command::new(example("served"));
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let call = |id: u32, name: &str, given: serde_json::Value| {
        let params = json!({"name": name, "arguments": given});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let greeting = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting});
    let (slow, last) = (call(1, "sleep", json!({"millis": 700})), call(2, "add", json!({"a": 1, "b": 2})));
    // The last line has no end.
    let asked = format!("{greeting}\n{slow}\n{last}");
    server.stdin.take().unwrap().write_all(asked.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("slept 700") && said.contains("\"text\":\"3\""), "{said}");
}

#[test]
fn dropping_a_client_ends_its_server() {
    let client = wait(Client::connect(&served())).unwrap();
    let pid = text(&client, "pid", json!({})).parse().unwrap();
    assert!(runs(pid));
    drop(client);
    assert!(soon(|| !runs(pid)), "the server runs on");
}
