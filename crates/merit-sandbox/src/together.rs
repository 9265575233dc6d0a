//! The memory of all processes of one call together, for programs that may fork: the kernel's own limit is for each of them.
//!
//! Some milliseconds apart, the private memory of every process of the call is added up, less what a warm interpreter holds
//! before it has done anything. Only `/proc` is read, so that root and others are held alike. Private memory cannot be hidden
//! from the count; memory of no process alone (shared and anonymous) is refused by the filter, and files have their own limit.

use crate::{Limits, SandboxError, usage};
use std::fs::{read_dir, read_to_string};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// From one look to the next, at least.
const PAUSE: Duration = Duration::from_millis(2);
/// Looking takes at most about this part of a core.
const SHARE: u32 = 8;

/// What one fresh worker holds, as the measure for all processes that it forks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Together {
    pid: u32,
    fresh_kb: u64,
}

impl Together {
    /// Of a worker that stands ready and has not been sent its program; absent where it may not fork.
    pub(crate) fn of(handle: &OwnedFd, limits: &Limits) -> Result<Option<Self>, SandboxError> {
        if limits.processes == 0 {
            return Ok(None);
        }
        let unseen = || SandboxError::System {
            doing: "adding up the memory of a program's processes",
            why: "`/proc` does not show a worker's memory and children; `processes = 0` does without"
                .to_owned(),
        };
        let pid = usage::pid_of(handle).ok_or_else(unseen)?;
        let fresh_kb = private_kb(pid).ok_or_else(unseen)?;
        read_to_string(format!("/proc/{pid}/task/{pid}/children")).map_err(|_| unseen())?;
        Ok(Some(Self { pid, fresh_kb }))
    }

    /// What its processes hold beyond fresh ones. Those that end meanwhile hold nothing.
    fn held_kb(&self) -> u64 {
        let mut held = 0;
        let mut found = vec![self.pid];
        while let Some(pid) = found.pop() {
            held += private_kb(pid).unwrap_or(0).saturating_sub(self.fresh_kb);
            children(pid, &mut found);
        }
        held
    }
}

/// Looks at a call from time to time.
#[derive(Debug)]
pub(crate) struct Watch {
    of: Together,
    limit_kb: u64,
    next: Instant,
    most_kb: u64,
}

impl Watch {
    pub(crate) fn new(of: Together, limit_kb: u64) -> Self {
        Self { of, limit_kb, next: Instant::now(), most_kb: 0 }
    }

    /// When to look again.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Whether the call holds more than it may. Does nothing before it is time.
    pub(crate) fn is_over(&mut self) -> bool {
        let began = Instant::now();
        if began < self.next {
            return false;
        }
        let held = self.of.held_kb();
        self.most_kb = self.most_kb.max(held + self.of.fresh_kb);
        self.next = Instant::now() + PAUSE.max(began.elapsed() * SHARE);
        held > self.limit_kb
    }

    /// The most that was seen at once, with one interpreter's own.
    pub(crate) fn most_kb(&self) -> u64 {
        self.most_kb
    }
}

/// Memory that is a process's own, in store or swapped out. Pages that it still shares with the one that forked it count.
fn private_kb(pid: u32) -> Option<u64> {
    let status = read_to_string(format!("/proc/{pid}/status")).ok()?;
    let swapped: u64 = usage::field(&status, "VmSwap:").unwrap_or(0);
    Some(usage::field::<u64>(&status, "RssAnon:")? + swapped)
}

/// Every thread has the children that it forked.
fn children(pid: u32, found: &mut Vec<u32>) {
    for thread in read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let listed = read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(listed.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
}
