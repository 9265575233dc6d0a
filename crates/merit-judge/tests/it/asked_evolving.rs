//! A model judges, and a model writes what it consults. Both are scripts here.

use merit_core::Cost;
use merit_evolve::Library;
use merit_judge::ask::{Ask, Examples, Wording};
use merit_judge::{
    AskedJudge, Asker, Asking, EvolvingError, JudgeFolder, Kept, LibraryFile, Pair, Put, Said, evolve_asked,
    read_pairs,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Prefers what is shown first, unless a note tells it to look for the zebra. As an analyst it writes that note in its second round.
struct Script {
    asked: Arc<AtomicU64>,
    /// Answers after which it is gone.
    gone_after: u64,
}

impl Asker for Script {
    fn id(&self) -> String {
        "script".to_owned()
    }

    fn ask(&mut self, questions: &[Put], heard: &mut dyn FnMut(usize, Result<Said, String>)) {
        for (at, put) in questions.iter().enumerate() {
            if self.asked.fetch_add(1, Ordering::Relaxed) >= self.gone_after {
                heard(at, Err("the server is gone".to_owned()));
                continue;
            }
            let text = match put.question.user.contains("Propose at most three changes") {
                true => proposed(&put.question.user),
                false => judged(&put.question.user),
            };
            heard(at, Ok(Said { text, cost: Cost { judge_calls: 1, ..Cost::default() } }));
        }
    }
}

fn judged(user: &str) -> String {
    let first = user.find("<<<candidate 1").unwrap();
    let second = user.find("<<<candidate 2").unwrap();
    let better = match user[first..].find("zebra").filter(|_| user[..first].contains("Look for the zebra")) {
        Some(at) if first + at > second => 2,
        _ => 1,
    };
    format!("{{\"reason\": \"so\", \"better\": {better}}}")
}

fn proposed(user: &str) -> String {
    match user.contains("(round 0)") {
        true => "{\"edits\": [{\"op\": \"add\", \"id\": \"colour\", \"title\": \"Colour\", \"body\": \"Red is good.\"}]}".to_owned(),
        false => "{\"edits\": [{\"op\": \"add\", \"id\": \"zebra\", \"title\": \"Animals\", \"body\": \"Look for the zebra.\"}]}".to_owned(),
    }
}

fn pairs(folder: &Path) -> Vec<Pair> {
    let line = |n: u32| {
        format!("{{\"prompt\": \"p{n}\", \"chosen\": \"a zebra {n}\", \"rejected\": \"a horse {n}\"}}\n")
    };
    let path = folder.join("pairs.jsonl");
    std::fs::write(&path, (0..40).map(line).collect::<String>()).unwrap();
    read_pairs(&path).unwrap()
}

/// Opens the judge and evolves it; says how many answers were asked for.
fn evolve(at: &Path, gone_after: u64) -> (Result<merit_judge::Evolved, EvolvingError>, u64) {
    let folder = at.join("my-judge");
    let mut file = LibraryFile::default();
    file.evolve.rounds = 3;
    JudgeFolder::create(&folder, &file).unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    let script = || Box::new(Script { asked: Arc::clone(&asked), gone_after });
    let wording = Wording {
        ask: Ask::Compare {},
        rubric: String::new(),
        library: Library::default(),
        length: 10_000,
        examples: Examples::default(),
    };
    let kept = |name: &str| Kept::open(&folder.join(name)).unwrap();
    let asking = Asking { tries: 1, ..Asking::default() };
    let judge = AskedJudge::new(script(), wording, asking, kept("answers.jsonl"));
    let mut open = JudgeFolder::open(&folder).unwrap();
    let pairs = pairs(at);
    let evolved = evolve_asked(&mut open, &pairs, judge, (script(), kept("analyst.jsonl")), &mut |_| {});
    (evolved, asked.load(Ordering::Relaxed))
}

#[test]
fn a_note_that_makes_verdicts_right_is_kept() {
    let at = tempfile::tempdir().unwrap();
    let (evolved, _) = evolve(at.path(), u64::MAX);
    let evolved = evolved.unwrap();
    assert!(evolved.library.get("zebra").is_some());
    assert_eq!(evolved.tested.judge.accuracy, Some(1.0));
    // A bag of words knows the zebra too.
    let leaks = evolved.tested.beats_leaks().unwrap_err();
    assert!(leaks.contains("which knows nothing of quality"), "{leaks}");
}

#[test]
fn a_server_that_is_gone_ends_it_and_nothing_is_paid_twice() {
    let whole = tempfile::tempdir().unwrap();
    let (_, needed) = evolve(whole.path(), u64::MAX);
    let at = tempfile::tempdir().unwrap();
    let (broke, first) = evolve(at.path(), 60);
    assert!(broke.unwrap_err().to_string().contains("the server is gone"));
    assert!(first > 60);
    let (evolved, second) = evolve(at.path(), u64::MAX);
    assert!(evolved.unwrap().library.get("zebra").is_some());
    assert_eq!(60 + second, needed);
}
