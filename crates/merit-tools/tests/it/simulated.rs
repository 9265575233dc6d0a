//! Tools that a role plays: recorded calls are replayed, others are drawn, refused or invented, and never forgotten.

use merit_core::Task;
use merit_tools::conformance::{check_tool, example_task};
use merit_tools::{
    Declaration, EpisodeShared, ExecKind, PlayedCall, Simulated, SimulatedConfig, Tool, ToolAnswer,
    ToolError, ToolFuture, ToolPlayer, ToolSession, ToolSettings as _, call_blocking, read_tool,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn config(role: &Value, tools: &Value) -> SimulatedConfig {
    serde_json::from_value(json!({ "role": role, "tools": tools })).unwrap()
}

fn weather() -> Value {
    json!([{
        "name": "weather",
        "summary": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": { "city": { "type": "string" }, "days": { "type": "integer", "minimum": 1 } },
            "required": ["city"],
            "additionalProperties": false,
        },
        "returns": {
            "type": "object",
            "properties": {
                "sky": { "enum": ["clear", "rain"] },
                "celsius": { "type": "number", "minimum": -20, "exclusiveMaximum": 40 },
                "hours": { "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 23 }, "maxItems": 3, "uniqueItems": true },
                "note": { "type": ["string", "null"], "minLength": 5, "maxLength": 12 },
                "source": { "const": "station" },
                "wind": { "$ref": "#/$defs/wind" },
            },
            "required": ["sky", "celsius", "source"],
            "$defs": { "wind": { "anyOf": [{ "type": "boolean" }, { "type": "integer", "multipleOf": 5, "minimum": 1, "maximum": 20 }] } },
        },
        "examples": [{ "arguments": { "city": "Oslo", "days": 2 }, "output": "snow, as ever" }],
    }])
}

fn build(role: Value, tools: &Value) -> Arc<dyn Tool> {
    config(&role, tools).build_one().unwrap()
}

fn refusal(role: Value, tools: &Value) -> String {
    config(&role, tools).build().err().unwrap().to_string()
}

fn open(tool: &Arc<dyn Tool>) -> Arc<dyn ToolSession> {
    tool.open(&example_task(), None).unwrap()
}

fn ask(session: &Arc<dyn ToolSession>, arguments: &Value) -> ToolAnswer {
    call_blocking(session, &arguments.to_string(), Duration::from_secs(60)).unwrap()
}

fn ok(session: &Arc<dyn ToolSession>, arguments: Value) -> String {
    match ask(session, &arguments) {
        ToolAnswer::Ok(text) => text,
        other => panic!("{arguments}: {other:?}"),
    }
}

fn refused(session: &Arc<dyn ToolSession>, arguments: Value) -> String {
    match ask(session, &arguments) {
        ToolAnswer::Refused(why) => why,
        other => panic!("{arguments}: {other:?}"),
    }
}

fn broken(session: &Arc<dyn ToolSession>, arguments: Value) -> String {
    match ask(session, &arguments) {
        ToolAnswer::Broken(why) => why,
        other => panic!("{arguments}: {other:?}"),
    }
}

fn schema() -> Value {
    json!({ "type": "schema", "seed": 3 })
}

#[test]
fn a_recorded_call_is_answered_as_it_was_however_it_is_written() {
    let session = open(&build(schema(), &weather()));
    assert_eq!(ok(&session, json!({ "city": "Oslo", "days": 2 })), "snow, as ever");
    let turned =
        call_blocking(&session, "{\"days\": 2.0, \"city\": \"Oslo\"}", Duration::from_secs(9)).unwrap();
    assert_eq!(turned, ToolAnswer::Ok("snow, as ever".to_owned()));
    assert_ne!(ok(&session, json!({ "city": "Oslo" })), "snow, as ever");
}

#[test]
fn a_task_brings_recorded_calls_too() {
    let tool = build(json!({ "type": "examples" }), &weather());
    let recorded = json!([
        { "tool": "weather", "arguments": { "city": "Rome" }, "output": { "sky": "clear" } },
        { "tool": "other", "arguments": {}, "output": 1 },
    ]);
    let session =
        tool.open(&Task { payload: json!({ "recorded": recorded }), ..example_task() }, None).unwrap();
    assert_eq!(ok(&session, json!({ "city": "Rome" })), "{\"sky\":\"clear\"}");
    assert_eq!(ok(&session, json!({ "city": "Oslo", "days": 2 })), "snow, as ever");
    let bad = json!({ "recorded": [{ "tool": "weather", "arguments": { "town": "Rome" }, "output": 1 }] });
    let error = tool.open(&Task { payload: bad, ..example_task() }, None).err().unwrap();
    assert!(matches!(&error, ToolError::Task { .. }) && error.to_string().contains("call 0"), "{error}");
}

#[test]
fn what_is_drawn_fits_and_is_the_same_for_the_same_call() {
    let tool = build(schema(), &weather());
    let (one, other) = (open(&tool), open(&tool));
    let mut seen = std::collections::BTreeSet::new();
    for i in 0..200 {
        let arguments = json!({ "city": format!("city {i}") });
        let text = ok(&one, arguments.clone());
        assert_eq!(ok(&other, arguments), text);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(["clear", "rain"].contains(&value["sky"].as_str().unwrap()), "{text}");
        let celsius = value["celsius"].as_f64().unwrap();
        assert!((-20.0..40.0).contains(&celsius), "{text}");
        if let Some(note) = value.get("note").and_then(Value::as_str) {
            assert!((5..=12).contains(&note.len()), "{text}");
        }
        if let Some(hours) = value.get("hours").and_then(Value::as_array) {
            assert!(hours.len() <= 3 && hours.iter().all(|hour| hour.as_i64().unwrap() < 24), "{text}");
        }
        seen.insert(text);
    }
    assert!(seen.len() > 150, "other arguments give other outputs: {}", seen.len());
    let reseeded = open(&build(json!({ "type": "schema", "seed": 4 }), &weather()));
    assert_ne!(ok(&reseeded, json!({ "city": "city 0" })), ok(&one, json!({ "city": "city 0" })));
    assert_eq!(one.snapshot(), Value::Null, "what says the same anyway needs no memory");
}

#[test]
fn a_schema_that_cannot_be_drawn_from_is_refused_at_once() {
    let returning = |returns: Value| json!([{ "name": "t", "returns": returns }]);
    for (returns, why) in [
        (json!({ "type": "string", "pattern": "^a" }), "`pattern`"),
        (json!({ "properties": { "a": { "not": {} } } }), "at `/properties/a` has `not`"),
        (json!({ "$ref": "#" }), "itself"),
        (json!({ "type": "object", "properties": { "a": { "$ref": "#" } } }), "refers to itself"),
        (json!({ "type": "integer", "minimum": 5, "maximum": 4 }), "no whole number"),
        (
            json!({ "type": "array", "items": { "const": 1 }, "minItems": 2, "uniqueItems": true }),
            "contradicts",
        ),
        (json!({ "type": "array", "minItems": 100000 }), "`minItems` above"),
        (json!({ "type": "number", "multipleOf": 0.1 }), "`multipleOf`"),
        (json!(false), "allows no value"),
        (json!({ "typ": "string" }), "typ"),
    ] {
        let error = refusal(schema(), &returning(returns.clone()));
        assert!(error.contains(why) && error.contains("tool `t`"), "{returns}: {error}");
    }
    assert!(refusal(schema(), &json!([{ "name": "t" }])).contains("no `returns`"));
}

#[test]
fn wrong_arguments_are_refused_with_the_place() {
    let session = open(&build(schema(), &weather()));
    for (arguments, words) in [
        (json!({}), vec!["/city", "requires"]),
        (json!({ "city": 3 }), vec!["/city"]),
        (json!({ "city": "x", "days": 0 }), vec!["/days"]),
        (json!({ "city": "x", "day": 1 }), vec!["/day", "does not have"]),
        (json!([]), vec!["wrong arguments"]),
    ] {
        let why = refused(&session, arguments.clone());
        assert!(words.iter().all(|word| why.contains(word)), "{arguments}: {why}");
    }
    let twice =
        call_blocking(&session, "{\"city\": \"a\", \"city\": \"b\"}", Duration::from_secs(9)).unwrap();
    assert!(matches!(twice, ToolAnswer::Refused(_)), "{twice:?}");
}

#[test]
fn the_role_of_examples_names_the_nearest_recorded() {
    let tool = build(json!({ "type": "examples" }), &weather());
    assert_eq!(tool.exec_kind(), ExecKind::Instant);
    let why = refused(&open(&tool), json!({ "city": "Olso", "days": 2 }));
    assert_eq!(why, "nothing is known of these arguments; nearest: {\"city\":\"Oslo\",\"days\":2}");
    assert_eq!(check_tool(tool.as_ref(), &example_task()), Vec::<String>::new());
}

#[test]
fn declarations_that_cannot_be_are_refused() {
    let examples = || json!({ "type": "examples" });
    for (tools, why) in [
        (json!([]), "no tools"),
        (json!([{ "name": "a b" }]), "no name"),
        (json!([{ "name": "a" }, { "name": "a" }]), "two tools"),
        (json!([{ "name": "a", "parameters": { "type": "objekt" } }]), "`parameters`"),
        (json!([{ "name": "a", "examples": [{ "arguments": { "x": 1 }, "output": "" }] }]), "example 0"),
        (
            json!([{ "name": "a", "examples": [{ "arguments": {}, "output": 1 }, { "arguments": {}, "output": 2 }] }]),
            "another output",
        ),
    ] {
        assert!(refusal(examples(), &tools).contains(why), "{tools}: {}", refusal(examples(), &tools));
    }
    assert!(refusal(json!({ "type": "command", "command": [] }), &weather()).contains("no program"));
    assert!(
        refusal(json!({ "type": "command", "command": ["cat"], "timeout_s": 0 }), &weather())
            .contains("timeout_s")
    );
    for (text, why) in [
        (
            "type = \"simulated\"\nrole = { type = \"examples\", seed = 1 }\ntools = []",
            "unknown field `seed`",
        ),
        ("type = \"simulated\"\nrole = { type = \"model\" }\ntools = []", "unknown variant `model`"),
        ("type = \"simulated\"\ntools = []", "missing field `role`"),
    ] {
        let said = read_tool(text).unwrap_err().to_string();
        assert!(said.contains(why), "{text}: {said}");
    }
    let none = read_tool("type = \"simulated\"\nrole = { type = \"examples\" }");
    assert!(none.unwrap_err().to_string().contains("neither"));
    let config = config(&schema(), &weather());
    let again: SimulatedConfig = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
}

#[test]
fn a_list_of_functions_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("functions.json");
    let function = json!({ "name": "add", "description": "Adds.", "strict": true, "parameters": {
        "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] } });
    let list = json!([{ "type": "function", "function": function }, { "name": "now" }]);
    let toml =
        format!("type = \"simulated\"\nfile = \"{}\"\nrole = {{ type = \"examples\" }}", path.display());
    for text in [list.to_string(), json!({ "tools": list }).to_string()] {
        std::fs::write(&path, text).unwrap();
        let tools = read_tool(&toml).unwrap().build().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
        assert_eq!(names, ["add", "now"]);
        assert_eq!((tools[0].spec().summary.as_str(), tools[1].spec().example.as_str()), ("Adds.", "{}"));
    }
    for (text, why) in [("{", "EOF"), ("3", "neither"), (r#"[{"type":"retrieval","function":{}}]"#, "tool 0")]
    {
        std::fs::write(&path, text).unwrap();
        let error = read_tool(&toml).unwrap().build().err().unwrap().to_string();
        assert!(error.contains(why) && error.contains("functions.json"), "{error}");
    }
}

/// Says a new number each time, and how many calls it was told of.
struct Counting(AtomicU64);

impl ToolPlayer for Counting {
    fn play(&self, call: PlayedCall) -> ToolFuture {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let text = format!("{} {count} after {}", call.declaration().name, call.history.len());
        Box::pin(std::future::ready(ToolAnswer::Ok(text)))
    }
}

fn counting() -> Vec<Simulated> {
    let any = |name: &str| -> Declaration {
        serde_json::from_value(json!({ "name": name, "parameters": { "type": "object" } })).unwrap()
    };
    Simulated::set(vec![any("a"), any("b")], Arc::new(Counting(AtomicU64::new(0)))).unwrap()
}

#[test]
fn what_was_said_in_an_episode_is_said_again_there_and_in_its_forks() {
    let tools = counting();
    let one = tools[0].open(&example_task(), None).unwrap();
    assert_eq!(ok(&one, json!({ "x": 1 })), "a 0 after 0");
    assert_eq!(ok(&one, json!({ "x": 2 })), "a 1 after 1");
    assert_eq!(ok(&one, json!({ "x": 1.0 })), "a 0 after 0");
    let fork = tools[0].open(&example_task(), Some(&one.snapshot())).unwrap();
    assert_eq!(fork.snapshot(), one.snapshot());
    assert_eq!(ok(&fork, json!({ "x": 2 })), "a 1 after 1");
    assert_eq!(ok(&fork, json!({ "x": 3 })), "a 2 after 2");
    assert_ne!(fork.snapshot(), one.snapshot());
    let another = tools[0].open(&example_task(), None).unwrap();
    assert_eq!(ok(&another, json!({ "x": 1 })), "a 3 after 0");
    for state in [json!({ "remembered": [{ "tool": "a", "arguments": {} }] }), json!({}), json!([])] {
        assert!(
            matches!(tools[0].open(&example_task(), Some(&state)), Err(ToolError::Snapshot { .. })),
            "{state}"
        );
    }
}

#[test]
fn the_tools_of_a_set_remember_together() {
    let tools = counting();
    let shared = EpisodeShared::default();
    let a = tools[0].open_beside(&shared, &example_task(), None).unwrap();
    let b = tools[1].open_beside(&shared, &example_task(), None).unwrap();
    assert_eq!(ok(&a, json!({})), "a 0 after 0");
    assert_eq!(ok(&b, json!({})), "b 1 after 1");
    assert_eq!(a.snapshot(), b.snapshot());
    let later = EpisodeShared::default();
    let c = tools[1].open_beside(&later, &example_task(), Some(&a.snapshot())).unwrap();
    let d = tools[0].open_beside(&later, &example_task(), Some(&a.snapshot())).unwrap();
    assert_eq!((ok(&c, json!({})), ok(&d, json!({}))), ("b 1 after 1".to_owned(), "a 0 after 0".to_owned()));
}

/// A program that answers lines, as a shell script.
fn program(script: &str, timeout_s: f64) -> Arc<dyn Tool> {
    let role = json!({ "type": "command", "command": ["/bin/sh", "-c", script], "timeout_s": timeout_s });
    build(
        role,
        &json!([{ "name": "t", "parameters": { "type": "object" }, "returns": { "type": ["string", "integer"] } }]),
    )
}

#[test]
fn a_program_plays_the_tool() {
    let script = r#"n=0; while read line; do n=$((n+1)); case "$line" in
        '{"arguments":{"x":"no"}'*) echo '{"refused": "not that"}';;
        *'"history":[]'*) echo '{"output": "first"}';;
        *) echo "{\"output\": $n}";; esac; done"#;
    let tool = program(script, 30.0);
    assert_eq!(tool.exec_kind(), ExecKind::Waiting);
    let session = open(&tool);
    assert_eq!(ok(&session, json!({ "x": 1 })), "first");
    assert_eq!(ok(&session, json!({ "x": 2 })), "2");
    assert_eq!(ok(&session, json!({ "x": 2 })), "2", "remembered, not asked again");
    assert_eq!(refused(&session, json!({ "x": "no" })), "not that");
    assert_eq!(ok(&session, json!({ "x": 4 })), "4");
    let steady = program(r#"while read line; do echo '{"output": "same"}'; done"#, 30.0);
    assert_eq!(check_tool(steady.as_ref(), &example_task()), Vec::<String>::new());
}

#[test]
fn a_program_that_fails_breaks_the_call_and_is_started_anew() {
    for (script, why) in [
        ("read line; echo oops >&2; exit 3", "exit status 3; it said: oops"),
        ("read line; kill -9 $$", "signal 9"),
        ("read line; echo garbage", "it wrote `garbage"),
        ("read line; echo '{\"output\": 1, \"refused\": \"x\"}'; cat", "either `output` or"),
        ("read line; echo '{}'; cat", "either `output` or"),
        ("read line; echo '{\"output\": [1]}'; cat", "does not fit `returns`"),
        ("read line; printf '\\377\\n'; cat", "not UTF-8"),
        ("exec >&-; sleep 100", "closed its output"),
    ] {
        let tool = program(script, 30.0);
        let session = open(&tool);
        for attempt in 0..2 {
            let said = broken(&session, json!({ "x": 1 }));
            assert!(said.contains(why), "attempt {attempt} of {script}: {said}");
        }
        assert_eq!(session.snapshot(), json!({ "remembered": [] }), "a broken call is not remembered");
    }
    let missing =
        build(json!({ "type": "command", "command": ["/no/such/program"] }), &json!([{ "name": "t" }]));
    assert!(broken(&open(&missing), json!({})).contains("cannot be started"));
}

#[test]
fn a_program_that_hangs_is_ended_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!("sleep 1000 & echo $$ $! > {}; read line; sleep 1000", pids.display());
    let tool = program(&script, 0.5);
    let session = open(&tool);
    assert!(broken(&session, json!({})).contains("no answer within 0.5 s"));
    let text = std::fs::read_to_string(&pids).unwrap();
    for pid in text.split_whitespace() {
        assert!(ended(pid), "process {pid} is still there");
    }
}

/// Whether a process is gone, or only waits to be reaped by whoever adopted it.
fn ended(pid: &str) -> bool {
    (0..500).any(|_| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone = status.is_empty() || status.contains(") Z ");
        if !is_gone {
            std::thread::sleep(Duration::from_millis(10));
        }
        is_gone
    })
}

#[test]
fn a_program_sees_little_of_the_environment_and_ends_with_its_tools() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "echo $$ > {}; read line; n=$(env | cut -d= -f1 | grep -v -x -e PATH -e HOME -e LANG -e PWD -e _ -e SHLVL -e OLDPWD | wc -l); \
         echo \"{{\\\"output\\\": $((n))}}\"; cat",
        file.display()
    );
    let tool = program(&script, 30.0);
    let session = open(&tool);
    assert_eq!(ok(&session, json!({})), "0", "variables beyond those allowed");
    let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert!(std::path::Path::new(&format!("/proc/{pid}")).exists());
    drop((session, tool));
    assert!(ended(&pid));
}
