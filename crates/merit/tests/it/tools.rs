//! Tools by hand, the doctor, and merit's tools served to other programs, each as real processes.
#![cfg(target_os = "linux")]

use merit_tools::conformance::example_task;
use merit_tools::{EpisodeShared, Tool, ToolAnswer, ToolSession, call_blocking, read_tool};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

const MERIT: &str = env!("CARGO_BIN_EXE_merit");

fn merit(words: &[&str]) -> Output {
    Command::new(MERIT).args(words).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn several_inputs_are_one_session() {
    let (code, out, _) = said(&merit(&["tool", "run", "python", "x = 6", "x * 7"]));
    assert_eq!((code, out.as_str()), (Some(0), "(no output)\n42\n"));
}

#[test]
fn an_input_may_begin_with_a_minus_wherever_the_options_stand() {
    for words in
        [&["-3+5", "2**10", "--json"][..], &["--json", "-3+5", "2**10"], &["--json", "--", "-3+5", "2**10"]]
    {
        let (code, out, err) = said(&merit(&[&["tool", "run", "calc"], words].concat()));
        assert_eq!(code, Some(0), "{words:?}: {err}");
        assert!(out.contains("\"output\":\"2\"") && out.contains("\"output\":\"1024\""), "{words:?}: {out}");
    }
    let (code, _, err) = said(&merit(&["tool", "run", "calc", "-3+5", "--jsno"]));
    assert!(code == Some(2) && err.contains("'--json'"), "{err}");
    let (code, _, err) = said(&merit(&["tool", "run", "python", "1", "--set", "sandbox.limits.seconds=-1"]));
    assert!(code == Some(2) && err.contains("seconds"), "{err}");
}

#[test]
fn free_text_and_numbers_of_options_may_begin_with_a_minus() {
    let (_, _, err) = said(&merit(&["chat", "absent.gguf", "--system", "-x and --stats"]));
    assert!(err.contains("absent.gguf") && !err.contains("Usage"), "{err}");
    let (_, _, err) = said(&merit(&["import", "absent.json", "--error-prefix", "--error"]));
    assert!(err.contains("absent.json") && !err.contains("Usage"), "{err}");
    let (_, _, err) = said(&merit(&["rollout", "ledger-tools", "--temperature", "-1"]));
    assert!(err.contains("expected 0 (greedy) or a number above it"), "{err}");
    let (_, _, err) = said(&merit(&["train", "ledger-tools", "--set", "budget.steps=-1"]));
    assert!(err.contains("integer `-1`, expected a whole number"), "{err}");
}

#[test]
fn a_tool_without_input_runs_its_example() {
    assert_eq!(said(&merit(&["tool", "run", "calc"])).1, "189\n");
}

#[test]
fn every_tool_runs_without_settings_or_says_what_to_set() {
    for entry in merit_tools::TOOLS {
        let name = entry.about.name;
        for words in [&["tool", "run", name][..], &["tool", "show", name]] {
            let (code, out, err) = said(&merit(words));
            assert!(!err.contains("missing field"), "{words:?}: {err}");
            let wanting = [
                (
                    "mcp",
                    "server",
                    "merit tool run mcp --set 'server={ command = [\"python3\", \"server.py\"] }'",
                ),
                ("python-tool", "module", "merit tool run python-tool --set 'module=\"mine:weather\"'"),
            ];
            if let Some((_, what, line)) = wanting.iter().find(|(tool, ..)| *tool == name) {
                let needs = format!("needs a {what}");
                assert!(code == Some(2) && err.contains(&needs) && err.contains(line), "{err}");
                continue;
            }
            assert!(code == Some(0) && !out.is_empty(), "{words:?}: {out}{err}");
            let used = format!("no settings given: the example of `{name}` is used\n");
            let by_example = words[1] == "run" && !entry.example.is_empty();
            assert!(err == used || (!by_example && err.is_empty()), "{words:?}: {err}");
        }
    }
    assert_eq!(said(&merit(&["tool", "run", "search", "blue mug"])).0, Some(0));
    let (_, out, _) = said(&merit(&["tool", "run", "sql", "SELECT price FROM goods WHERE name = 'mug'"]));
    assert!(out.contains("47"), "{out}");
}

#[test]
fn a_call_that_is_refused_ends_with_1_and_says_why() {
    let (code, out, err) = said(&merit(&["tool", "run", "python", "import socket; socket.socket()"]));
    assert_eq!(code, Some(1));
    assert!(out.starts_with("[refused] not allowed here"), "{out}");
    assert_eq!(err, "merit: 1 call did not end well\n");
}

#[test]
fn settings_reach_the_tool_and_wrong_ones_are_refused() {
    let limit = ["--set", "sandbox.limits.seconds=0.2"];
    let words = [&["tool", "run", "python", "while True: pass"][..], &limit].concat();
    assert!(said(&merit(&words)).1.contains("stopped after 0.2 s"));
    for (words, wanted) in [
        (&["tool", "run", "pyton"][..], "did you mean `python`?"),
        (&["tool", "run", "python", "--set", "limits.seconds=1"], "limits"),
        (&["tool", "run", "http", "x", "--set", "fixture=1"], "fixtures"),
        (&["tool", "run", "sql", "--set", "writable=true"], "a payload by --task FILE"),
        (&["tool", "run", "faulty", "--set", "plan.seed=2"], "its settings look like this"),
        (&["tool", "show", "calc", "--format", "hermse"], "did you mean `hermes`?"),
        (&["mcp", "--tool", "calc", "--http", "192.0.2.1:80"], "this machine only"),
        (&["mcp", "--tool", "calc", "--http", "localhost"], "localhost:8931"),
    ] {
        let (code, _, err) = said(&merit(words));
        assert!(code != Some(0) && err.contains(wanted), "{words:?}: {code:?} {err}");
    }
}

#[test]
fn a_tool_shows_its_card_and_how_a_model_is_told() {
    let (_, out, _) = said(&merit(&["tool", "show", "python"]));
    assert!(out.contains("input: a Python program") && out.contains("keep_variables = true"), "{out}");
    let (_, out, _) = said(&merit(&["tool", "show", "calc", "--format", "hermes"]));
    assert!(out.contains("<tool_call>") && out.contains("\"expression\""), "{out}");
}

#[test]
fn the_doctor_names_every_layer() {
    let (code, out, err) = said(&merit(&["doctor", "--json"]));
    assert_eq!(code, Some(0), "{err}");
    let seen: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(seen["sandbox"], json!(true));
    let layers: Vec<&str> =
        seen["layers"].as_array().unwrap().iter().map(|l| l["layer"].as_str().unwrap()).collect();
    for layer in ["mount-namespace", "pid-namespace", "net-namespace", "landlock", "seccomp", "rlimits"] {
        assert!(layers.contains(&layer), "{layer} is not among {layers:?}");
    }
    assert!(said(&merit(&["doctor"])).1.contains("The sandbox starts"));
}

#[test]
fn the_doctor_says_when_there_is_no_interpreter() {
    let (code, _, err) = said(&merit(&["doctor", "--python", "/nowhere/python3"]));
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("/nowhere/python3"), "{err}");
}

/// The tools that `merit mcp` serves, used as a recipe would.
fn served(more: &str) -> Vec<Arc<dyn Tool>> {
    let command = json!([MERIT, "mcp", "--tool", "calc", "--tool", "python"]);
    read_tool(&format!("type = \"mcp\"\nserver = {{ command = {command} }}\n{more}"))
        .unwrap()
        .build()
        .unwrap()
}

fn ask(session: &Arc<dyn ToolSession>, input: &str) -> ToolAnswer {
    call_blocking(session, input, Duration::from_secs(60)).unwrap()
}

#[test]
fn what_merit_serves_merit_can_use() {
    let tools = served("prefix = \"far-\"");
    let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(names, ["far-calc", "far-python"]);
    let (one, other) = (EpisodeShared::default(), EpisodeShared::default());
    let open = |tool: usize, episode: &EpisodeShared| {
        tools[tool].open_beside(episode, &example_task(), None).unwrap()
    };
    let (calc, python, elsewhere) = (open(0, &one), open(1, &one), open(1, &other));
    assert_eq!(ask(&calc, "{\"expression\": \"6*7\"}"), ToolAnswer::Ok("42".to_owned()));
    assert!(matches!(ask(&calc, "{\"expression\": \"6*\"}"), ToolAnswer::Refused(_)));
    assert!(matches!(ask(&calc, "no JSON"), ToolAnswer::Refused(_)));
    assert_eq!(ask(&python, "{\"code\": \"x = 5\"}"), ToolAnswer::Ok("(no output)".to_owned()));
    assert_eq!(ask(&python, "{\"code\": \"x\"}"), ToolAnswer::Ok("5".to_owned()));
    assert!(
        matches!(ask(&elsewhere, "{\"code\": \"x\"}"), ToolAnswer::Refused(_)),
        "another episode sees it"
    );
    assert_eq!(python.snapshot(), json!({ "calls": 4 }), "calc and python share the episode's connection");
}

#[test]
fn a_server_that_is_not_there_is_said_at_once() {
    let config = "type = \"mcp\"\nserver = { command = [\"/nowhere/server\"] }";
    let error = read_tool(config).unwrap().build().err().unwrap().to_string();
    assert!(error.contains("/nowhere/server"), "{error}");
    let error = read_tool(&format!(
        "type = \"mcp\"\nserver = {{ command = [{MERIT:?}, \"mcp\", \"--tool\", \"calc\"] }}\nonly = [\"clac\"]"
    ));
    let error = error.unwrap().build().err().unwrap().to_string();
    assert!(error.contains("did you mean `calc`?"), "{error}");
}

#[test]
fn the_protocols_own_python_client_uses_what_merit_serves() {
    let root = merit_testing::root();
    let set_up =
        Command::new("python3").arg(root.join("benchmarks/peers/mcp_environment.py")).arg("python").output();
    let set_up = set_up.unwrap();
    if set_up.status.code() == Some(3) {
        merit_testing::skip(
            merit_testing::MCP_PYTHON,
            "the Python index cannot be reached to set up .cache/mcp",
        );
        return;
    }
    assert!(set_up.status.success(), "{}", String::from_utf8_lossy(&set_up.stderr));
    let python = [".cache/mcp/bin/python", ".cache/mcp/python"].map(|path| root.join(path));
    let python = python.into_iter().find(|path| path.exists()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python_sdk/use_tools.py");
    let words = [MERIT, "mcp", "--tool", "calc", "--tool", "python"];
    let output = Command::new(python).arg(script).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["tools"], json!(["calc", "python"]));
    assert_eq!(seen["required"], json!(["code"]));
    assert_eq!(seen["calc"], json!([false, "42"]));
    assert_eq!(seen["wrong"], json!([true, "a number must follow `*`"]));
    assert_eq!(seen["kept"], json!([[false, "(no output)"], [false, "21"]]));
}

#[test]
fn whatever_a_client_says_is_answered_and_a_long_call_reports_its_progress() {
    use std::io::Write as _;
    let mut served = Command::new(MERIT)
        .args(["mcp", "--tool", "python"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = |id: u32, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let sleep = json!({"name": "python", "arguments": {"code": "import time; time.sleep(2.5); 6 * 7"},
                       "_meta": {"progressToken": "slow"}});
    let lines = [
        "this is no JSON".to_owned(),
        request(1, "initialize", json!({})),
        request(2, "tools/list", json!({"cursor": 3})),
        request(3, "tools/call", json!({"name": "python", "arguments": 4})),
        request(4, "ping", json!([1])),
        request(5, "tools/call", sleep),
    ];
    let mut stdin = served.stdin.take().unwrap();
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    // The end of the input ends the calls under way, so it comes after the answer.
    let mut heard = std::io::BufReader::new(served.stdout.take().unwrap());
    let mut messages: Vec<Value> = Vec::new();
    while !messages.iter().any(|message| message["id"] == json!(5)) {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut heard, &mut line).unwrap() > 0, "{messages:?}");
        messages.push(serde_json::from_str(&line).unwrap());
    }
    drop(stdin);
    served.wait().unwrap();
    let code =
        |id: Value| messages.iter().find(|m| m.get("id") == Some(&id)).map(|m| m["error"]["code"].clone());
    assert_eq!(code(Value::Null), Some(json!(-32700)));
    for id in 1..=4 {
        assert_eq!(code(json!(id)), Some(json!(-32602)), "request {id}: {messages:?}");
    }
    let progress = messages.iter().filter(|m| m["method"] == "notifications/progress").count();
    assert!(progress >= 1 && code(json!(5)) == Some(Value::Null), "{messages:?}");
}
