//! A storm and what is left of it once its sandbox is gone.

use crate::bait::Bait;
use crate::storm::{Plan, Tally, rage};
use crate::{program, traces};
use merit_sandbox::{Sandbox, SandboxSettings};
use std::path::Path;
use std::time::Duration;

/// What a storm gave and left.
pub(crate) struct Aftermath {
    /// The answers.
    pub(crate) tally: Tally,
    /// Processes, descriptors, mounts and files left, and harm done.
    pub(crate) left: Vec<String>,
    /// Resident KiB of this process, as the median over each tenth of the calls.
    pub(crate) own_kb: Vec<u64>,
    /// The same of the fork servers together.
    pub(crate) servers_kb: Vec<u64>,
}

/// Starts a sandbox, lets the storm loose over it, ends it and looks around. `folder` is empty and ours.
pub(crate) fn weather(folder: &Path, plan: &Plan) -> Aftermath {
    let mut bait = Bait::lay(folder, "5707a5707a5707a5");
    let programs = program::load();
    let files = traces::names_in(folder);
    let (descriptors, mounts) = (traces::descriptors(), traces::mounts());
    let sandbox = Sandbox::start(&SandboxSettings::default()).unwrap();
    let spaces = traces::namespaces(&traces::below(&[bait.victim.id()]));
    let tally = rage(&sandbox, &programs, &bait, plan);
    drop(sandbox);

    let patience = Duration::from_secs(10);
    let victim = bait.victim.id();
    let left_processes = traces::settle(patience, || {
        let mut found = traces::below(&[victim]);
        found.extend(traces::inhabitants(&spaces));
        found
    });
    let left_descriptors = traces::settle(patience, || {
        traces::descriptors().into_iter().filter(|line| !descriptors.contains(line)).collect()
    });
    let mut left: Vec<String> = left_processes.iter().map(|one| format!("process {one:?}")).collect();
    left.extend(left_descriptors.into_iter().map(|line| format!("descriptor {line}")));
    left.extend(traces::mounts().symmetric_difference(&mounts).map(|line| format!("mount {line}")));
    left.extend(traces::names_in(folder).symmetric_difference(&files).map(|name| format!("file {name}")));
    left.extend(bait.harm());
    if bait.visits() > 0 {
        left.push(format!("{} connections to the bait's servers", bait.visits()));
    }
    let tenths = |pick: fn(&(usize, u64, u64)) -> u64| {
        (0..10).map(|tenth| median(&tally, plan.calls, tenth, pick)).collect()
    };
    let own_kb = tenths(|sample| sample.1);
    let servers_kb = tenths(|sample| sample.2);
    Aftermath { tally, left, own_kb, servers_kb }
}

/// The median of `pick` over tenth number `tenth` (from 0) of the calls.
fn median(tally: &Tally, calls: usize, tenth: usize, pick: fn(&(usize, u64, u64)) -> u64) -> u64 {
    let within = |index: usize| index * 10 / calls == tenth;
    let mut values: Vec<u64> = tally.memory.iter().filter(|sample| within(sample.0)).map(pick).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
