//! The contract of a world as checks that anybody can run on their own.
//!
//! In: a world, a seed and a number of tasks. Out: every violation in words; an empty list means that the contract holds: tasks
//! are reproducible and splits disjoint, a replayed or restored world goes on as the original did, the oracle solves every
//! task, garbage is answered and never ends the world as answered, and damaged data is refused.

mod damage;
mod play;
mod replay;
mod speech;
mod tasks;

use crate::Env;
use merit_core::{Seed, Task};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Turns within which the oracle must solve a task of this size.
pub fn turn_bound(size: u32) -> usize {
    4 * size as usize + 8
}

/// Lines that mean nothing, or nothing final, in any dialect.
pub fn garbage() -> Vec<String> {
    let mut lines = merit_tools::conformance::garbage();
    let dialects =
        ["answer", "answer ", "open", "open -1", "open 4294967297", "frobnicate the knob", "calc ((1"];
    lines.extend(dialects.map(str::to_owned));
    lines.push("take\ngo\nanswer 3\n".to_owned());
    lines
}

/// Violations, in words.
type Found = Vec<String>;
/// A check and what it is about.
type Check = (&'static str, fn(&Subject) -> Found);

struct Subject<'a> {
    env: &'a dyn Env,
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
/// ```
/// use merit_core::Seed;
/// let vault = (merit_env::env("vault").unwrap().default)().build().unwrap();
/// assert!(merit_env::conformance::check_env(vault.as_ref(), &Seed::root(1), 4).is_empty());
/// ```
pub fn check_env(env: &dyn Env, seed: &Seed, tasks: u64) -> Vec<String> {
    let name = env.about().name;
    let made = catch_unwind(AssertUnwindSafe(|| tasks::make_tasks(env, seed, tasks)));
    let tasks = match made {
        Ok(Ok(tasks)) => tasks,
        Ok(Err(what)) => return vec![format!("world `{name}`: {what}")],
        Err(_) => return vec![format!("world `{name}`: making tasks panics")],
    };
    let subject = Subject { env, seed: *seed, tasks };
    let checks: [Check; 8] = [
        ("tasks", tasks::check_tasks),
        ("splits", tasks::check_splits),
        ("the oracle", speech::check_oracle),
        ("the demonstrator", speech::check_demonstrator),
        ("garbage", speech::check_garbage),
        ("replay", replay::check_replay),
        ("damaged tasks", damage::check_damaged_tasks),
        ("damaged snapshots", damage::check_damaged_snapshots),
    ];
    let run = |(subject_of_check, check): Check| {
        catch_unwind(AssertUnwindSafe(|| check(&subject)))
            .unwrap_or_else(|_| vec![format!("it panics in the check of {subject_of_check}")])
    };
    checks.into_iter().flat_map(run).map(|what| format!("world `{name}`: {what}")).collect()
}
