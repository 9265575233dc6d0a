//! Our client and our server over HTTP.

use crate::support::tools::{Counters, served};
use crate::support::{arguments, none, soon};
use merit_mcp::{Client, HttpServer, McpError, ServeError, ServerConfig, serve_http, wait};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::task::Poll;

fn start(counters: &Arc<Counters>) -> HttpServer {
    let (tools, info) = served(counters);
    wait(serve_http(tools, "127.0.0.1:0".parse().unwrap(), info)).unwrap()
}

fn text(client: &Client, name: &str, given: Value) -> String {
    let outcome = wait(client.call(name, arguments(given))).unwrap();
    assert!(!outcome.is_error, "{}", outcome.text);
    outcome.text
}

#[test]
fn each_client_is_a_session_that_is_freed_when_it_goes() {
    let counters = Arc::new(Counters::default());
    let server = start(&counters);
    let clients: Vec<Client> =
        (0..8).map(|_| wait(Client::connect(&ServerConfig::url(server.url()))).unwrap()).collect();
    for round in 1..=5 {
        for client in &clients {
            assert_eq!(text(client, "count", json!({})), round.to_string());
        }
    }
    assert_eq!(counters.open.lock().unwrap().len(), 8);
    clients.into_iter().enumerate().for_each(|(index, client)| match index % 2 {
        0 => wait(client.close()),
        _ => drop(client),
    });
    assert!(soon(|| counters.open.lock().unwrap().is_empty()), "{:?}", counters.open.lock().unwrap());
    assert_eq!(counters.closed.lock().unwrap().len(), 8, "each session closes once");
    wait(server.shutdown());
}

#[test]
fn calls_run_side_by_side_on_one_client() {
    let server = start(&Arc::default());
    let client = Arc::new(wait(Client::connect(&ServerConfig::url(server.url()))).unwrap());
    let threads: Vec<_> = (0..16)
        .map(|thread| {
            let client = Arc::clone(&client);
            std::thread::spawn(move || {
                for call in 0..25 {
                    assert_eq!(
                        text(&client, "add", json!({"a": thread * 100, "b": call})),
                        (thread * 100 + call).to_string()
                    );
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn the_agents_mistakes_and_the_servers_are_told_apart() {
    let server = start(&Arc::default());
    let client = wait(Client::connect(&ServerConfig::url(server.url()))).unwrap();
    assert!(wait(client.call("add", none())).unwrap().is_error);
    let unknown = wait(client.call("cuont", none())).unwrap();
    assert!(unknown.is_error && unknown.text.contains("did you mean `count`?"), "{unknown:?}");
    let broken = wait(client.call("broken", none())).unwrap_err();
    assert!(matches!(broken, McpError::Broken { code: -32603, .. }), "{broken:?}");
}

#[test]
fn a_late_or_dropped_call_is_stopped_at_the_server() {
    let counters = Arc::new(Counters::default());
    let server = start(&counters);
    let config = ServerConfig { timeout_s: 0.3, ..ServerConfig::url(server.url()) };
    let client = wait(Client::connect(&config)).unwrap();
    let late = wait(client.call("sleep", none())).unwrap_err();
    assert!(matches!(late, McpError::Deadline { .. }), "{late:?}");
    assert!(soon(|| *counters.asleep.lock().unwrap() == 0), "the tool sleeps on");
    let patient = wait(Client::connect(&ServerConfig::url(server.url()))).unwrap();
    wait(async {
        let mut call = Box::pin(patient.call("sleep", none()));
        // Polled once: the request is under way.
        let first = std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
        assert!(first.is_pending());
        assert!(soon(|| *counters.asleep.lock().unwrap() == 1), "the tool was not called");
    });
    assert!(soon(|| *counters.asleep.lock().unwrap() == 0), "the tool sleeps on");
    assert_eq!(text(&client, "add", json!({"a": 1, "b": 1})), "2");
}

#[test]
fn an_answer_over_the_limit_is_not_read_and_the_client_used_on() {
    let server = start(&Arc::default());
    let client = wait(Client::connect(&ServerConfig::url(server.url()))).unwrap();
    let large = wait(client.call("big", arguments(json!({"bytes": 100_000_000})))).unwrap_err();
    assert!(matches!(large, McpError::TooLarge { .. }), "{large:?}");
    assert_eq!(text(&client, "big", json!({"bytes": 5})), "xxxxx");
    let cut = text(&client, "big", json!({"bytes": 4_000_000}));
    assert!(cut.len() < 1_100_000 && cut.ends_with("of 4000000 bytes]"), "{}", cut.len());
}

#[test]
fn a_server_that_stops_ends_the_calls_under_way() {
    let counters = Arc::new(Counters::default());
    let server = start(&counters);
    let client = Arc::new(wait(Client::connect(&ServerConfig::url(server.url()))).unwrap());
    let calling = {
        let client = Arc::clone(&client);
        std::thread::spawn(move || wait(client.call("sleep", none())))
    };
    assert!(soon(|| *counters.asleep.lock().unwrap() == 1));
    wait(server.shutdown());
    let error = calling.join().unwrap().unwrap_err();
    assert!(!matches!(error, McpError::Deadline { .. }), "noticed only by the deadline: {error}");
    assert!(soon(|| *counters.asleep.lock().unwrap() == 0), "the tool sleeps on");
    let error = wait(client.call("add", none())).unwrap_err();
    assert!(matches!(error, McpError::Http { .. } | McpError::Gone { .. }), "{error:?}");
}

#[test]
fn tools_are_served_to_this_machine_only() {
    let (tools, info) = served(&Arc::default());
    let error = wait(serve_http(tools, "0.0.0.0:0".parse().unwrap(), info)).unwrap_err();
    assert!(matches!(error, ServeError::NotLoopback(_)), "{error}");
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

#[test]
fn tools_that_cannot_be_offered_are_refused_by_name() {
    let (mut tools, info) = served(&Arc::default());
    tools.push(tools[0].clone());
    let error = wait(serve_http(tools, "127.0.0.1:0".parse().unwrap(), info)).unwrap_err();
    assert!(error.to_string().contains("two tools are called `add`"), "{error}");
}

#[test]
fn an_address_without_a_server_says_so() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = wait(Client::connect(&ServerConfig::url(format!("http://{free}/mcp")))).unwrap_err();
    assert!(matches!(&error, McpError::Start { why, .. } if why.contains("refused")), "{error}");
}

/// Answers every request with the same bytes, then closes.
fn fixed(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 65536]);
            let _ = stream.write_all(answer);
        }
    });
    url
}

#[test]
fn a_program_that_is_no_mcp_server_is_an_error_of_the_start() {
    let check = |answer: &'static [u8], expected: &str| {
        let config = ServerConfig { start_s: 20.0, ..ServerConfig::url(fixed(answer)) };
        let error = wait(Client::connect(&config)).unwrap_err();
        assert!(matches!(&error, McpError::Start { why, .. } if why.contains(expected)), "{error}");
    };
    check(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi", "content type");
    check(b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnope", "HTTP 404 Not Found: nope");
    check(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{\"a\":1}\r\n",
        "no MCP message",
    );
    check(b"SSH-2.0-OpenSSH\r\n", "");
}

#[test]
fn a_page_of_a_browser_is_refused() {
    let server = start(&Arc::default());
    let config = ServerConfig {
        headers: [("Origin".to_owned(), "http://evil.example".to_owned())].into(),
        ..ServerConfig::url(server.url())
    };
    let error = wait(Client::connect(&config)).unwrap_err();
    assert!(error.to_string().contains("403"), "{error}");
}

/// Posts a message as a client of few needs would. The stream stands behind the request, at the answer.
fn post(server: &HttpServer, session: Option<&str>, accept: &str, message: &Value) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    let body = message.to_string();
    let session = session.map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\naccept: {accept}\r\n{session}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    BufReader::new(stream)
}

/// The lines up to and with the first that holds `word`.
fn until(answer: &mut BufReader<TcpStream>, word: &str) -> String {
    let mut text = String::new();
    while !text.lines().last().unwrap_or_default().contains(word) {
        assert!(answer.read_line(&mut text).unwrap() > 0, "no `{word}` in {text}");
    }
    text
}

const EVENTS: &str = "application/json, text/event-stream";

fn opened(server: &HttpServer) -> String {
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                          "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}});
    let head = until(&mut post(server, None, EVENTS, &greeting), "mcp-session-id");
    head.lines().last().unwrap().split_once(": ").unwrap().1.to_owned()
}

/// A call that sleeps until it is cancelled and asks to be told of its progress.
fn sleeping() -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
           "params": {"name": "sleep", "arguments": {}, "_meta": {"progressToken": "mine"}}})
}

fn cancelled() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
}

#[test]
fn a_long_call_tells_of_its_progress_in_events_and_ends_with_the_answer() {
    let server = start(&Arc::default());
    let session = opened(&server);
    let mut answer = post(&server, Some(&session), EVENTS, &sleeping());
    let head = until(&mut answer, "\"progress\":2");
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    assert!(head.contains("\"progressToken\":\"mine\"") && head.contains("notifications/progress"), "{head}");
    until(&mut post(&server, Some(&session), EVENTS, &cancelled()), "202");
    let last = until(&mut answer, "\"id\":7");
    assert!(last.contains("the call was cancelled"), "{last}");
    let mut rest = String::new();
    answer.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("data:"), "something follows the answer: {rest}");
}

#[test]
fn a_call_that_breaks_off_between_events_is_stopped() {
    let counters = Arc::new(Counters::default());
    let server = start(&counters);
    let mut answer = post(&server, Some(&opened(&server)), EVENTS, &sleeping());
    until(&mut answer, "notifications/progress");
    drop(answer);
    assert!(soon(|| *counters.asleep.lock().unwrap() == 0), "the tool sleeps on");
}

#[test]
fn a_client_that_takes_no_events_gets_its_answer_in_one_piece() {
    let counters = Arc::new(Counters::default());
    let server = start(&counters);
    let session = opened(&server);
    let mut answer = post(&server, Some(&session), "application/json", &sleeping());
    assert!(soon(|| *counters.asleep.lock().unwrap() == 1), "the tool was not called");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    until(&mut post(&server, Some(&session), EVENTS, &cancelled()), "202");
    let text = until(&mut answer, "the call was cancelled");
    assert!(text.contains("content-type: application/json") && !text.contains("data:"), "{text}");
}
