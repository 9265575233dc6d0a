//! A Python function or class as a tool: it is described by its signature, keeps the contract, and its failures have their types.

use merit_core::Task;
use merit_tools::conformance::{check_tool, example_task};
use merit_tools::{Arguments, Tool, ToolAnswer, ToolSession, call_blocking, read_tool};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn document(name: &str) -> String {
    format!("{}/../../docs/python/tools.py:{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A module with this text, as `module` names it; it is gone with the thread of the test.
fn written(text: &str, name: &str) -> String {
    thread_local! {
        static KEPT: RefCell<Vec<tempfile::TempDir>> = const { RefCell::new(Vec::new()) };
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.py");
    std::fs::write(&file, text).unwrap();
    KEPT.with_borrow_mut(|kept| kept.push(folder));
    format!("{}:{name}", file.display())
}

fn build(module: &str, more: &str) -> Result<Arc<dyn Tool>, String> {
    let settings = read_tool(&format!("type = \"python-tool\"\nmodule = {module:?}\n{more}"));
    settings.map_err(|error| error.to_string())?.build_one().map_err(|error| error.to_string())
}

fn open(tool: &Arc<dyn Tool>, state: Option<&Value>) -> Arc<dyn ToolSession> {
    tool.open(&example_task(), state).unwrap()
}

fn call(session: &Arc<dyn ToolSession>, input: &str) -> ToolAnswer {
    call_blocking(session, input, MINUTE).unwrap()
}

fn ok(text: &str) -> ToolAnswer {
    ToolAnswer::Ok(text.to_owned())
}

#[test]
fn a_function_is_described_by_its_signature_and_keeps_the_contract() {
    let convert = build(&document("convert"), "").unwrap();
    assert_eq!(check_tool(convert.as_ref(), &example_task()), Vec::<String>::new());
    let spec = convert.spec();
    assert_eq!(
        (spec.name.as_str(), spec.summary.as_str()),
        ("convert", "Converts a distance between kilometres and miles.")
    );
    assert_eq!(
        spec.arguments.schema(),
        json!({
            "type": "object",
            "properties": {
                "amount": { "type": "number", "description": "how far, in `unit`" },
                "unit": { "enum": ["km", "miles"], "description": "what `amount` is measured in" },
            },
            "required": ["amount", "unit"],
            "additionalProperties": false,
        })
    );
    let session = open(&convert, None);
    assert_eq!(call(&session, r#"{"amount": 5, "unit": "km"}"#), ok("3.107 miles"));
    for (input, why) in [
        (r#"{"amount": -1, "unit": "km"}"#, "a distance is not negative"),
        (r#"{"amount": 1}"#, "unit"),
        (r#"{"amount": "1", "unit": "km"}"#, "amount"),
        (r#"{"amount": 1, "unit": "feet"}"#, "unit"),
        (r#"{"amount": 1, "unit": "km", "more": 1}"#, "more"),
        ("five km", "not a JSON object"),
    ] {
        let answer = call(&session, input);
        assert!(matches!(&answer, ToolAnswer::Refused(text) if text.contains(why)), "{input}: {answer:?}");
    }
    assert_eq!(session.snapshot(), Value::Null);
}

#[test]
fn of_a_class_every_episode_has_an_object_that_can_be_restored() {
    let notebook = build(&document("Notebook"), "settings = { most = 60 }").unwrap();
    // A notebook takes any text.
    let found = check_tool(notebook.as_ref(), &example_task());
    assert!(found.iter().all(|what| what.contains("garbage")), "{found:?}");
    assert_eq!(notebook.spec().name, "notebook");
    assert!(matches!(&notebook.spec().arguments, Arguments::Text { property, .. } if property == "line"));
    let (first, second) = (open(&notebook, None), open(&notebook, None));
    assert_eq!(call(&first, "milk"), ok("1. milk"));
    assert_eq!(call(&second, "tea"), ok("1. tea"));
    assert_eq!(call(&first, "bread"), ok("1. milk\n2. bread"));
    let restored = open(&notebook, Some(&first.snapshot()));
    assert_eq!(call(&restored, "salt"), ok("1. milk\n2. bread\n3. salt"));
    assert_eq!(call(&first, "rice"), ok("1. milk\n2. bread\n3. rice"));
    drop(first);
    // The worker of the first episode serves the next, with an object of its own.
    assert_eq!(call(&open(&notebook, None), "jam"), ok("1. jam"));
    let other = build(&document("Notebook"), "settings = { most = 3 }\nname = \"slip\"").unwrap();
    assert_eq!(other.spec().name, "slip");
    assert_eq!(
        call(&open(&other, None), "jam!"),
        ToolAnswer::Refused("a line has at most 3 characters".into())
    );
}

const FOUL: &str = r#"
import os, signal, sys, time, random
from typing import Optional, Union, List, Any
class Foul:
    """Does what it is told."""
    example = {"act": "go"}
    def __init__(self, task=None):
        self.calls, self.keys = 0, sorted(task)
    def __call__(self, act: str, times: int = 1) -> Any:
        self.calls += times
        if act == "exit": os._exit(7)
        if act == "kill": os.kill(os.getpid(), signal.SIGKILL)
        if act == "hang": time.sleep(60)
        if act == "raise": {}["door"]
        if act == "flood": print("x" * 10_000_000)
        if act == "long": return "x" * 10_000
        if act == "keys": return self.keys
        if act == "object": return object()
        if act == "none": return None
        if act == "time": return time.time()
        return {"calls": self.calls}
def many(first: List[int], second: Optional[str] = None, third: Union[int, bool, None] = 1, fourth: dict = {}) -> str:
    """Takes much.

    More about it.
    """
    return f"{first} {second} {third} {fourth}"
def hidden(word: str, key: str) -> str:
    """Repeats a word."""
    return word + key
def bare(word):
    """A word."""
def undocumented(word: str): pass
def odd(word: object):
    """A word."""
def rest(*words: str):
    """Words."""
class Silent:
    """Cannot be called."""
"#;

#[test]
fn every_failure_of_a_tool_has_its_type() {
    let foul = build(&written(FOUL, "Foul"), "timeout_s = 2.0\nshown_chars = 100").unwrap();
    let act = |session: &Arc<dyn ToolSession>, act: &str| call(session, &json!({ "act": act }).to_string());
    let session = open(&foul, None);
    assert_eq!(act(&session, "go"), ok(r#"{"calls": 1}"#));
    assert_eq!(act(&session, "none"), ok("done"));
    assert_eq!(act(&session, "flood"), ok(r#"{"calls": 3}"#));
    assert!(matches!(act(&session, "long"), ToolAnswer::Ok(text) if text.contains("characters left out")));
    assert_eq!(act(&session, "keys"), ok(r#"["corpus", "table"]"#));
    // The object is made what it was before the call that hung.
    assert_eq!(act(&session, "hang"), ToolAnswer::TimedOut("foul gave no answer in 2 s".into()));
    assert_eq!(act(&session, "go"), ok(r#"{"calls": 6}"#));
    for (what, why) in [
        ("exit", "it ended with exit status: 7"),
        ("kill", "it was killed (signal 9"),
        ("raise", "KeyError: 'door'"),
        ("object", "which has no JSON form"),
    ] {
        let session = open(&foul, None);
        let answer = act(&session, what);
        assert!(matches!(&answer, ToolAnswer::Broken(text) if text.contains(why)), "{what}: {answer:?}");
        assert_eq!(act(&open(&foul, None), "go"), ok(r#"{"calls": 1}"#), "{what}");
    }
    // An object that cannot be made what it was is broken, and not another one.
    let session = open(&foul, None);
    assert!(matches!(act(&session, "time"), ToolAnswer::Ok(_)));
    let restored = open(&foul, Some(&session.snapshot()));
    let answer = act(&restored, "go");
    assert!(
        matches!(&answer, ToolAnswer::Broken(text) if text.contains("call 1 of 1 is answered otherwise")),
        "{answer:?}"
    );
}

/// Ends its process at the second to fifth call of an episode, by the episode's number, where that is odd.
const MORTAL: &str = r#"
import os
class Mortal:
    """Counts its calls."""
    def __init__(self, task=None):
        self.number, self.calls = (task or {}).get("number", 0), 0
    def __call__(self, word: str) -> str:
        self.calls += 1
        if self.number % 2 and self.calls == 2 + self.number % 4: os._exit(1)
        return f"{self.number} {self.calls} {word}"
"#;

/// An interpreter that skips what takes long: the search for it, and what a site adds.
fn quick_python() -> (tempfile::TempDir, String) {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("python");
    let itself =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let itself = String::from_utf8(itself.unwrap().stdout).unwrap();
    std::fs::write(&file, format!("#!/bin/sh\nexec '{}' -S -E \"$@\"\n", itself.trim())).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = file.display().to_string();
    (folder, path)
}

#[test]
fn of_hundreds_of_workers_that_die_none_takes_another_episode_along_or_answers_wrongly() {
    let (_folder, python) = quick_python();
    let mortal = build(&written(MORTAL, "Mortal"), &format!("python = {python:?}")).unwrap();
    let (died, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let episode = |number: u64| {
        let task = Task::new("storm", format!("storm/{number}")).with_payload(json!({ "number": number }));
        let session = mortal.open(&task, None).unwrap();
        for at in 1..=6 {
            match call(&session, &format!("word-{number}-{at}")) {
                ToolAnswer::Ok(said) => assert_eq!(said, format!("{number} {at} word-{number}-{at}")),
                ToolAnswer::Broken(why) => {
                    assert_eq!((number % 2, at), (1, 2 + number % 4), "{why}");
                    died.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(number % 2, 0);
        done.fetch_add(1, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..102).for_each(|at| episode(part * 102 + at)));
        }
    });
    assert_eq!((died.into_inner(), done.into_inner()), (204, 204));
}

#[test]
fn annotations_become_a_schema_and_settings_are_hidden_from_the_agent() {
    let many = build(&written(FOUL, "many"), "").unwrap();
    let schema = many.spec().arguments.schema();
    assert_eq!(schema["properties"]["first"], json!({ "type": "array", "items": { "type": "integer" } }));
    assert_eq!(
        schema["properties"]["second"],
        json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })
    );
    assert_eq!(schema["required"], json!(["first"]));
    assert_eq!(many.spec().summary, "Takes much.");
    assert_eq!(call(&open(&many, None), r#"{"first": [1, 2], "second": "x"}"#), ok("[1, 2] x 1 {}"));
    let hidden = build(&written(FOUL, "hidden"), "settings = { key = \"!\" }").unwrap();
    assert_eq!(call(&open(&hidden, None), "word"), ok("word!"));
}

#[test]
fn what_cannot_be_a_tool_is_named_when_it_is_built() {
    for (name, more, why) in [
        ("bare", "", "parameter `word` of"),
        ("undocumented", "", "has no docstring"),
        ("odd", "", "which has no JSON form; use str, int"),
        ("rest", "", "has no name that an agent could give"),
        ("Silent", "", "has no `__call__`"),
        ("Fuol", "", "(did you mean `Foul`?)"),
        ("hidden", "settings = { kye = 1 }", "`settings` has `kye`"),
        ("Foul", "settings = { kye = 1 }", "unexpected keyword argument 'kye'"),
        ("hidden", "name = \"two words\"", "is no name"),
        ("hidden", "shown_chars = 1", "`shown_chars` is 1; it must be at least 100"),
    ] {
        let error = build(&written(FOUL, name), more).err().unwrap_or_else(|| panic!("{name} is built"));
        assert!(error.contains(why), "{name}: {error}");
    }
}
