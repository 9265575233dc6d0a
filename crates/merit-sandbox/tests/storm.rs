//! A program of its own, because it looks at the children, descriptors and memory of its whole process.
//!
//! Two thousand calls, harmless and hostile, 64 at once over one sandbox: every answer right, nothing left, memory flat.
//! The full size is `examples/storm.rs`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "escape/aftermath.rs"]
mod aftermath;
#[path = "escape/bait.rs"]
mod bait;
#[path = "escape/dice.rs"]
#[allow(dead_code)] // the escape battery uses the rest
mod dice;
#[path = "escape/program.rs"]
#[allow(dead_code)] // the escape battery uses the rest
mod program;
#[path = "escape/storm.rs"]
mod storm;
#[path = "escape/traces.rs"]
#[allow(dead_code)] // the escape battery uses the rest
mod traces;

use storm::Plan;

/// Resident memory may grow by a tenth and this many KiB: the allocator's slack, not a leak that grows with the calls.
const SLACK_KB: u64 = 8 << 10;

#[test]
fn a_storm_of_calls_is_answered_rightly_and_leaves_nothing() {
    let folder = tempfile::Builder::new().prefix("merit-storm-").tempdir().unwrap();
    let after = aftermath::weather(folder.path(), &Plan { calls: 2000, at_once: 64, seed: 20 });
    let tally = &after.tally;
    assert_eq!(tally.kinds.values().sum::<usize>(), 2000);
    assert_eq!(tally.kinds.len(), 5, "every kind of call was made: {:?}", tally.kinds);
    assert!(tally.wrong.is_empty(), "{} wrong answers:\n{}", tally.wrong.len(), tally.wrong.join("\n"));
    assert!(after.left.is_empty(), "left behind:\n{}", after.left.join("\n"));
    // The first tenth is still warming up.
    let flat = |tenths: &[u64]| tenths[1] > 0 && tenths[9] <= tenths[1] + tenths[1] / 10 + SLACK_KB;
    assert!(flat(&after.own_kb), "our own memory grew, in KiB by tenths: {:?}", after.own_kb);
    assert!(flat(&after.servers_kb), "the servers' memory grew, in KiB by tenths: {:?}", after.servers_kb);
}
