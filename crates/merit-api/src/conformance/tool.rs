//! The contract of a tool as checks that anybody can run on their own.
//!
//! In: a tool and a task it can open. Out: every violation in words; an empty list means that the contract holds.

use crate::{NoAnswer, Tool, ToolAnswer, ToolSession, call_blocking};
use merit_core::Task;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A conforming tool answers within this time.
pub const DEADLINE: Duration = Duration::from_secs(5);
/// A refusal is read by the policy, token by token: it must be short.
pub const MAX_REFUSAL_LENGTH: usize = 200;

/// A task that every registered tool can open.
pub fn example_task() -> Task {
    Task::new("example", "example/train/00000").with_payload(json!({
        "table": { "mug": 47, "pen": 12 },
        "corpus": [
            { "id": "mug", "title": "Mug", "text": "A blue mug for tea and coffee." },
            { "id": "pen", "title": "Pen", "text": "A pen that writes in black." },
        ],
    }))
}

/// Inputs that no tool understands.
pub(super) fn garbage() -> Vec<String> {
    let mut inputs: Vec<String> =
        ["", " ", "\n", "\0\u{7f}", "?!;$%", "\u{1f980}\u{301}", "12 34 ))((", "'; drop table x --"]
            .map(str::to_owned)
            .to_vec();
    inputs.extend(["(", "-", "a ", "\u{e9}"].map(|piece| piece.repeat(100_000)));
    inputs
}

/// Checks one tool on one task: its example, its snapshots, and that malformed input is refused.
///
/// ```
/// use merit_api::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, conformance::check_tool};
/// use std::sync::Arc;
/// struct Double(ToolSpec);
/// struct Session;
/// impl Tool for Double {
///     fn spec(&self) -> &ToolSpec { &self.0 }
///     fn open(&self, _: &merit_core::Task, state: Option<&serde_json::Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
///         merit_api::no_state("double", state).map(|()| Arc::new(Session) as Arc<dyn ToolSession>)
///     }
/// }
/// impl ToolSession for Session {
///     fn call(self: Arc<Self>, input: String) -> ToolFuture {
///         let doubled = input.parse::<i32>().map(|n| ToolAnswer::Ok((2 * n).to_string()));
///         Box::pin(async move { doubled.unwrap_or_else(|_| ToolAnswer::Refused("give a whole number".into())) })
///     }
/// }
/// let tool = Double(ToolSpec::text("double", "Doubles a number.", "number", "a whole number", "21"));
/// assert!(check_tool(&tool, &merit_core::Task::new("quiz", "quiz/1")).is_empty());
/// ```
pub fn check_tool(tool: &dyn Tool, task: &Task) -> Vec<String> {
    let mut found = Vec::new();
    for check in [check_example, check_snapshot, check_unknown_snapshot, check_garbage] {
        if let Err(violations) = check(tool, task) {
            found.extend(violations.into_iter().map(|what| format!("tool `{}`: {what}", tool.spec().name)));
        }
    }
    found
}

type Checked = Result<(), Vec<String>>;

fn open(tool: &dyn Tool, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, Vec<String>> {
    tool.open(task, state).map_err(|error| vec![error.to_string()])
}

fn ask(session: &Arc<dyn ToolSession>, input: &str) -> Result<ToolAnswer, NoAnswer> {
    call_blocking(session, input, DEADLINE)
}

fn require(holds: bool, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(vec![what()]) }
}

/// The example is answered, and answered the same in every session.
fn check_example(tool: &dyn Tool, task: &Task) -> Checked {
    let first = ask(&open(tool, task, None)?, &tool.spec().example);
    let second = ask(&open(tool, task, None)?, &tool.spec().example);
    require(matches!(first, Ok(ToolAnswer::Ok(_))), || {
        format!("the example {:?} gives {first:?}", &tool.spec().example)
    })?;
    require(first == second, || format!("the same input gives {first:?}, then {second:?}"))
}

/// A session opened from a snapshot goes on as the original does.
fn check_snapshot(tool: &dyn Tool, task: &Task) -> Checked {
    let original = open(tool, task, None)?;
    for input in [tool.spec().example.as_str(), "", tool.spec().example.as_str()] {
        let restored = open(tool, task, Some(&original.snapshot()))?;
        require(restored.snapshot() == original.snapshot(), || {
            "a session restored from a snapshot has another snapshot".to_owned()
        })?;
        let (there, here) = (ask(&restored, input), ask(&original, input));
        require(there == here, || {
            format!("on {input:?} the original says {here:?}, its restored copy {there:?}")
        })?;
    }
    Ok(())
}

fn check_unknown_snapshot(tool: &dyn Tool, task: &Task) -> Checked {
    let foreign = json!({ "of another tool": [1, 2, 3] });
    require(tool.open(task, Some(&foreign)).is_err(), || "it opens a snapshot that it never made".to_owned())
}

/// Garbage is refused in few words, and the session still answers afterwards.
fn check_garbage(tool: &dyn Tool, task: &Task) -> Checked {
    let session = open(tool, task, None)?;
    let mut found = Vec::new();
    for input in garbage() {
        let shown: String = input.chars().take(12).collect();
        match ask(&session, &input) {
            Ok(ToolAnswer::Refused(text)) if text.is_empty() || text.len() > MAX_REFUSAL_LENGTH => {
                found.push(format!("garbage {shown:?} is refused in {} bytes", text.len()));
            }
            Ok(ToolAnswer::Refused(_)) => {}
            other => found.push(format!("garbage {shown:?} gives {other:?} and not a refusal")),
        }
    }
    if !matches!(ask(&session, &tool.spec().example), Ok(ToolAnswer::Ok(_))) {
        found.push("after garbage the example is no longer answered".to_owned());
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}
