//! A program answers requests; whatever it does wrong is a typed failure, and the next request gets a fresh program.
#![allow(clippy::unwrap_used)]

use merit_command::{Channel, CommandError, Limits};
use serde_json::{Value, json};
use std::time::Duration;

fn channel(python: &str, answer: Duration) -> Channel {
    let limits = Limits { answer, line_bytes: 4096, ..Limits::default() };
    Channel::new(vec!["python3".into(), "-c".into(), python.into()], limits)
}

/// Answers each request with its `n` doubled; `n` can also ask for something foul.
const DOUBLES: &str = r#"
import json, os, sys, time
for line in sys.stdin:
    request = json.loads(line)
    n = request["n"]
    if n == "crash": sys.exit("out of cheese")
    if n == "hang": time.sleep(60)
    if n == "killed": os.kill(os.getpid(), 9)
    if n == "close": os.close(1); time.sleep(60)
    if n == "babble": print("what?", flush=True); continue
    if n == "other": print(json.dumps({"id": 0}), flush=True); continue
    if n == "long": print("x" * 10000, flush=True); continue
    print(json.dumps({"id": request["id"], "double": 2 * n}), flush=True)
"#;

fn double(channel: &mut Channel, n: impl Into<Value>) -> Result<i64, CommandError> {
    Ok(channel.request(json!({ "n": n.into() }))?["double"].as_i64().unwrap())
}

#[test]
fn nothing_starts_before_the_first_request_and_one_process_serves_them_all() {
    let mut channel = channel(DOUBLES, Duration::from_secs(60));
    assert_eq!(channel.starts(), 0);
    for n in 0..20 {
        assert_eq!(double(&mut channel, n), Ok(2 * n));
    }
    assert_eq!(channel.starts(), 1);
}

#[test]
fn every_failure_has_its_type_and_the_next_request_starts_anew() {
    let mut channel = channel(DOUBLES, Duration::from_secs(60));
    let failure = |channel: &mut Channel, n: &str| double(channel, n).unwrap_err();
    let crash = failure(&mut channel, "crash");
    assert!(matches!(&crash, CommandError::Gone { why, .. } if why.contains("out of cheese")), "{crash}");
    let babble = failure(&mut channel, "babble");
    assert!(matches!(&babble, CommandError::Unreadable { line, .. } if line == "what?"), "{babble}");
    let other = failure(&mut channel, "other");
    assert!(
        matches!(&other, CommandError::Unreadable { why, .. } if why.contains("another `id`")),
        "{other}"
    );
    let long = failure(&mut channel, "long");
    assert!(matches!(&long, CommandError::Gone { why, .. } if why.contains("4096")), "{long}");
    assert_eq!(double(&mut channel, 4), Ok(8));
    assert_eq!(channel.starts(), 5);
}

#[test]
fn a_program_that_somebody_else_killed_did_not_just_close_its_output() {
    let mut channel = channel(DOUBLES, Duration::from_secs(60));
    let killed = double(&mut channel, "killed").unwrap_err().to_string();
    assert!(killed.contains("it was killed (signal 9; out of memory?)"), "{killed}");
    let closed = double(&mut channel, "close").unwrap_err().to_string();
    assert!(closed.contains("it closed its output") && !closed.contains("it was killed"), "{closed}");
}

#[test]
fn a_program_that_hangs_is_killed_at_its_deadline() {
    let mut channel = channel(DOUBLES, Duration::from_millis(200));
    assert_eq!(double(&mut channel, 1), Ok(2));
    let hang = double(&mut channel, "hang").unwrap_err();
    assert!(matches!(hang, CommandError::Deadline { seconds: 0.2, .. }), "{hang}");
    assert_eq!(channel.starts(), 1);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let mut channel = Channel::new(vec!["no-such-program".into()], Limits::default());
    let error = channel.request(json!({})).unwrap_err();
    assert!(matches!(&error, CommandError::Start { command, .. } if command == "no-such-program"), "{error}");
}
