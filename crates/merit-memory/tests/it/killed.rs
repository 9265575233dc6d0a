//! A process that is killed in the middle of its writing leaves a memory that is whole.

use merit_memory::{Candidate, Memory, Query, Settings};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const FOLDER: &str = "MERIT_MEMORY_WRITER";
const AT_ONCE: usize = 7;

/// The process that is killed: adds items for ever and says what was committed.
#[test]
#[ignore = "runs as the child of the test below"]
fn writer() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let mut memory = Memory::open(folder.as_ref()).unwrap();
    for change in 0_u64.. {
        let items = (0..AT_ONCE).map(|at| Candidate::new(format!("note {at} of change {change}")));
        memory.evolve(items.collect()).unwrap();
        println!("committed {}", change + 1);
    }
}

#[test]
fn what_was_committed_is_there_after_a_kill_and_nothing_by_halves() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("notes");
    Memory::create(&folder, Settings::default()).unwrap();
    for round in 0..3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::writer", "--ignored", "--nocapture"])
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let said = lines.filter(|line| line.starts_with("committed")).nth(20 + round);
        child.kill().unwrap();
        child.wait().unwrap();
        let said: u64 = said.unwrap().trim_start_matches("committed ").parse().unwrap();
        let mut memory = Memory::open(&folder).unwrap();
        let (items, version) = (memory.len().unwrap(), memory.version().unwrap());
        assert!(items > 0 && items % AT_ONCE == 0, "{items} items");
        assert!(version >= said, "version {version} after {said} commits");
        assert_eq!(memory.retrieve(&Query::new("change 3", 3)).unwrap().items.len(), 3);
    }
}
