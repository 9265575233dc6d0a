//! A server that misbehaves in the way its first argument names. It writes its lines by hand, so that they can be wrong.
#![allow(missing_docs, clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::{self, BufRead as _, Write as _};
use std::process::Child;
use std::sync::OnceLock;
use std::time::Duration;

static CHILD: OnceLock<Child> = OnceLock::new();

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "silent" => std::thread::sleep(Duration::from_secs(3600)),
        "dead" => {
            eprintln!("no licence found");
            std::process::exit(3);
        }
        "flood" => flood(),
        // A child of its own that would outlive it, and that its standard streams do not bind.
        "parent" => CHILD.set(std::process::Command::new("sleep").arg("3600").spawn().unwrap()).unwrap(),
        _ => {}
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).unwrap_or_default();
        if let Some(id) = request.get("id") {
            answer(&mode, request["method"].as_str().unwrap_or_default(), id, &request);
        }
    }
    if mode == "deaf" {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// Much more than a pipe or a report holds.
fn flood() {
    std::thread::spawn(|| {
        let line = "noise ".repeat(200);
        for number in 0..20_000 {
            eprintln!("{number} {line}");
        }
    });
}

fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.write_all(b"\n");
    let _ = out.flush();
}

fn result(id: &Value, result: &Value) {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn answer(mode: &str, method: &str, id: &Value, request: &Value) {
    match method {
        "initialize" if mode == "babble" => (0..50).for_each(|_| say("this is not JSON")),
        "initialize" if mode == "refuse" => {
            say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "not today"}})
                .to_string());
        }
        "initialize" => {
            let version = &request["params"]["protocolVersion"];
            let info = json!({"name": "hostile", "version": "0"});
            result(
                id,
                &json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}),
            );
        }
        "tools/list" => result(id, &listing(mode, &request["params"]["cursor"])),
        "tools/call" => call(request["params"]["name"].as_str().unwrap_or_default(), id),
        _ => {
            say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}).to_string())
        }
    }
}

fn listing(mode: &str, cursor: &Value) -> Value {
    let tool =
        |name: String| json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}});
    match mode {
        "many" => json!({"tools": (0..10_000).map(|n| tool(format!("tool-{n}"))).collect::<Vec<_>>()}),
        "too-many" => json!({"tools": (0..20_000).map(|n| tool(format!("tool-{n}"))).collect::<Vec<_>>()}),
        "paged" => match cursor.as_str() {
            None => json!({"tools": [tool("one".to_owned())], "nextCursor": "2"}),
            _ => json!({"tools": [tool("two".to_owned())]}),
        },
        "circle" => json!({"tools": [], "nextCursor": "again"}),
        "twice" => json!({"tools": [tool("same".to_owned()), tool("same".to_owned())]}),
        "malformed" => json!({"tools": [tool("good".to_owned()), {"name": "bad"}]}),
        "no-list" => json!({"tool": []}),
        _ => json!({"tools": [tool("die".to_owned())]}),
    }
}

fn call(name: &str, id: &Value) {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    match name {
        "die" => {
            eprintln!("out of cheese");
            std::process::exit(5);
        }
        "hang" => {}
        "garbage" => say("}{ Traceback (most recent call last)"),
        "nonsense" => result(id, &json!({"colour": "green"})),
        "stranger" => result(&json!(987_654), &text("for somebody else")),
        "huge" => huge(id),
        "invalid" => {
            say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no such city"}})
                .to_string());
        }
        "internal" => {
            say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "boom"}})
                .to_string());
        }
        "environment" => {
            let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            names.sort();
            result(id, &text(&names.join(" ")));
        }
        "child" => result(id, &text(&CHILD.get().map(Child::id).unwrap_or_default().to_string())),
        "folder" => result(id, &text(&std::env::current_dir().unwrap().to_string_lossy())),
        other => result(id, &text(other)),
    }
}

/// An answer of 100 MB in one line, its number last.
fn huge(id: &Value) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(br#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":""#);
    let piece = vec![b'x'; 1_000_000];
    for _ in 0..100 {
        let _ = out.write_all(&piece);
    }
    let _ = out.write_all(format!(r#""}}]}},"id":{id}}}"#).as_bytes());
    let _ = out.write_all(b"\n");
    let _ = out.flush();
}
