//! Tasks are reproducible, have names of their own, and never appear in both splits.

use super::{Found, Subject};
use crate::World;
use merit_core::{Seed, Split, Task};
use std::collections::HashMap;
use std::sync::Arc;

/// Tasks of both splits from two unrelated seeds: splits must be disjoint across runs too.
pub(super) fn make_tasks(world: &dyn World, seed: &Seed, tasks: u64) -> Result<Vec<Arc<Task>>, String> {
    let mut made = Vec::new();
    for seed in [*seed, seed.child("another run", 0)] {
        for split in [Split::Train, Split::HeldOut] {
            for index in 0..tasks {
                let task = world.task(split, index, &seed).map_err(|error| error.to_string())?;
                if world.task(split, index, &seed).as_ref() != Ok(&task) {
                    return Err(format!("task {} is another one when it is made again", task.id));
                }
                if task.split != split {
                    return Err(format!("task {} says that it is of another split", task.id));
                }
                made.push(Arc::new(task));
            }
        }
    }
    Ok(made)
}

/// Ids name one task only, and tasks survive a file.
pub(super) fn check_tasks(subject: &Subject) -> Found {
    let mut found = Found::new();
    let mut by_id: HashMap<&str, &Task> = HashMap::new();
    for task in &subject.tasks {
        if *by_id.entry(&task.id).or_insert(task) != task.as_ref() {
            found.push(format!("two different tasks have the id {}", task.id));
        }
        if task.world != subject.world.about().name || task.size == 0 {
            found.push(format!("task {} is of world `{}` and size {}", task.id, task.world, task.size));
        }
        let copy: Option<Task> =
            serde_json::to_string(task).ok().and_then(|text| serde_json::from_str(&text).ok());
        if copy.as_ref() != Some(task) {
            found.push(format!("task {} changes when it is saved and loaded", task.id));
        }
    }
    found
}

pub(super) fn check_splits(subject: &Subject) -> Found {
    let mut splits: HashMap<String, Split> = HashMap::new();
    let shared =
        |task: &&Arc<Task>| *splits.entry(task.payload.to_string()).or_insert(task.split) != task.split;
    let shared: Vec<_> = subject.tasks.iter().filter(shared).collect();
    shared.into_iter().map(|task| format!("task {} is in the other split too", task.id)).collect()
}
