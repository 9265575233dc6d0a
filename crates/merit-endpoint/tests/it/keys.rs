//! The key goes to the server and nowhere else. Each test that needs one runs again in a process whose environment holds it.

use crate::support::{ask, choice, config, open, server};
use merit_endpoint::{CacheConfig, CacheMode, EndpointConfig, EndpointError, Reply, wait};
use serde_json::json;
use std::process::Command;

const KEY: &str = r#"sk-te"st\key-0123"#;
const NAME: &str = "MERIT_TEST_ENDPOINT_KEY";

/// Runs one test of this program again with the key in its environment.
fn with_key(test: &str) -> bool {
    if std::env::var_os(NAME).is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let ran = Command::new(program).args(["--exact", test, "--nocapture"]).env(NAME, KEY).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    assert!(!said.contains(KEY), "{said}");
    false
}

#[test]
fn the_key_is_sent_and_never_shown() {
    if !with_key("keys::the_key_is_sent_and_never_shown") {
        return;
    }
    // A server that repeats what it was sent, in every place from which errors are made.
    let server = server(|asked| {
        let seen = asked.headers["authorization"].clone();
        match asked.number {
            0 => Reply::json(
                401,
                &json!({ "error": { "message": format!("{}bad key: {seen}", "x".repeat(480)) } }),
            ),
            1 => Reply::json(400, &json!({ "detail": [{ "input": seen }] })),
            2 => Reply::with_headers(200, &[("content-type", "application/json")], seen.as_bytes()),
            3 => Reply::with_headers(307, &[("location", &seen)], b""),
            4 => Reply::json(200, &json!({ "choices": seen })),
            _ => Reply::with_headers(403, &[], format!("no {seen}").as_bytes()),
        }
    });
    let endpoint = open(&EndpointConfig { api_key_env: Some(NAME.into()), ..config(&server) });
    let shown = format!("{endpoint:?} {:?}", endpoint.config());
    assert!(!shown.contains("te\"st") && !shown.contains("sk-te"), "{shown}");
    for number in 0..6 {
        let error = wait(endpoint.chat(&ask("?"))).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("sk-te"), "answer {number}: {shown}");
        if number == 0 {
            assert!(matches!(error, EndpointError::Unauthorised { status: 401, .. }), "{error:?}");
            assert!(shown.contains(NAME), "{shown}");
        }
    }
    assert_eq!(server.asked()[0].headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(server.asked().len(), 6, "a refused key is not tried again");
}

#[test]
fn the_key_is_never_kept() {
    if !with_key("keys::the_key_is_never_kept") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let server = server(|asked| {
        Reply::json(200, &choice(&format!("you sent {}", asked.headers["authorization"]), &json!({})))
    });
    let cache = CacheConfig { mode: CacheMode::Record, path: Some(path.clone()) };
    let endpoint = open(&EndpointConfig { api_key_env: Some(NAME.into()), cache, ..config(&server) });
    wait(endpoint.chat(&ask(&format!("my key is {KEY}")))).unwrap();
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept.contains("you sent") && !kept.contains("sk-te"), "{kept}");
}

#[test]
fn a_refusal_without_a_key_says_how_to_give_one() {
    let server = server(|_| Reply::json(401, &json!({ "error": { "message": "who are you?" } })));
    let error = wait(open(&config(&server)).chat(&ask("?"))).unwrap_err();
    assert!(error.to_string().contains("name its environment variable in `api_key_env`"), "{error}");
}
