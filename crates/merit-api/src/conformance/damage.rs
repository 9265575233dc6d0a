//! Damaged tasks and snapshots: a world must refuse them with an error, since both travel through files.

use super::{Found, Subject};
use merit_core::Task;
use serde_json::{Value, json};
use std::sync::Arc;

/// Values of which none is a payload or a snapshot of any world, and every broken copy of `whole`.
fn damaged(whole: &Value) -> Vec<Value> {
    let mut broken = vec![json!(null), json!({}), json!([]), json!("text"), json!({ "of another world": 1 })];
    for key in whole.as_object().into_iter().flat_map(|object| object.keys()) {
        let mut missing = whole.clone();
        missing.as_object_mut().map(|object| object.remove(key));
        let mut emptied = whole.clone();
        emptied[key] = Value::Null;
        let mut odd = whole.clone();
        odd[key] = json!({ "odd": [-1, "x"] });
        broken.extend([missing, emptied, odd]);
    }
    broken
}

pub(super) fn check_damaged_tasks(subject: &Subject) -> Found {
    let mut found = Found::new();
    for task in subject.some() {
        let renamed = Task { world: format!("not {}", task.world), ..Task::clone(task) };
        let newer = Task { version: task.version + 1, ..Task::clone(task) };
        let broken = damaged(&task.payload).into_iter().map(|payload| Task { payload, ..Task::clone(task) });
        for damaged in broken.chain([renamed, newer]) {
            let task = Arc::new(damaged);
            if subject.world.open(&task, &subject.seed, None).is_ok() {
                found.push(format!(
                    "it opens a damaged task: world {} version {} payload {}",
                    task.world, task.version, task.payload
                ));
            }
        }
    }
    found
}

pub(super) fn check_damaged_snapshots(subject: &Subject) -> Found {
    let mut found = Found::new();
    let mut foreign: Option<Value> = None;
    for task in subject.some() {
        let own = match subject.world.open(task, &subject.seed, None) {
            Ok(env) => env.snapshot(),
            Err(error) => return vec![error.to_string()],
        };
        for state in damaged(&own).into_iter().chain(foreign.take()) {
            if subject.world.open(task, &subject.seed, Some(&state)).is_ok() {
                found.push(format!("task {} continues from a foreign or damaged snapshot: {state}", task.id));
            }
        }
        foreign = Some(own);
    }
    found
}
