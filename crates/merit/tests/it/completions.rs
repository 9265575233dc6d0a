//! What a shell is offered: merit is asked as the scripts of `merit completions` ask it.

use crate::tiny::say;
use std::path::Path;
use std::process::Command;

const MERIT: &str = env!("CARGO_BIN_EXE_merit");

/// What bash is offered for the last of `words`, in `dir`.
fn offered(dir: &Path, words: &[&str]) -> Vec<String> {
    let output = Command::new(MERIT)
        .current_dir(dir)
        .env("MERIT_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .args(["--", "merit"])
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(dir: &Path, words: &[&str], wanted: &[&str], unwanted: &[&str]) {
    let offered = offered(dir, words);
    for name in wanted {
        assert!(offered.iter().any(|word| word == name), "{words:?} lacks {name}: {offered:?}");
    }
    for name in unwanted {
        assert!(offered.iter().all(|word| word != name), "{words:?} has {name}: {offered:?}");
    }
}

fn kitchen() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for run in ["runs/ledger-tools-1", "runs/other-1", "runs/eval/oracle"] {
        std::fs::create_dir_all(dir.path().join(run)).unwrap();
        std::fs::write(dir.path().join(run).join("merit.db"), "").unwrap();
    }
    std::fs::create_dir_all(dir.path().join("runs/notes")).unwrap();
    std::fs::write(dir.path().join("mine.toml"), "").unwrap();
    std::fs::write(dir.path().join("mine.txt"), "").unwrap();
    dir
}

#[test]
fn every_command_and_option_is_offered() {
    let dir = kitchen();
    let commands =
        ["train", "rollout", "show", "list", "recipe", "eval", "export", "score", "verify", "completions"];
    check(dir.path(), &[""], &commands, &["ledger-tools"]);
    check(dir.path(), &["train", "--s"], &["--set", "--seed", "--seeds"], &["--json"]);
}

#[test]
fn names_of_recipes_systems_rewards_and_tools_are_offered() {
    let dir = kitchen();
    let dir = dir.path();
    for words in [
        &["train", ""][..],
        &["recipe", "check", ""],
        &["recipe", "show", ""],
        &["eval", "oracle", "--on", ""],
    ] {
        check(dir, words, &["ledger-tools", "sums-tools", "mine.toml"], &["mine.txt", "maths"]);
    }
    check(dir, &["train", "ledger-d"], &["ledger-dapo", "ledger-dpo"], &["ledger-tools"]);
    check(dir, &["rollout", "led"], &["ledger-tools"], &["sums-tools"]);
    check(dir, &["reproduce", "re"], &["retool"], &["ledger-tools"]);
    check(dir, &["reward", "check", "ma"], &["maths"], &[]);
    check(dir, &["tool", "run", ""], &["calc", "search"], &["grpo"]);
}

#[test]
fn kinds_and_names_of_components_are_offered() {
    let dir = kitchen();
    check(dir.path(), &["list", ""], &["credit", "tools", "envs"], &["grpo"]);
    check(dir.path(), &["list", "credit", ""], &["grpo", "gae"], &["calc"]);
    check(dir.path(), &["list", "worlds", "l"], &["ledger"], &["grpo"]);
}

#[test]
fn runs_are_offered_wherever_a_run_is_asked_for() {
    let dir = kitchen();
    let runs = ["runs/ledger-tools-1", "runs/other-1", "runs/eval/oracle"];
    for words in [
        &["show", ""][..],
        &["export", ""],
        &["compare", ""],
        &["compare", "runs/other-1", ""],
        &["eval", ""],
        &["train", "--resume", ""],
        &["train", "--run", ""],
        &["rollout", "--run", ""],
    ] {
        check(dir.path(), words, &runs, &["runs/notes", "mine.txt"]);
    }
    check(
        dir.path(),
        &["show", "runs/l"],
        &["runs/ledger-tools-1"],
        &["runs/other-1", "runs/ledger-tools-1/"],
    );
}

#[test]
fn every_shell_has_a_script_that_asks_merit() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = say(dir.path(), ["completions", shell]).well().out;
        assert!(script.contains("MERIT_COMPLETE") && !script.contains(MERIT), "{shell}: {script}");
    }
}

/// The script itself, in a shell that is at hand nearly everywhere.
#[test]
fn bash_completes_by_the_script() {
    let dir = kitchen();
    let script = say(dir.path(), ["completions", "bash"]).well().out;
    let asking = "COMP_WORDS=(merit show runs/l); COMP_CWORD=2; COMP_TYPE=9; _clap_complete_merit merit runs/l show; \
                  printf '%s\n' \"${COMPREPLY[@]}\"";
    let path = format!(
        "{}:{}",
        Path::new(MERIT).parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let run = Command::new("bash")
        .current_dir(dir.path())
        .env("PATH", path)
        .arg("-c")
        .arg(format!("{script}\n{asking}"))
        .output();
    let Ok(output) = run else { return };
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "runs/ledger-tools-1\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
