//! Ten thousand questions to a server that fails in every way, with an end in the middle: no answer is lost, none is paid for twice.

use crate::judges::{answer, file, last};
use merit_core::{Cost, Episode};
use merit_endpoint::{Asked, Reply, ScriptedServer};
use merit_evolve::Library;
use merit_run::{OpenJudge, built_in};
use std::collections::HashMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const QUESTIONS: usize = 10_000;
/// Requests that may be under way when the first judge ends: `concurrency` of the file.
const UNDER_WAY: usize = 32;

/// What a question came to so far.
#[derive(Default, Clone, Copy)]
struct Told {
    tries: usize,
    paid: usize,
}

type Book = Arc<Mutex<HashMap<usize, Told>>>;

/// The number that a question is about.
fn number(asked: &Asked) -> usize {
    let user = last(asked);
    let digits = user.split("answer: number ").nth(1).unwrap();
    digits.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().parse().unwrap()
}

fn reply(asked: &Asked, book: &Book, stop: &AtomicBool) -> Reply {
    let number = number(asked);
    let mut told = book.lock().unwrap();
    let entry = told.entry(number).or_default();
    entry.tries += 1;
    // Of a hundred questions sixty meet trouble at first, and one of them three times.
    let trouble = entry.tries == 1 && number % 10 < 6 || number.is_multiple_of(100) && entry.tries < 4;
    if trouble {
        match number % 10 {
            0 => return Reply::with_headers(429, &[("retry-after", "0")], b"{\"error\": \"slow down\"}"),
            1 => return Reply::json(500, &serde_json::json!({ "error": "oops" })),
            // Resets: before anything is said, and within the body.
            2 => return Reply::default(),
            3 => return Reply::default().then_raw("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choi"),
            4 => return Reply::with_headers(200, &[], b"{\"choices\": [{\"message\": 7}"),
            _ => {}
        }
    }
    entry.paid += 1;
    if told.values().map(|told| told.paid).sum::<usize>() == QUESTIONS / 2 {
        stop.store(true, Ordering::SeqCst);
    }
    let good = Reply::chat(&format!("{{\"score\": {}}}", number % 11));
    if trouble { good.after(Duration::from_millis(5)) } else { good }
}

fn score(path: &Path, stop: Option<&Arc<AtomicBool>>, episodes: &[Arc<Episode>]) -> Vec<merit_judge::Answer> {
    let mut judge = OpenJudge::open(path, &Library::default(), &built_in(), stop).unwrap();
    judge.judge().score(episodes)
}

#[test]
fn ten_thousand_answers_of_a_flaky_server_survive_an_end_in_the_middle() {
    let (book, stop) = (Book::default(), Arc::new(AtomicBool::new(false)));
    let (kept_book, stopped) = (Arc::clone(&book), Arc::clone(&stop));
    let server = ScriptedServer::start(move |asked| reply(asked, &kept_book, &stopped)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "judge.toml", "type = 'score'", &server, "kept = 'answers.jsonl'");
    let episodes: Vec<Arc<Episode>> = (0..QUESTIONS).map(|n| answer(&format!("number {n}"))).collect();

    // The first judge is ended about half-way, and its last line is cut as a kill may do.
    let half = score(&path, Some(&stop), &episodes);
    let known = half.iter().filter(|answer| answer.verdict.value().is_some()).count();
    assert!((QUESTIONS / 2 - 2 * UNDER_WAY..=QUESTIONS / 2 + 2 * UNDER_WAY).contains(&known), "{known}");
    assert!(half.iter().all(|answer| matches!(answer.verdict.word(), "score" | "failed")));
    let kept = folder.path().join("answers.jsonl");
    std::fs::OpenOptions::new().append(true).open(&kept).unwrap().write_all(b"{\"key\": \"ab").unwrap();

    // The second asks for the rest only, and has everything in the end.
    let before = book.lock().unwrap().clone();
    let whole = score(&path, None, &episodes);
    for (number, answer) in whole.iter().enumerate() {
        assert_eq!(answer.verdict.value(), Some((number % 11) as f64 / 10.0), "{number}: {answer:?}");
    }
    let fresh: u64 = whole.iter().map(|answer| answer.cost.judge_calls).sum();
    assert_eq!(fresh as usize, QUESTIONS - known);
    let told = book.lock().unwrap().clone();
    for number in (0..QUESTIONS).filter(|number| half[*number].verdict.value().is_some()) {
        assert_eq!(told[&number].tries, before[&number].tries, "{number} was answered and asked again");
    }
    // Only what was under way at the end may have been answered to nobody.
    let twice = told.values().filter(|told| told.paid > 1).count();
    assert!(twice <= UNDER_WAY, "{twice} were paid twice");
    assert!(told.values().all(|told| (1..=2).contains(&told.paid)));

    // The third pays nothing.
    let requests = server.asked().len();
    let again = score(&path, None, &episodes);
    let free = |answer: &merit_judge::Answer| answer.cost == Cost::default();
    assert!(again.iter().all(free) && again.iter().zip(&whole).all(|(a, b)| a.verdict == b.verdict));
    assert_eq!(server.asked().len(), requests);
}
