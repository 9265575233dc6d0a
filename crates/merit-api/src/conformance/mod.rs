//! The contracts of worlds and tools as checks that anybody can run on their own.
//!
//! In: a world, a seed and a number of tasks. Out: every violation in words; an empty list means that the contract holds: tasks
//! are reproducible and splits disjoint, an environment that is reset, replayed or restored goes on as the original did, the
//! expert solves every task and keeps its manners, what it says can be said by calls where there are any, garbage is answered and never ends a
//! task as answered, no token depends on `info`, and damaged data is refused. [`check_tool`] is the contract of a tool.

mod calls;
mod damage;
mod info;
mod play;
mod replay;
mod speech;
mod tasks;
mod tool;

pub use tool::{DEADLINE, MAX_REFUSAL_LENGTH, check_tool, example_task};

use crate::World;
use merit_core::{Seed, Task};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Turns within which the expert must solve a task of this size.
pub fn turn_bound(size: u32) -> usize {
    4 * size as usize + 8
}

/// Inputs that no tool understands.
pub fn garbage() -> Vec<String> {
    tool::garbage()
}

/// Lines that mean nothing, or nothing final, in any world.
pub fn garbage_lines() -> Vec<String> {
    let mut lines = garbage();
    let worded =
        ["answer", "answer ", "open", "open -1", "open 4294967297", "frobnicate the knob", "calc ((1"];
    lines.extend(worded.map(str::to_owned));
    lines.push("take\ngo\nanswer 3\n".to_owned());
    lines
}

/// Violations, in words.
type Found = Vec<String>;
/// A check and what it is about.
type Check = (&'static str, fn(&Subject) -> Found);

struct Subject<'a> {
    world: &'a dyn World,
    seed: Seed,
    tasks: Vec<Arc<Task>>,
}

impl Subject<'_> {
    /// A few tasks of both splits, for checks that open worlds many times.
    fn some(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.tasks.iter().step_by((self.tasks.len() / 8).max(1))
    }
}

/// Checks one world on `tasks` tasks of each split.
///
/// An example is in [`TextGame`](crate::TextGame).
pub fn check_world(world: &dyn World, seed: &Seed, tasks: u64) -> Vec<String> {
    let name = world.about().name;
    let made = catch_unwind(AssertUnwindSafe(|| tasks::make_tasks(world, seed, tasks)));
    let tasks = match made {
        Ok(Ok(tasks)) => tasks,
        Ok(Err(what)) => return vec![format!("world `{name}`: {what}")],
        Err(_) => return vec![format!("world `{name}`: making tasks panics")],
    };
    let subject = Subject { world, seed: *seed, tasks };
    let checks: [Check; 12] = [
        ("tasks", tasks::check_tasks),
        ("splits", tasks::check_splits),
        ("the expert", speech::check_expert),
        ("the erring expert", speech::check_erring_expert),
        ("manners", speech::check_manners),
        ("calls", calls::check_calls),
        ("garbage", speech::check_garbage),
        ("replay", replay::check_replay),
        ("reset", replay::check_reset),
        ("info", info::check_info),
        ("damaged tasks", damage::check_damaged_tasks),
        ("damaged snapshots", damage::check_damaged_snapshots),
    ];
    let run = |(subject_of_check, check): Check| {
        catch_unwind(AssertUnwindSafe(|| check(&subject)))
            .unwrap_or_else(|_| vec![format!("it panics in the check of {subject_of_check}")])
    };
    checks.into_iter().flat_map(run).map(|what| format!("world `{name}`: {what}")).collect()
}
