//! What calls may have left behind: processes, descriptors, mounts, files, control groups. Read from `/proc`, so
//! that nothing depends on what the sandbox says of itself.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// A process as `/proc` shows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Process {
    /// Its number in our own namespace.
    pub(crate) pid: u32,
    parent: u32,
    name: String,
    state: String,
}

fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| read_process(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn read_process(pid: u32) -> Option<Process> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may itself hold brackets and spaces.
    let (head, rest) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.to_owned();
    Some(Process { pid, parent: fields.next()?.parse().ok()?, name, state })
}

/// All processes below this one, in the order of their numbers, without `except`.
pub(crate) fn below(except: &[u32]) -> Vec<Process> {
    let all = processes();
    let mut mine = BTreeSet::from([std::process::id()]);
    loop {
        let before = mine.len();
        let born = all.iter().filter(|one| mine.contains(&one.parent)).map(|one| one.pid);
        mine.extend(born.filter(|pid| !except.contains(pid)).collect::<Vec<_>>());
        if mine.len() == before {
            break;
        }
    }
    mine.remove(&std::process::id());
    let mut found: Vec<Process> = all.into_iter().filter(|one| mine.contains(&one.pid)).collect();
    found.sort();
    found
}

/// The pid namespaces of `processes` that are not our own.
pub(crate) fn namespaces(processes: &[Process]) -> BTreeSet<String> {
    let own = namespace_of(std::process::id());
    processes
        .iter()
        .filter_map(|one| namespace_of(one.pid))
        .filter(|name| Some(name) != own.as_ref())
        .collect()
}

fn namespace_of(pid: u32) -> Option<String> {
    Some(std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok()?.to_string_lossy().into_owned())
}

/// Processes anywhere on the host that live in one of `namespaces`, whoever their parent is by now.
pub(crate) fn inhabitants(namespaces: &BTreeSet<String>) -> Vec<Process> {
    processes()
        .into_iter()
        .filter(|one| namespace_of(one.pid).is_some_and(|name| namespaces.contains(&name)))
        .collect()
}

/// Asks `found` until it finds nothing or `patience` is over; what was found last.
pub(crate) fn settle<T>(patience: Duration, found: impl Fn() -> Vec<T>) -> Vec<T> {
    let end = Instant::now() + patience;
    loop {
        let left = found();
        if left.is_empty() || Instant::now() > end {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The open descriptors of this process: number and what they lead to.
pub(crate) fn descriptors() -> Vec<String> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let mut open: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let target = std::fs::read_link(entry.path()).ok()?;
            Some(format!("{} -> {}", entry.file_name().to_string_lossy(), target.display()))
        })
        // The one that lists them.
        .filter(|line| !line.contains("/fd") || !line.contains("/proc/"))
        .collect();
    open.sort();
    open
}

/// The mount table of this process.
pub(crate) fn mounts() -> BTreeSet<String> {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap().lines().map(str::to_owned).collect()
}

/// Names in `folder`, empty when it cannot be listed.
pub(crate) fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Control groups of ours that are still there: those named after a process that was below this one.
pub(crate) fn groups_of(pids: &BTreeSet<u32>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let maker = name.strip_prefix("merit-").and_then(|pid| pid.parse().ok());
            if maker.is_some_and(|pid| pids.contains(&pid)) {
                found.push(entry.path().display().to_string());
            }
            open.push(entry.path());
        }
    }
    found
}
