//! Kept answers: the four modes, samples, several writers, and kills in the middle of a line.

use crate::support::{ask, ask_with, config, eventually, open, server};
use merit_core::Seed;
use merit_endpoint::{
    CacheConfig, CacheError, CacheMode, Endpoint, EndpointConfig, EndpointError, Params, Reply,
    ScriptedServer, wait,
};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn kept(server: &ScriptedServer, mode: CacheMode, path: &Path) -> EndpointConfig {
    EndpointConfig { cache: CacheConfig { mode, path: Some(path.to_owned()) }, ..config(server) }
}

/// Answers with the number of the request.
fn counting() -> ScriptedServer {
    server(|asked| Reply::chat(&asked.number.to_string()))
}

fn sample(number: u64) -> Params {
    Params { sample: number, seed: Some(7), ..Params::default() }
}

fn says(endpoint: &Endpoint, question: &str, number: u64) -> Result<String, EndpointError> {
    wait(endpoint.chat(&ask_with(question, sample(number)))).map(|answer| answer.text)
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/answers.jsonl");
    (folder, path)
}

#[test]
fn a_group_of_samples_replays_as_itself_without_the_server() {
    let (_folder, path) = file();
    let recorded: Vec<String> = {
        let server = counting();
        let endpoint = open(&kept(&server, CacheMode::Record, &path));
        (0..8).map(|number| says(&endpoint, "?", number).unwrap()).collect()
    };
    assert_eq!(recorded, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    let elsewhere = counting();
    let endpoint = open(&EndpointConfig { stream: true, ..kept(&elsewhere, CacheMode::Replay, &path) });
    let replayed: Vec<String> = (0..8).rev().map(|number| says(&endpoint, "?", number).unwrap()).collect();
    assert!(replayed.iter().rev().eq(&recorded));
    assert_eq!(elsewhere.asked().len(), 0);
}

#[test]
fn a_strict_replay_names_what_nobody_recorded() {
    let (_folder, path) = file();
    let server = counting();
    says(&open(&kept(&server, CacheMode::Record, &path)), "known", 3).unwrap();
    let endpoint = open(&kept(&server, CacheMode::Replay, &path));
    let error = says(&endpoint, "unknown question", 0).unwrap_err();
    assert!(matches!(error, EndpointError::NotRecorded { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("ending in \"unknown question\", sample 0") && text.contains("none of its 1 answers"),
        "{text}"
    );
    let text = says(&endpoint, "known", 4).unwrap_err().to_string();
    assert!(text.contains("it holds samples 3"), "{text}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_replay_needs_a_file_and_no_key() {
    let (_folder, path) = file();
    let server = counting();
    let replay = EndpointConfig {
        api_key_env: Some("MERIT_TEST_NO_SUCH_KEY".into()),
        ..kept(&server, CacheMode::Replay, &path)
    };
    let error = Endpoint::open(&replay, Seed::root(1)).unwrap_err();
    assert!(matches!(error, EndpointError::Cache(CacheError::Missing { .. })), "{error:?}");
    says(&open(&kept(&server, CacheMode::Record, &path)), "?", 0).unwrap();
    assert_eq!(says(&open(&replay), "?", 0).unwrap(), "0");
}

#[test]
fn filling_asks_once_and_recording_asks_always() {
    let (_folder, path) = file();
    let server = counting();
    let fill = open(&kept(&server, CacheMode::Fill, &path));
    assert_eq!([says(&fill, "?", 0).unwrap(), says(&fill, "?", 0).unwrap()], ["0", "0"]);
    let record = open(&kept(&server, CacheMode::Record, &path));
    assert_eq!([says(&record, "?", 0).unwrap(), says(&record, "?", 0).unwrap()], ["1", "2"]);
    assert_eq!(says(&open(&kept(&server, CacheMode::Replay, &path)), "?", 0).unwrap(), "2");
}

#[test]
fn an_answer_that_failed_is_not_kept() {
    let (_folder, path) = file();
    let server =
        server(
            |asked| {
                if asked.number == 0 { Reply::json(400, &serde_json::json!({})) } else { Reply::chat("ok") }
            },
        );
    let endpoint = open(&kept(&server, CacheMode::Fill, &path));
    let refused = says(&endpoint, "?", 0).unwrap_err();
    assert!(matches!(refused, EndpointError::Refused { status: 400, .. }), "{refused}");
    assert_eq!(endpoint.kept(), Some((0, 0)));
    assert_eq!(says(&endpoint, "?", 0).unwrap(), "ok");
}

#[test]
fn two_writers_see_what_the_other_kept() {
    let (_folder, path) = file();
    let server = counting();
    let (one, two) =
        (open(&kept(&server, CacheMode::Fill, &path)), open(&kept(&server, CacheMode::Fill, &path)));
    assert_eq!(says(&one, "?", 0).unwrap(), says(&two, "?", 0).unwrap());
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn vectors_are_kept_too() {
    let (_folder, path) = file();
    let server =
        server(|_| Reply::json(200, &serde_json::json!({ "data": [{ "embedding": [0.1, -3.5e-8] }] })));
    let fresh = wait(open(&kept(&server, CacheMode::Record, &path)).embeddings(&["a"])).unwrap();
    let again = wait(open(&kept(&server, CacheMode::Replay, &path)).embeddings(&["a"])).unwrap();
    assert_eq!(fresh, again);
}

#[test]
fn a_line_that_was_cut_short_costs_itself_only() {
    let (_folder, path) = file();
    let server = counting();
    let endpoint = open(&kept(&server, CacheMode::Record, &path));
    (0..3).for_each(|number| drop(says(&endpoint, "?", number).unwrap()));
    let whole = std::fs::read(&path).unwrap();
    // Whatever the length at which the last line was cut.
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in (last + 1..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let endpoint = open(&kept(&server, CacheMode::Fill, &path));
        assert_eq!(endpoint.kept(), Some((2, 0)), "an unfinished line is not counted yet");
        says(&endpoint, "new", 0).unwrap();
        let reopened = open(&kept(&server, CacheMode::Replay, &path));
        assert_eq!(reopened.kept(), Some((3, 1)), "cut at {cut}");
        assert_eq!(says(&reopened, "?", 1).unwrap(), "1");
        let missing = says(&reopened, "?", 2).unwrap_err();
        assert!(matches!(missing, EndpointError::NotRecorded { .. }), "{missing}");
    }
}

#[test]
fn a_changed_byte_is_noticed() {
    let (_folder, path) = file();
    let server = counting();
    says(&open(&kept(&server, CacheMode::Record, &path)), "?", 0).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 10;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let endpoint = open(&kept(&server, CacheMode::Replay, &path));
    assert_eq!(endpoint.kept(), Some((0, 1)));
    assert!(matches!(says(&endpoint, "?", 0), Err(EndpointError::NotRecorded { .. })));
}

/// The body of a process that writes until it is killed; the address and file come by the environment.
#[test]
#[ignore = "run by what_was_kept_by_several_writers_survives_their_kills"]
fn writer() {
    let (Ok(url), Ok(path)) = (std::env::var("MERIT_TEST_URL"), std::env::var("MERIT_TEST_FILE")) else {
        return;
    };
    let cache = CacheConfig { mode: CacheMode::Record, path: Some(path.into()) };
    let endpoint = open(&EndpointConfig { cache, ..EndpointConfig::new(url, "tiny") });
    let me = std::process::id();
    for number in 0.. {
        let answer = wait(endpoint.chat(&ask(&format!("{me}/{number}")))).unwrap();
        assert_eq!(answer.text.len(), 2000);
        // Told only after it was kept.
        let _ = writeln!(std::io::stdout(), "\nkept {me}/{number}");
    }
}

#[test]
fn what_was_kept_by_several_writers_survives_their_kills() {
    let (_folder, path) = file();
    let server = server(|_| Reply::chat(&"x".repeat(2000)));
    let run = |_| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args(["--ignored", "--exact", "cache::writer", "--nocapture"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        child.env("MERIT_TEST_URL", server.base_url()).env("MERIT_TEST_FILE", &path).spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(run).collect();
    assert!(eventually(|| std::fs::metadata(&path).is_ok_and(|found| found.len() > 200_000)), "they write");
    let mut told = Vec::new();
    for mut child in children {
        child.kill().unwrap();
        let said = child.wait_with_output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        told.extend(said.lines().filter_map(|line| line.strip_prefix("kept ").map(str::to_owned)));
    }
    assert!(told.len() > 20, "{}", told.len());
    let endpoint = open(&kept(&server, CacheMode::Replay, &path));
    let (answers, damaged) = endpoint.kept().unwrap();
    assert!(
        answers >= told.len() && damaged <= 3,
        "{answers} answers, {damaged} damaged, {} told",
        told.len()
    );
    for question in told {
        wait(endpoint.chat(&ask(&question))).unwrap_or_else(|error| panic!("{question}: {error}"));
    }
}
