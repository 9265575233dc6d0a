//! Our client uses servers that others wrote, from the Python and npm indexes.

use crate::support::{arguments, none, peers};
use merit_mcp::{Client, McpError, ServerConfig, wait};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

fn ok(client: &Client, name: &str, given: Value) -> String {
    let outcome = wait(client.call(name, arguments(given))).unwrap();
    assert!(!outcome.is_error, "{}", outcome.text);
    outcome.text
}

#[test]
fn the_time_server_of_the_python_index_is_used() {
    let Some(programs) = peers::python() else { return };
    let program = programs.join("mcp-server-time").to_str().unwrap().to_owned();
    let config = ServerConfig::command([program.as_str(), "--local-timezone", "UTC"]);
    let client = wait(Client::connect(&config)).unwrap();
    let names: Vec<&str> = client.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["get_current_time", "convert_time"]);
    let given = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let answer: Value = serde_json::from_str(&ok(&client, "convert_time", given)).unwrap();
    assert_eq!(answer["time_difference"], "+9.0h");
    let wrong = wait(client.call("get_current_time", arguments(json!({"timezone": "Moon/Crater"})))).unwrap();
    assert!(wrong.is_error && wrong.text.contains("Moon/Crater"), "{wrong:?}");
    wait(client.close());
}

#[test]
fn the_everything_server_of_the_npm_index_is_used() {
    let Some(script) = peers::everything() else { return };
    let config = ServerConfig::command(["node", script.to_str().unwrap(), "stdio"]);
    let client = wait(Client::connect(&config)).unwrap();
    assert!(client.tools().len() >= 10, "{:?}", client.tools().len());
    assert_eq!(ok(&client, "echo", json!({"message": "grüße"})), "Echo: grüße");
    assert_eq!(ok(&client, "get-sum", json!({"a": 2, "b": 3})), "The sum of 2 and 3 is 5.");
    let image = ok(&client, "get-tiny-image", json!({}));
    assert!(image.contains("[image/png, ") && !image.contains("iVBOR"), "{image}");
    let links = ok(&client, "get-resource-links", json!({"count": 2}));
    assert!(links.contains("[link to "), "{links}");
    let environment = ok(&client, "get-env", json!({}));
    assert!(environment.contains("PATH") && !environment.contains("CARGO_PKG_NAME"), "{environment}");
    let wrong = wait(client.call("get-sum", arguments(json!({"a": "two"})))).unwrap();
    assert!(wrong.is_error, "{wrong:?}");
    let unknown = wait(client.call("no-such-tool", none())).unwrap();
    assert!(unknown.is_error && unknown.text.contains("no-such-tool"), "{unknown:?}");
}

/// A server on the Python SDK, ended with the test.
struct Counting {
    process: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Counting {
    fn start(kind: &str) -> Option<Self> {
        let python = peers::python()?.join("python");
        let mut process = Command::new(python)
            .arg(peers::script("counting_server.py"))
            .arg(kind)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut server = Self { process, output, url: String::new() };
        server.url = format!("http://127.0.0.1:{}/mcp", server.line());
        Some(server)
    }

    /// The next line that it prints.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_on_the_python_sdk_is_used_over_http() {
    for kind in ["json", "events"] {
        let Some(mut server) = Counting::start(kind) else { return };
        let config = ServerConfig {
            headers: [("X-Team".to_owned(), "blue".to_owned())].into(),
            ..ServerConfig::url(server.url.clone())
        };
        let first = wait(Client::connect(&config)).unwrap();
        let second = wait(Client::connect(&config)).unwrap();
        assert_eq!(ok(&first, "count", json!({})), "1");
        assert_eq!(ok(&first, "count", json!({})), "2");
        assert_eq!(ok(&second, "count", json!({})), "1", "each connection is a session");
        assert_eq!(ok(&first, "header", json!({"name": "x-team"})), "blue");
        assert_eq!(ok(&first, "picture", json!({})), "[image/png, 5 bytes]");
        let failed = wait(first.call("fail", none())).unwrap();
        assert!(failed.is_error, "{failed:?}");
        wait(second.close());
        assert_eq!(ok(&first, "count", json!({})), "3");
        let error = std::thread::scope(|scope| {
            let call = scope.spawn(|| wait(first.call("hang", none())));
            assert_eq!(server.line(), "hanging");
            server.process.kill().unwrap();
            call.join().unwrap().unwrap_err()
        });
        assert!(
            !matches!(error, McpError::Deadline { .. }),
            "the death was noticed only by the deadline: {error}"
        );
        let error = wait(first.call("count", none())).unwrap_err();
        assert!(matches!(error, McpError::Http { .. } | McpError::Gone { .. }), "{error:?}");
    }
}
