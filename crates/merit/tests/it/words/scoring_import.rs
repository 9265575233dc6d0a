//! `merit import`: other people's episodes into a folder that can be shown, and what is said of files that are none.

use crate::tiny::say;
use crate::words::golden::{block, check};
use merit_store::{EpisodeFilter, RunFolder};
use std::path::Path;
use tempfile::TempDir;

const OPENAI: &str = r#"{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "6 times 7?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "multiply", "arguments": "{\"x\": 6, \"y\": 7}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "42"}, {"role": "assistant", "content": "42"}], "answer": "42", "reward": 1.0}
{"messages": [{"role": "user", "content": "Clear it."}, {"role": "assistant", "content": "\u001b[2Jcleared"}]}
"#;
const TAU_BENCH: &str = r####"[{"task_id": 3, "trial": 0, "reward": 1.0,
  "info": {"task": {"user_id": "u1", "instruction": "You want seat 4A.", "actions": [{"name": "change_seat", "kwargs": {"seat": "4A"}}], "outputs": []}},
  "traj": [
    {"role": "user", "content": "Seat 4A, please."},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "change_seat", "arguments": "{\"seat\": \"4A\"}"}}]},
    {"role": "tool", "tool_call_id": "a", "name": "change_seat", "content": "Error: taken"},
    {"role": "assistant", "content": "It is taken."},
    {"role": "user", "content": "###STOP###"}]}]
"####;
const PLAIN: &str = r#"{"prompt": "6 times 7?", "response": "42", "answer": "42", "reward": 1.0, "id": "q1"}
{"prompt": "6 times 7?", "response": "41", "answer": "42", "reward": 0.0, "id": "q1"}
"#;

fn desk() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("openai.jsonl", OPENAI);
    write("tau.json", TAU_BENCH);
    write("plain.jsonl", PLAIN);
    let (first, rest) = PLAIN.split_once('\n').unwrap();
    write("bad.jsonl", &format!("{first}\n{{\"prompt\": 7, \"response\": \"x\"}}\nnonsense\n{rest}"));
    dir
}

fn conversations(dir: &Path, cases: &[(&[&str], i32)]) -> String {
    let mut text = String::new();
    for (arguments, code) in cases {
        let (said, conversation) = block(dir, arguments);
        assert_eq!(said.code, Some(*code), "{conversation}");
        assert!(!conversation.contains('\u{1b}'), "{conversation:?}");
        text.push_str(&conversation);
    }
    text
}

#[test]
fn every_format_is_imported_shown_and_kept_apart() {
    let dir = desk();
    let text = conversations(
        dir.path(),
        &[
            (&["import", "openai.jsonl"], 0),
            (&["show", "imports/openai"], 0),
            (&["show", "imports/openai", "--episode", "import/0/0/0"], 0),
            (&["show", "imports/openai", "--episode", "import/0/1/0"], 0),
            (&["import", "tau.json", "--out", "tau"], 0),
            (&["show", "tau"], 0),
            (&["show", "tau", "--episode", "import/0/3/0"], 0),
            (
                &["import", "plain.jsonl", "--out", "plain", "--world", "sums", "--solved-at", "1", "--json"],
                0,
            ),
            (&["show", "plain"], 0),
            (&["import", "plain.jsonl", "--out", "plain"], 2),
            (&["import", "plain.jsonl", "--out", "bad.jsonl"], 2),
        ],
    );
    check("import.txt", &text);
    let folder = RunFolder::open_read_only(&dir.path().join("plain")).unwrap();
    assert_eq!(
        folder.episodes(&EpisodeFilter::default()).unwrap().len(),
        2,
        "the second import added nothing"
    );
}

#[test]
fn a_line_that_cannot_be_imported_is_named_and_left_out_only_when_allowed() {
    let dir = desk();
    let mut text = conversations(dir.path(), &[(&["import", "bad.jsonl", "--out", "kept"], 2)]);
    assert!(!dir.path().join("kept").exists(), "nothing is written when nothing was imported");
    text += &conversations(
        dir.path(),
        &[
            (&["import", "bad.jsonl", "--out", "kept", "--allow-skipped"], 0),
            (&["import", "bad.jsonl", "--out", "json", "--allow-skipped", "--json"], 0),
        ],
    );
    check("import-skipped.txt", &text);
    let folder = RunFolder::open_read_only(&dir.path().join("kept")).unwrap();
    assert_eq!(folder.episodes(&EpisodeFilter::default()).unwrap().len(), 2);
    let skipped = folder.events().unwrap().iter().filter(|event| event.kind == "skipped").count();
    assert_eq!(skipped, 2, "the folder keeps what was left out");
}

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let dir = desk();
    std::fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    std::fs::write(dir.path().join("odd.json"), "{\"neither\": 1}").unwrap();
    std::fs::write(dir.path().join("binary.jsonl"), [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe]).unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let text = conversations(
        dir.path(),
        &[
            (&["import", "absent.jsonl"], 2),
            (&["import", "folder"], 2),
            (&["import", "empty.jsonl"], 2),
            (&["import", "odd.json"], 2),
            (&["import", "binary.jsonl"], 2),
            (&["import", "plain.jsonl", "--format", "openia"], 2),
            (&["import", "plain.jsonl", "--format", "tau-bench"], 2),
            (&["import", "plain.jsonl", "--world", "a/b"], 2),
            (&["import", "plain.jsonl", "--solved-at", "nan"], 2),
            (&["import", "plain.jsonl", "--error-prefix", ""], 2),
            (&["import", ".."], 2),
        ],
    );
    check("import-refused.txt", &text);
    assert!(!dir.path().join("imports").exists(), "something was left behind");
}

#[test]
fn an_import_has_no_recipe_to_go_on_with() {
    let dir = desk();
    say(dir.path(), ["import", "plain.jsonl", "--out", "plain"]).well();
    let text = conversations(
        dir.path(),
        &[(&["train", "--resume", "plain"], 2), (&["rollout", "--run", "plain"], 2)],
    );
    check("import-no-run.txt", &text);
}
