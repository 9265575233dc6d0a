//! A web that is written down: what fits is answered, in order, and nothing else.

use merit_core::Task;
use merit_tools::conformance::{check_tool, example_task};
use merit_tools::{Tool, ToolAnswer, ToolError, ToolSession, call_blocking, read_tool};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn tool() -> Arc<dyn Tool> {
    read_tool("type = \"http\"").unwrap().build_one().unwrap()
}

fn task(fixtures: Value) -> Task {
    Task { payload: json!({ "http": fixtures }), ..example_task() }
}

fn open(fixtures: Value) -> Arc<dyn ToolSession> {
    tool().open(&task(fixtures), None).unwrap()
}

fn get(session: &Arc<dyn ToolSession>, input: impl ToString) -> String {
    match call_blocking(session, &input.to_string(), Duration::from_secs(30)).unwrap() {
        ToolAnswer::Ok(text) => text,
        other => panic!("{other:?}"),
    }
}

fn refused(session: &Arc<dyn ToolSession>, input: impl ToString) -> String {
    match call_blocking(session, &input.to_string(), Duration::from_secs(30)).unwrap() {
        ToolAnswer::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

fn said(body: &str) -> Value {
    json!({ "body": body })
}

#[test]
fn a_request_is_answered_with_status_headers_and_body() {
    let session = open(json!([{
        "url": "https://shop.test/price?item=mug&currency=eur",
        "response": { "status": 201, "headers": { "Content-Type": "application/json" }, "body": { "b": 1, "a": [2] } },
    }]));
    let want = "201 Created\ncontent-type: application/json\n\n{\"a\":[2],\"b\":1}";
    assert_eq!(get(&session, "https://shop.test/price?currency=eur&item=mug"), want);
    assert_eq!(get(&session, "GET HTTPS://Shop.Test:443/price?item=mug&currency=eur#x"), want);
    let url = "https://shop.test/price?item=mug&currency=eur";
    assert_eq!(get(&session, json!({ "method": "get", "url": url, "headers": { "Accept": "*/*" } })), want);
    let head = get(&session, json!({ "method": "HEAD", "url": url }));
    assert_eq!(head, "201 Created\ncontent-type: application/json");
}

#[test]
fn the_nth_request_gets_the_nth_response_and_forks_count_on_their_own() {
    let fixtures =
        json!([{ "url": "https://a.test/", "responses": [said("one"), said("two"), said("last")] }]);
    let session = open(fixtures.clone());
    let body = |session: &Arc<dyn ToolSession>| {
        get(session, "https://a.test").rsplit('\n').next().unwrap().to_owned()
    };
    assert_eq!(body(&session), "one");
    let fork = tool().open(&task(fixtures.clone()), Some(&session.snapshot())).unwrap();
    assert_eq!([body(&session), body(&session), body(&session)], ["two", "last", "last"]);
    assert_eq!(body(&fork), "two");
    assert_eq!(body(&open(fixtures.clone())), "one");
    for state in [json!({ "answered": { "3": 1 } }), json!({ "answered": [1] }), json!({})] {
        let error = tool().open(&task(fixtures.clone()), Some(&state)).err().unwrap();
        assert!(matches!(error, ToolError::Snapshot { .. }), "{error}");
    }
}

#[test]
fn what_always_says_the_same_keeps_no_state() {
    assert_eq!(open(json!([{ "url": "https://a.test/", "response": said("x") }])).snapshot(), Value::Null);
}

#[test]
fn the_fixture_that_says_most_answers() {
    let session = open(json!([
        { "url": "https://a.test/*", "response": said("any") },
        { "url": "https://a.test/item/*?full=1", "response": said("full item") },
        { "url": "https://a.test/item/7", "response": said("seven") },
        { "url": "https://a.test/item/7", "headers": { "Authorization": "me" }, "response": said("mine") },
        { "method": "POST", "url": "https://a.test/item/7", "body": { "n": 1, "m": 2 }, "response": said("posted") },
        { "method": "POST", "url": "https://a.test/say", "body": "hello", "response": said("heard") },
    ]));
    let body = |input: Value| get(&session, input).rsplit('\n').next().unwrap().to_owned();
    assert_eq!(body(json!({ "url": "https://a.test/item/7" })), "seven");
    assert_eq!(body(json!({ "url": "https://a.test/item/8" })), "any");
    assert_eq!(body(json!({ "url": "https://a.test/item/7", "headers": { "authorization": "me" } })), "mine");
    let post = |body: Value| json!({ "method": "POST", "url": "https://a.test/item/7", "body": body });
    assert_eq!(body(post(json!({ "m": 2, "n": 1 }))), "posted");
    assert_eq!(body(post(json!("{\"m\": 2, \"n\": 1}"))), "posted");
    assert!(get(&session, post(json!({ "m": 3 }))).starts_with("405 Method Not Allowed\nallow: GET"));
    assert_eq!(body(json!({ "method": "POST", "url": "https://a.test/say", "body": "hello" })), "heard");
}

#[test]
fn an_unknown_url_is_a_404_with_the_nearest() {
    let session = open(json!([{ "url": "https://shop.test/price", "response": said("47") }]));
    let want = "404 Not Found\n\nnothing at https://shop.test/prize; nearest: https://shop.test/price";
    assert_eq!(get(&session, "https://shop.test/prize"), want);
    assert_eq!(
        get(&session, "https://other.example/x/y/z/1234567"),
        "404 Not Found\n\nnothing at https://other.example/x/y/z/1234567"
    );
    let strict =
        open(json!([{ "url": "https://a.test/", "headers": { "key": "1" }, "response": said("in") }]));
    assert!(get(&strict, "https://a.test/").contains("not with these headers"));
}

#[test]
fn what_is_no_request_is_refused() {
    let session = open(json!([{ "url": "https://a.test/", "response": said("x") }]));
    for input in ["", "a.test", "file:///etc/passwd", "ftp://a.test/", "https://a.test/ b"] {
        assert!(refused(&session, input).contains("https://shop.test"), "{input}");
    }
    assert!(refused(&session, json!({ "method": "FETCH", "url": "https://a.test/" })).contains("known: GET"));
    assert!(refused(&session, json!({ "uri": "https://a.test/" })).contains("unknown field"));
}

#[test]
fn long_bodies_are_cut() {
    let toml = format!(
        "type = \"http\"\nshown_bytes = 200\nfixtures = [{{ url = \"https://a.test/\", response = {{ body = \"{}\" }} }}]",
        "é".repeat(150)
    );
    let tool = read_tool(&toml).unwrap().build_one().unwrap();
    let session = tool.open(&example_task(), None).unwrap();
    assert_eq!(get(&session, "https://a.test"), format!("200 OK\n\n{}\n… 100 more bytes", "é".repeat(100)));
}

#[test]
fn fixtures_come_from_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let list = json!([
        { "url": "https://a.test/", "response": said("x") },
        { "url": "https://b.test/", "responses": [said("1"), said("2")] },
    ]);
    let lines: String = list.as_array().unwrap().iter().map(|fixture| format!("{fixture}\n\n")).collect();
    for (name, text) in [("list.json", list.to_string()), ("lines.jsonl", lines)] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let toml = format!("type = \"http\"\nfile = \"{}\"", path.display());
        let config = read_tool(&toml).unwrap();
        let tool = config.build_one().unwrap();
        assert_eq!(check_tool(tool.as_ref(), &example_task()), Vec::<String>::new());
        assert_eq!(get(&tool.open(&example_task(), None).unwrap(), "https://b.test"), "200 OK\n\n1");
        assert_eq!(read_tool(&toml::to_string(&config).unwrap()).unwrap(), config);
    }
    std::fs::write(folder.path().join("bad.jsonl"), "{\"url\": \"https://a.test/\"}\n{").unwrap();
    let toml = format!("type = \"http\"\nfile = \"{}\"", folder.path().join("bad.jsonl").display());
    assert!(read_tool(&toml).unwrap().build_one().err().unwrap().to_string().contains("line 2"));
}

#[test]
fn fixtures_that_cannot_be_are_refused_with_their_place() {
    for (fixtures, why) in [
        (json!([]), "0 fixtures"),
        (json!({}), "not a list"),
        (json!([{ "url": "a.test", "response": said("x") }]), "fixture 0: `a.test` is no URL"),
        (json!([{ "url": "https://a.test/" }]), "neither `response` nor `responses`"),
        (json!([{ "url": "https://a.test/", "response": said("x"), "responses": [said("y")] }]), "keep one"),
        (json!([{ "url": "https://a.test/", "response": { "status": 99 } }]), "its status is 99"),
        (json!([{ "url": "https://a.test/", "response": {}, "methd": "GET" }]), "unknown field"),
    ] {
        let error = tool().open(&task(fixtures), None).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(tool().open(&example_task(), None).err().unwrap().to_string().contains("no `http`"));
    let error = read_tool("type = \"http\"\nfixtures = []\nfile = \"x\"").err().unwrap().to_string();
    assert!(error.contains("keep one"), "{error}");
}
