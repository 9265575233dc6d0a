//! What is searched is kept in files beside the items, and is made again where it is not what it should be.

use merit_memory::{Candidate, Forgotten, Memory, Query, Retrieval, Retrieved, Settings};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FOLDER: &str = "MERIT_MEMORY_KEEPER";
const FILES: [&str; 2] = ["words.index", "vectors.index"];
/// More than are indexed anew without a file.
const MANY: usize = 20_000;

/// A folder with many notes that name their own number.
fn notes(dir: &Path, name: &str, about: &str) -> PathBuf {
    let folder = dir.join(name);
    let mut memory = Memory::create(&folder, Settings::default()).unwrap();
    memory.evolve((0..MANY).map(|at| Candidate::new(format!("{about} number n{at}n"))).collect()).unwrap();
    folder
}

/// What another process finds by every way that has a file.
fn ask(folder: &Path, query: &str) -> Vec<Retrieved> {
    let mut memory = Memory::open(folder).unwrap();
    let ways = [Retrieval::Words, Retrieval::Dense, Retrieval::Hybrid];
    ways.map(|by| memory.retrieve(&Query { by: Some(by), ..Query::new(query, 3) }).unwrap()).to_vec()
}

fn bytes(folder: &Path) -> [Vec<u8>; 2] {
    FILES.map(|file| std::fs::read(folder.join(file)).unwrap())
}

#[test]
fn a_kept_index_answers_like_a_new_one_and_sees_what_came_and_went() {
    let dir = tempfile::tempdir().unwrap();
    let folder = notes(dir.path(), "notes", "owl");
    let (before, kept) = (ask(&folder, "number n77n"), bytes(&folder));
    assert!(before.iter().all(|found| found.items[0].text == "owl number n77n"));
    assert_eq!(ask(&folder, "number n77n"), before);
    let mut memory = Memory::open(&folder).unwrap();
    memory.prune(Forgotten::One(before[0].items[0].id)).unwrap();
    memory.evolve(vec![Candidate::new("a bat with the number n77nn")]).unwrap();
    drop(memory);
    for found in ask(&folder, "bat number n77nn") {
        assert_eq!(found.items[0].text, "a bat with the number n77nn");
        assert!(found.items.iter().all(|item| item.text != "owl number n77n"));
    }
    assert!(bytes(&folder) == kept, "little has changed, and the files stay");
    let mut memory = Memory::open(&folder).unwrap();
    memory.prune(Forgotten::Above(MANY - 3000)).unwrap();
    drop(memory);
    assert_eq!(ask(&folder, "number n9000n")[1].items[0].text, "owl number n9000n");
    assert!(bytes(&folder) != kept, "much has changed, and they are made again");
}

#[test]
fn a_file_that_is_cut_or_altered_or_of_other_items_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, other) = (notes(dir.path(), "notes", "owl"), notes(dir.path(), "other", "bat"));
    let (want, foreign) = (ask(&folder, "number n77n"), ask(&other, "number n77n"));
    assert!(want != foreign);
    for (at, file) in FILES.iter().enumerate() {
        let mut altered = bytes(&folder)[at].clone();
        let middle = altered.len() / 2;
        altered[middle] ^= 1;
        for wrong in [&altered, &altered[..middle], &bytes(&other)[at], &[]] {
            std::fs::write(folder.join(file), wrong).unwrap();
            assert_eq!(ask(&folder, "number n77n"), want, "{file}");
            let made = bytes(&folder);
            assert!(made[at] != wrong, "{file}");
            assert_eq!(ask(&folder, "number n77n"), want, "{file}");
            assert!(bytes(&folder) == made, "{file} is good now and is read");
        }
    }
}

#[test]
fn few_items_need_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("notes");
    let mut memory = Memory::create(&folder, Settings::default()).unwrap();
    memory.evolve(vec![Candidate::new("owls hunt at night")]).unwrap();
    drop(memory);
    assert_eq!(ask(&folder, "owls")[1].items.len(), 1);
    assert!(FILES.iter().all(|file| !folder.join(file).exists()));
}

/// The process that is killed: makes the files again and again.
#[test]
#[ignore = "runs as the child of the test below"]
fn keeper() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    loop {
        FILES.iter().for_each(|file| _ = std::fs::remove_file(Path::new(&folder).join(file)));
        ask(folder.as_ref(), "number n77n");
        println!("kept");
    }
}

#[test]
fn a_process_that_is_killed_while_it_keeps_files_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let folder = notes(dir.path(), "notes", "owl");
    let want = ask(&folder, "number n77n");
    for round in 0..4 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kept::keeper", "--ignored", "--nocapture"])
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        lines.filter(|line| line.starts_with("kept")).nth(round).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(70 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(ask(&folder, "number n77n"), want);
    }
}
