//! Each way a server can fail: what is tried again, what is final, and what is said of it.

use crate::support::{ask, choice, config, delta, ended, eventually, open, server};
use merit_core::Seed;
use merit_endpoint::{
    CancellationToken, Endpoint, EndpointConfig, EndpointError, Piece, Reply, RetryCut, spawn, wait,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn refusal(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": { "message": message } }))
}

#[test]
fn a_server_that_recovers_is_asked_again() {
    let server = server(|asked| match asked.number {
        0 => refusal(500, "warming up"),
        1 => Reply::default(),
        2 => refusal(503, "warming up"),
        _ => Reply::chat("ready"),
    });
    assert_eq!(wait(open(&config(&server)).chat(&ask("?"))).unwrap().text, "ready");
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn a_server_that_keeps_failing_is_given_up_after_its_tries() {
    let server = server(|_| refusal(502, "no upstream"));
    let error = wait(open(&EndpointConfig { retries: 2, ..config(&server) }).chat(&ask("?"))).unwrap_err();
    let EndpointError::Failing { status: 502, tries: 3, message, .. } = &error else { panic!("{error:?}") };
    assert_eq!((message.as_str(), server.asked().len()), ("no upstream", 3));
}

#[test]
fn a_rate_limit_is_waited_for_as_long_as_the_server_asks() {
    let server = server(|asked| match asked.number {
        0 => Reply::with_headers(429, &[("retry-after", "0.4"), ("content-type", "application/json")], b"{}"),
        _ => Reply::chat("ok"),
    });
    let begun = Instant::now();
    assert_eq!(wait(open(&config(&server)).chat(&ask("?"))).unwrap().text, "ok");
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
}

#[test]
fn a_rate_limit_that_asks_for_too_much_is_an_error_at_once() {
    let server = server(|_| Reply::with_headers(429, &[("retry-after", "3600")], b"slow down"));
    let error = wait(open(&config(&server)).chat(&ask("?"))).unwrap_err();
    let expected = EndpointError::RateLimited {
        endpoint: server.base_url(),
        status: 429,
        tries: 1,
        message: "slow down".into(),
        retry_after_s: Some(3600.0),
    };
    assert_eq!((error, server.asked().len()), (expected, 1));
}

#[test]
fn a_refusal_is_final_and_repeats_the_reason() {
    for status in [400, 404, 422] {
        let server = server(move |_| refusal(status, "no such field"));
        let error = wait(open(&config(&server)).chat(&ask("?"))).unwrap_err();
        let expected =
            EndpointError::Refused { endpoint: server.base_url(), status, message: "no such field".into() };
        assert_eq!((error, server.asked().len()), (expected, 1));
    }
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let server = server(|_| Reply::with_headers(307, &[("location", "http://127.0.0.1:1/v2")], b""));
    let error = wait(open(&config(&server)).chat(&ask("?"))).unwrap_err();
    assert!(
        error.to_string().contains("redirects to http://127.0.0.1:1/v2; put the right address"),
        "{error}"
    );
}

#[test]
fn a_conversation_that_is_too_long_has_its_own_error() {
    let server =
        server(|_| refusal(400, "This model's maximum context length is 512 tokens. However, you sent 600."));
    let error = wait(open(&config(&server)).chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::ContextOverflow { limit: Some(512), .. }), "{error:?}");
}

#[test]
fn silence_ends_at_the_deadline_and_closes_the_connection() {
    for stream in [false, true] {
        let server = server(|_| Reply::default().then_hang());
        let endpoint = open(&EndpointConfig { deadline_s: 0.3, stream, ..config(&server) });
        let error = wait(endpoint.chat(&ask("?"))).unwrap_err();
        assert!(matches!(error, EndpointError::Deadline { tries: 1, .. }), "{error:?}");
        assert!(eventually(|| server.left_early() == 1), "the connection is closed");
    }
}

#[test]
fn the_deadline_covers_all_tries() {
    let server = server(|_| refusal(500, "again").after(Duration::from_millis(150)));
    let endpoint = open(&EndpointConfig { deadline_s: 0.5, retries: 1000, ..config(&server) });
    let error = wait(endpoint.chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::Deadline { .. }), "{error:?}");
    assert!(error.to_string().contains("HTTP 500: again"), "{error}");
    assert!(server.asked().len() < 1000, "the deadline ended it, not the number of tries");
}

#[test]
fn a_dead_server_cannot_be_reached() {
    let address = {
        let server = server(|_| Reply::default());
        server.base_url()
    };
    std::thread::sleep(Duration::from_millis(50));
    let config = EndpointConfig { retries: 2, backoff_base_s: 0.01, ..EndpointConfig::new(address, "tiny") };
    let error = wait(open(&config).chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::Connection { tries: 3, .. }), "{error:?}");
}

/// Breaks off after `pieces` pieces, then answers.
fn cut_once(pieces: usize) -> merit_endpoint::ScriptedServer {
    server(move |asked| {
        let begun = || {
            (0..pieces)
                .fold(Reply::stream_head(), |reply, _| reply.then_event(&delta(&json!({ "content": "a" }))))
        };
        if asked.number == 0 {
            begun()
        } else {
            Reply::stream(&[delta(&json!({ "content": "whole" })), ended("stop")])
        }
    })
}

#[test]
fn a_stream_that_breaks_off_is_asked_for_again_as_the_policy_says() {
    let cases = [
        (RetryCut::Never, 0, None),
        (RetryCut::BeforePieces, 0, Some("whole")),
        (RetryCut::BeforePieces, 2, None),
        (RetryCut::Always, 2, Some("whole")),
    ];
    for (retry_cut, pieces, expected) in cases {
        let server = cut_once(pieces);
        let endpoint = open(&EndpointConfig { stream: true, retry_cut, ..config(&server) });
        match (wait(endpoint.chat(&ask("?"))), expected) {
            (Ok(answer), Some(expected)) => assert_eq!(answer.text, expected),
            (Err(EndpointError::Cut { pieces: got, tries: 1, .. }), None) => assert_eq!(got, pieces),
            (other, _) => panic!("{retry_cut:?} after {pieces} pieces: {other:?}"),
        }
    }
}

#[test]
fn whoever_listens_is_told_when_an_answer_begins_again() {
    let server = cut_once(1);
    let endpoint = open(&EndpointConfig { retry_cut: RetryCut::Always, ..config(&server) });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = Arc::clone(&heard);
    wait(endpoint.chat_aloud(&ask("?"), move |piece| ear.lock().unwrap().push(piece))).unwrap();
    assert_eq!(
        *heard.lock().unwrap(),
        [Piece::Text("a".into()), Piece::Restart, Piece::Text("whole".into())]
    );
}

#[test]
fn a_stream_that_falls_silent_is_cut() {
    let server = server(|_| Reply::stream_head().then_event(&delta(&json!({ "content": "a" }))).then_hang());
    let endpoint = open(&EndpointConfig { stream: true, idle_s: 0.2, ..config(&server) });
    let error = wait(endpoint.chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::Cut { pieces: 1, .. }), "{error:?}");
    assert!(error.to_string().contains("nothing came for 0.2 s"), "{error}");
    assert!(eventually(|| server.left_early() == 1));
}

#[test]
fn an_answer_in_one_piece_that_breaks_off_is_asked_for_again() {
    let server = server(|asked| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"cho";
        if asked.number == 0 { Reply::default().then_raw(head) } else { Reply::chat("whole") }
    });
    assert_eq!(wait(open(&config(&server)).chat(&ask("?"))).unwrap().text, "whole");
}

#[test]
fn an_error_inside_a_stream_is_what_it_says() {
    let server = server(|asked| match asked.number {
        0 => Reply::stream_head().then_event(&json!({ "error": { "message": "overloaded", "code": 503 } })),
        _ => Reply::stream_head()
            .then_event(&delta(&json!({ "content": "a" })))
            .then_event(&json!({ "error": { "message": "bad schema", "code": 400 } })),
    });
    let endpoint = open(&EndpointConfig { stream: true, ..config(&server) });
    let error = wait(endpoint.chat(&ask("?"))).unwrap_err();
    assert!(
        matches!(&error, EndpointError::Refused { status: 400, message, .. } if message == "bad schema"),
        "{error:?}"
    );
    assert_eq!(server.asked().len(), 2);
}

fn check_malformed(reply: impl Fn() -> Reply + Send + Sync + 'static, stream: bool, says: &str) {
    let server = server(move |_| reply());
    let error = wait(open(&EndpointConfig { stream, ..config(&server) }).chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::Malformed { .. }), "{error:?}");
    assert!(error.to_string().contains(says), "{error}");
    assert_eq!(server.asked().len(), 1, "asking again would not help");
}

#[test]
fn an_answer_that_is_not_the_protocol_names_what_is_wrong() {
    let json = |body: Value| move || Reply::json(200, &body);
    let typed = |kind: &'static str, body: &'static str| {
        move || Reply::with_headers(200, &[("content-type", kind)], body.as_bytes())
    };
    check_malformed(typed("application/json", "{\"choices\": ["), false, "it is no JSON");
    check_malformed(
        typed("text/html", "<html>hello</html>"),
        false,
        "`text/html` in place of `application/json`",
    );
    check_malformed(|| Reply::with_headers(200, &[], b"{}"), false, "of no type");
    check_malformed(typed("text/event-stream", "data: {}\n\n"), false, "`text/event-stream` in place of");
    check_malformed(json(json!({})), false, "the answer has no `choices`");
    check_malformed(json(json!({ "choices": [] })), false, "choices[0] has no `finish_reason`");
    check_malformed(json(json!({ "choices": "x" })), false, "choices is \"x\", not a list");
    check_malformed(
        json(choice("a", &json!({ "message": { "content": 7 } }))),
        false,
        "choices[0].message.content is 7, not a text",
    );
    check_malformed(
        json(choice("a", &json!({ "index": 1 }))),
        false,
        "choices[0].index is 1, but one answer was asked for",
    );
    let nameless = json!({ "message": { "tool_calls": [{ "function": { "arguments": "{}" } }] } });
    check_malformed(json(choice("a", &nameless)), false, "tool_calls[0].function has no `name`");
    let far = json!({ "message": { "tool_calls": [{ "index": 99999999 }] } });
    check_malformed(json(choice("a", &far)), false, "tool_calls[0].index is 99999999");
    check_malformed(|| Reply::stream_head().then_raw("data: {nonsense\n\n"), true, "it is no JSON");
}

#[test]
fn a_huge_answer_is_not_read() {
    let small = |server: &merit_endpoint::ScriptedServer, stream| EndpointConfig {
        max_response_bytes: 4096,
        stream,
        ..config(server)
    };
    let whole = server(|_| Reply::chat(&"x".repeat(10_000)));
    let error = wait(open(&small(&whole, false)).chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::TooLarge { limit: 4096, .. }), "{error:?}");
    let endless = server(|_| {
        let piece = delta(&json!({ "content": "x".repeat(100) }));
        (0..100).fold(Reply::stream_head(), |reply, _| reply.then_event(&piece))
    });
    let error = wait(open(&small(&endless, true)).chat(&ask("?"))).unwrap_err();
    assert!(matches!(error, EndpointError::TooLarge { limit: 4096, .. }), "{error:?}");
}

#[test]
fn never_more_requests_at_once_than_the_limit() {
    let server = server(|_| Reply::chat("ok").after(Duration::from_millis(30)));
    let endpoint = open(&EndpointConfig { concurrency: 3, ..config(&server) });
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let endpoint = endpoint.clone();
            spawn(async move { endpoint.chat(&ask(&number.to_string())).await }).unwrap()
        })
        .collect();
    for task in tasks {
        wait(task).unwrap().unwrap();
    }
    assert_eq!((server.asked().len(), server.peak()), (12, 3));
    assert_eq!(endpoint.under_way(), 0);
}

#[test]
fn dropping_a_request_closes_its_connection() {
    for reply in [
        Reply::default().then_hang(),
        Reply::stream_head().then_event(&delta(&json!({ "content": "a" }))).then_hang(),
    ] {
        let server = server(move |_| reply.clone());
        let endpoint = open(&EndpointConfig { stream: true, ..config(&server) });
        let asked = endpoint.clone();
        let task = spawn(async move { asked.chat(&ask("?")).await }).unwrap();
        assert!(eventually(|| server.asked().len() == 1 && endpoint.under_way() == 1));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(server.left_early(), 0);
        drop(task);
        assert!(eventually(|| server.left_early() == 1), "the server sees us leave");
        assert!(eventually(|| endpoint.under_way() == 0), "and its place is free");
    }
}

#[test]
fn a_token_cancels_the_calls_of_its_handle_and_no_others() {
    let server = server(|asked| match asked.body["messages"][0]["content"].as_str() {
        Some("hang") => Reply::default().then_hang(),
        _ => Reply::chat("ok"),
    });
    let endpoint = open(&config(&server));
    let token = CancellationToken::new();
    let handle = endpoint.cancelled_by(token.clone());
    let task = spawn(async move { handle.chat(&ask("hang")).await }).unwrap();
    assert!(eventually(|| server.asked().len() == 1));
    token.cancel();
    assert_eq!(wait(task).unwrap(), Err(EndpointError::Cancelled));
    assert!(eventually(|| server.left_early() == 1));
    assert_eq!(wait(endpoint.chat(&ask("go on"))).unwrap().text, "ok");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let base = || EndpointConfig::new("http://127.0.0.1:1/v1", "tiny");
    let cases = [
        (EndpointConfig { deadline_s: 0.0, ..base() }, "`deadline_s` is 0"),
        (EndpointConfig { idle_s: f64::NAN, ..base() }, "`idle_s` is NaN"),
        (EndpointConfig { concurrency: 0, ..base() }, "`concurrency` is 0"),
        (EndpointConfig { model: " ".into(), ..base() }, "`model` is empty"),
        (EndpointConfig { base_url: "http://10.1.1.1/v1".into(), ..base() }, "--remote"),
        (
            EndpointConfig { api_key_env: Some("MERIT_TEST_NO_SUCH_KEY".into()), ..base() },
            "`MERIT_TEST_NO_SUCH_KEY`, which is not set",
        ),
    ];
    for (config, says) in cases {
        let error = Endpoint::open(&config, Seed::root(1)).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let unknown =
        toml::from_str::<EndpointConfig>("base_url = 'http://127.0.0.1/v1'\nmodel = 'm'\ndedline_s = 3");
    assert!(unknown.unwrap_err().to_string().contains("deadline_s"), "the known names are listed");
}
