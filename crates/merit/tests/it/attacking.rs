//! `merit attack` as people and CI call it: what it says, and the exit code that goes with it.

use crate::soon::{soon, until_gone};
use std::process::{Command, Output, Stdio};

fn attack(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_merit")).arg("attack").args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_sound_reward_passes_and_the_audit_is_json_when_asked_for() {
    let output = attack(&["final-answer", "--json", "--at-least", "A"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let audit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&audit["target"], &audit["grade"]), (&"final-answer".into(), &"A".into()));
}

#[test]
fn a_grade_below_the_one_asked_for_is_exit_code_1_after_the_whole_audit() {
    let output = attack(&["ledger-tools", "--limit", "2", "--at-least", "A"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("ledger-tools: grade B (2 tasks, seed 1"), "{}", said(&output));
    assert!(said(&output).ends_with("merit: ledger-tools: grade B, below A\n"), "{}", said(&output));
}

#[test]
fn a_reward_that_pays_for_talking_is_caught_with_the_text_that_won() {
    let dir = tempfile::tempdir().unwrap();
    let reward = dir.path().join("talk.toml");
    std::fs::write(&reward, "type = \"format\"\n").unwrap();
    let tasks = dir.path().join("tasks.jsonl");
    std::fs::write(&tasks, "{\"prompt\": \"6 * 7?\", \"answer\": \"42\"}\n").unwrap();
    let output = attack(&[&reward.display().to_string(), "--tasks", &tasks.display().to_string()]);
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("junk on tasks/0 (earns 1):\n    qqq zzz\n"), "{}", said(&output));
}

#[test]
fn any_program_can_be_audited() {
    let greeting = r#"{"name": "zero", "tasks": [{"id": "a", "prompt": "6 * 7?", "answer": "42"}]}"#;
    // Unbuffered: whoever asks waits for every line.
    let script =
        format!(r#"echo '{greeting}'; exec sed -u 's/.*"id":\([0-9]*\).*/{{"id": \1, "score": 0}}/'"#);
    let output = attack(&["--", "sh", "-c", &script]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("the right answer earns nothing"), "{}", said(&output));
}

#[test]
fn what_cannot_be_audited_is_exit_code_2() {
    let dir = tempfile::tempdir().unwrap();
    let tasks = dir.path().join("t.jsonl");
    std::fs::write(&tasks, "{\"prompt\": \"a\"}\n{\"answer\": \"b\"}\n").unwrap();
    let tasks = tasks.display().to_string();
    let empty = dir.path().join("empty.jsonl");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.display().to_string();
    for (arguments, why) in [
        (vec!["final-answer", "--tasks", &empty], "empty.jsonl holds no tasks"),
        (vec!["--deadline", "5", "final-answer"], "cannot be used with"),
        (vec!["final-anwser"], "did you mean `final-answer`?"),
        (vec!["no/such.toml"], "cannot read no/such.toml"),
        (vec!["final-answer", "--tasks", &tasks], "line 2: missing field `prompt`"),
        (vec!["ledger-tools", "--tasks", &tasks], "`--tasks` is for rewards"),
        (vec!["final-answer", "--at-least", "E"], "expected a grade: A, B, C, D or F"),
        (vec!["--command", "no-such-program"], "cannot be started"),
        (vec!["--command", "sh 'oops"], "a single quote is not closed"),
        (vec![], "required"),
    ] {
        let output = attack(&arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(why), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn tests_that_can_pay_nobody_are_told_of_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let reward = dir.path().join("weak.toml");
    std::fs::write(&reward, "type = \"code\"\ntests = { pointer = \"/tests\" }\n").unwrap();
    let tasks = dir.path().join("tasks.jsonl");
    let task = r#"{"prompt": "Write f.", "answer": "def f(x): return x > 2", "payload": {"tests": ["assert f(3)", "assert f(4)"]}}"#;
    std::fs::write(&tasks, task).unwrap();
    let output = attack(&[&reward.display().to_string(), "--tasks", &tasks.display().to_string()]);
    assert_eq!(code(&output), 1);
    assert!(said(&output).contains("`gold` should be paid in full and is not"), "{}", said(&output));
    assert!(said(&output).contains("every test is weak (tests 1 to 2)"), "{}", said(&output));
    assert!(said(&output).contains("add a test that such a program fails"), "{}", said(&output));
}

/// A scorer that pays for anything that says 42, and stops answering at the first long text.
const STUCK: &str = r#"
import json, os, sys, time
print(json.dumps({"name": "loose", "tasks": [{"id": "a", "prompt": "6 * 7?", "answer": "42"}]}), flush=True)
for line in sys.stdin:
    if len(line) > 20_000:
        open("stuck", "w").write(str(os.getpid()))
        time.sleep(3600)
    ask = json.loads(line)
    print(json.dumps({"id": ask["id"], "score": float("42" in line)}), flush=True)
"#;

#[test]
fn an_interrupt_says_what_was_found_and_ends_the_scorer() {
    for json in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("scorer.py"), STUCK).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_merit"));
        command.arg("attack").args(json.then_some("--json")).args(["--deadline", "3600"]);
        command.args(["--", "python3", "scorer.py"]).current_dir(dir.path());
        let merit = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let scorer = soon(|| std::fs::read_to_string(dir.path().join("stuck")).ok()?.parse::<i32>().ok());
        let pid = rustix::process::Pid::from_raw(merit.id() as i32).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let output = merit.wait_with_output().unwrap();
        assert_eq!(code(&output), 130, "{}", said(&output));
        if json {
            let audit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(
                (&audit["grade"], audit["left_out"].as_u64() > Some(0)),
                (&"F".into(), true),
                "{audit}"
            );
        } else {
            assert!(said(&output).contains("loose: grade F"), "{}", said(&output));
            assert!(said(&output).contains("broken off:"), "{}", said(&output));
            assert!(said(&output).contains("`units` earns as much as the right answer"), "{}", said(&output));
            assert!(said(&output).contains("merit: interrupted after"), "{}", said(&output));
        }
        until_gone(scorer);
    }
}
