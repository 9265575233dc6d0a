//! Servers that misbehave: each is one clear error, and nothing is left of them.

use crate::support::{hostile, none, runs, soon};
use merit_mcp::{Client, McpError, ServerConfig, wait};

fn connect_error(config: &ServerConfig) -> McpError {
    wait(Client::connect(config)).unwrap_err()
}

fn text(client: &Client, name: &str) -> String {
    let outcome = wait(client.call(name, none())).unwrap();
    assert!(!outcome.is_error, "{}", outcome.text);
    outcome.text
}

#[test]
fn a_program_that_cannot_be_run_is_an_error_of_the_start() {
    let error = connect_error(&ServerConfig::command(["no-such-program-anywhere"]));
    assert!(matches!(&error, McpError::Start { why, .. } if why.contains("cannot run it")), "{error}");
    let config = ServerConfig { cwd: Some("/no/such/folder".into()), ..hostile("plain") };
    let error = connect_error(&config);
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
}

#[test]
fn a_server_that_ends_at_once_gives_its_reason() {
    let error = connect_error(&hostile("dead"));
    let McpError::Start { why, stderr, .. } = &error else { panic!("{error:?}") };
    assert!(why.contains("exit status: 3") && stderr.contains("no licence found"), "{error}");
}

#[test]
fn a_server_that_never_answers_is_given_up_at_the_deadline() {
    let error = connect_error(&ServerConfig { start_s: 0.5, ..hostile("silent") });
    assert!(matches!(&error, McpError::Deadline { doing, .. } if doing.contains("to start")), "{error}");
}

#[test]
fn output_that_is_no_message_is_shown_in_the_error() {
    let error = connect_error(&ServerConfig { start_s: 1.0, ..hostile("babble") });
    let said = error.to_string();
    assert!(said.contains("50 lines") && said.contains("this is not JSON"), "{said}");
}

#[test]
fn a_server_that_refuses_to_open_is_quoted() {
    let error = connect_error(&hostile("refuse"));
    assert!(matches!(&error, McpError::Start { why, .. } if why.contains("not today")), "{error}");
}

#[test]
fn lists_that_cannot_be_used_name_what_is_wrong() {
    let check = |mode: &str, expected: &str| {
        let error = connect_error(&hostile(mode));
        assert!(
            matches!(&error, McpError::Protocol { what, .. } if what.contains(expected)),
            "{mode}: {error}"
        );
    };
    check("twice", "tool `same` twice");
    check("malformed", "tool `bad` is malformed: missing field `inputSchema`");
    check("circle", "does not end");
    check("too-many", "more than 16384 tools");
    check("no-list", "no `tools`");
}

#[test]
fn ten_thousand_tools_and_several_pages_are_listed() {
    let client = wait(Client::connect(&hostile("many"))).unwrap();
    assert_eq!(client.tools().len(), 10_000);
    assert_eq!(client.tools()[9_999].name, "tool-9999");
    let client = wait(Client::connect(&hostile("paged"))).unwrap();
    let names: Vec<_> = client.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn a_flood_on_standard_error_neither_blocks_nor_fills_memory() {
    let client = wait(Client::connect(&hostile("flood"))).unwrap();
    for _ in 0..20 {
        assert_eq!(text(&client, "hello"), "hello");
    }
    let gone = wait(client.call("die", none())).unwrap_err();
    let McpError::Gone { stderr, .. } = &gone else { panic!("{gone:?}") };
    assert!(stderr.len() < 5000, "{}", stderr.len());
    assert!(stderr.contains("out of cheese") || stderr.contains("noise"), "{stderr}");
}

#[test]
fn bad_answers_are_told_apart_and_the_client_is_used_on() {
    let client = wait(Client::connect(&ServerConfig { timeout_s: 5.0, ..hostile("plain") })).unwrap();
    let invalid = wait(client.call("invalid", none())).unwrap();
    assert!(invalid.is_error && invalid.text == "no such city", "{invalid:?}");
    let internal = wait(client.call("internal", none())).unwrap_err();
    assert!(matches!(&internal, McpError::Broken { code: -32603, message, .. } if message == "boom"));
    let nonsense = wait(client.call("nonsense", none())).unwrap_err();
    assert!(matches!(nonsense, McpError::Protocol { .. }), "{nonsense}");
    assert_eq!(text(&client, "hello"), "hello");
}

#[test]
fn answers_that_never_come_end_at_the_deadline_with_what_was_seen() {
    let client = wait(Client::connect(&ServerConfig { timeout_s: 0.5, ..hostile("plain") })).unwrap();
    let hang = wait(client.call("hang", none())).unwrap_err();
    assert!(matches!(&hang, McpError::Deadline { hint, .. } if hint.is_empty()), "{hang}");
    let stranger = wait(client.call("stranger", none())).unwrap_err();
    assert!(matches!(stranger, McpError::Deadline { .. }), "{stranger}");
    let garbage = wait(client.call("garbage", none())).unwrap_err();
    assert!(matches!(&garbage, McpError::Deadline { hint, .. } if hint.contains("Traceback")), "{garbage}");
    assert_eq!(text(&client, "hello"), "hello");
}

#[test]
fn an_answer_of_a_hundred_megabytes_is_not_kept() {
    let client = wait(Client::connect(&hostile("plain"))).unwrap();
    let large = wait(client.call("huge", none())).unwrap_err();
    assert!(matches!(large, McpError::TooLarge { limit, .. } if limit == merit_mcp::MAX_MESSAGE), "{large}");
    assert_eq!(text(&client, "hello"), "hello");
}

#[test]
fn a_command_sees_only_the_environment_meant_for_it() {
    let config = ServerConfig {
        env: [("GIVEN".to_owned(), "1".to_owned())].into(),
        inherit: vec!["CARGO_MANIFEST_DIR".to_owned()],
        ..hostile("plain")
    };
    // Cargo sets this one for tests; it stands for any secret of ours.
    assert!(std::env::var("CARGO_PKG_NAME").is_ok());
    let client = wait(Client::connect(&config)).unwrap();
    let names = text(&client, "environment");
    let names: Vec<&str> = names.split(' ').collect();
    assert!(names.contains(&"GIVEN") && names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    let known =
        |name: &&str| merit_mcp::PASSED_ON.contains(name) || ["GIVEN", "CARGO_MANIFEST_DIR"].contains(name);
    assert!(names.iter().all(known), "{names:?}");
}

#[test]
fn a_command_runs_where_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let client =
        wait(Client::connect(&ServerConfig { cwd: Some(path.clone()), ..hostile("plain") })).unwrap();
    assert_eq!(text(&client, "folder"), path.to_str().unwrap());
}

#[test]
fn what_a_server_started_ends_with_it() {
    for close in [false, true] {
        let client = wait(Client::connect(&hostile("parent"))).unwrap();
        let child = text(&client, "child").parse().unwrap();
        assert!(runs(child));
        if close {
            wait(client.close())
        } else {
            drop(client)
        }
        assert!(soon(|| !runs(child)), "the server's child runs on");
    }
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_is_ended() {
    let client = wait(Client::connect(&hostile("deaf"))).unwrap();
    assert_eq!(text(&client, "hello"), "hello");
    wait(client.close());
}
