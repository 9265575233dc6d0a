//! Every registered tool keeps the contract, and the checks notice one that does not.

use merit_core::Task;
use merit_tools::conformance::{check_tool, example_task};
use merit_tools::{
    Calculator, FaultPlan, Faulty, Lookup, TOOLS, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession,
    ToolSpec, call_blocking, example_settings, read_tool, tool,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn every_registered_tool_keeps_the_contract() {
    for entry in TOOLS {
        let settings = example_settings(entry).unwrap();
        if !settings.needs().is_empty() {
            continue;
        }
        let tool = settings.build_one().unwrap();
        assert_eq!(check_tool(tool.as_ref(), &example_task()), Vec::<String>::new(), "{}", entry.about.name);
    }
}

#[test]
fn names_are_unique_and_found() {
    for entry in TOOLS {
        assert_eq!(tool(entry.about.name).unwrap().about, entry.about);
        assert_eq!(example_settings(entry).unwrap().about(), entry.about);
        assert_eq!(TOOLS.iter().filter(|other| other.about.name == entry.about.name).count(), 1);
    }
    let error = tool("lokup").unwrap_err().to_string();
    assert!(error.starts_with("unknown tool `lokup` (did you mean `lookup`?)"), "{error}");
}

/// Counts its calls over all sessions, forgets them in snapshots, panics on long input and answers everything else.
struct Liar(Arc<AtomicU64>, ToolSpec);

struct LiarSession(Arc<AtomicU64>);

impl Tool for Liar {
    fn spec(&self) -> &ToolSpec {
        &self.1
    }

    fn open(&self, _task: &Task, _state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        Ok(Arc::new(LiarSession(Arc::clone(&self.0))))
    }
}

impl ToolSession for LiarSession {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        assert!(input.len() < 1000, "too long");
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(ToolAnswer::Ok(count.to_string())))
    }
}

#[test]
fn the_checks_notice_a_tool_that_breaks_the_contract() {
    let card = ToolSpec::text("liar", "Breaks every rule.", "input", "anything", "x");
    let liar = Liar(Arc::default(), card);
    let found = check_tool(&liar, &example_task()).join("\n");
    for violation in [
        "the same input gives",
        "its restored copy",
        "it opens a snapshot that it never made",
        "Err(Panicked) and not a refusal",
        "Ok(Ok(",
    ] {
        assert!(found.contains(violation), "{violation} is not in:\n{found}");
    }
}

#[test]
fn the_checks_notice_a_tool_that_breaks() {
    let plan = FaultPlan { broken: 1.0, ..FaultPlan::default() };
    let faulty = Faulty::new(Arc::new(Calculator), plan).unwrap();
    let found = check_tool(&faulty, &example_task());
    assert!(found[0].contains("Broken"), "{found:?}");
}

fn look_up(key: &str) -> ToolAnswer {
    let session = Lookup.open(&example_task(), None).unwrap();
    call_blocking(&session, key, SECOND).unwrap()
}

#[test]
fn lookup_answers_from_the_table_of_the_task() {
    assert_eq!(look_up("mug"), ToolAnswer::Ok("47".to_owned()));
    assert_eq!(look_up(" pen "), ToolAnswer::Ok("12".to_owned()));
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    assert_eq!(look_up("mgu"), ToolAnswer::Refused("no entry `mgu`; nearest: mug".to_owned()));
    assert_eq!(look_up("elephant"), ToolAnswer::Refused("no entry `elephant`".to_owned()));
    assert_eq!(look_up(""), ToolAnswer::Refused("look up one name".to_owned()));
}

#[test]
fn lookup_refuses_a_task_without_a_usable_table() {
    for (payload, why) in [
        (json!({}), "its payload has no `table`"),
        (json!({ "table": [1] }), "its `table` is not an object"),
        (json!({ "table": { "mug": null } }), "entry `mug` of its `table` is neither a number nor a string"),
    ] {
        let task = Task { payload, ..example_task() };
        let error = Lookup.open(&task, None).err().unwrap().to_string();
        assert_eq!(error, format!("tool `lookup` cannot open task example/train/00000: {why}"));
    }
}

#[test]
fn a_tool_without_settings_refuses_any() {
    let parsed = read_tool("type = \"calc\"\nprecision = 3\n");
    assert!(parsed.unwrap_err().to_string().contains("precision"));
}

#[test]
fn a_faulty_tool_is_described_in_a_recipe() {
    let text = "type = \"faulty\"\ninner = { type = \"lookup\" }\nplan = { seed = 3, latency_ms = 20.0, timed_out = 0.1 }\n";
    let config = read_tool(text).unwrap();
    let tool = config.build_one().unwrap();
    assert_eq!(tool.spec().name, "lookup", "the agent cannot tell");
    let again = read_tool(&toml::to_string(&config).unwrap()).unwrap();
    assert_eq!(again, config);
    let unknown = read_tool(&text.replace("latency_ms", "latency")).err().unwrap().to_string();
    assert!(unknown.contains("unknown field `latency`"), "{unknown}");
}
