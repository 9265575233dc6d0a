//! Help and lists, compared whole; completion scripts that the shells themselves can read.

use crate::tiny::say;
use crate::words::golden::{block, check};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_command_explains_itself() {
    let commands: [&[&str]; 31] = [
        &["--help"],
        &["-h"],
        &["init", "--help"],
        &["train", "--help"],
        &["rollout", "--help"],
        &["eval", "--help"],
        &["show", "--help"],
        &["list", "--help"],
        &["recipe", "--help"],
        &["recipe", "check", "--help"],
        &["recipe", "show", "--help"],
        &["import", "--help"],
        &["export", "--help"],
        &["score", "--help"],
        &["reward", "--help"],
        &["reward", "check", "--help"],
        &["reward", "show", "--help"],
        &["verify", "--help"],
        &["verify", "maths", "--help"],
        &["verify", "json", "--help"],
        &["verify", "sql", "--help"],
        &["verify", "text", "--help"],
        &["verify", "state", "--help"],
        &["verify", "calls", "--help"],
        &["chat", "--help"],
        &["generate", "--help"],
        &["model", "--help"],
        &["model", "info", "--help"],
        &["model", "convert", "--help"],
        &["model", "merge", "--help"],
        &["completions", "--help"],
    ];
    let mut text = String::new();
    for arguments in commands {
        let (said, conversation) = block(here(), arguments);
        said.well();
        text.push_str(&conversation);
    }
    check("help.txt", &text);
}

#[test]
fn without_arguments_the_help_is_shown() {
    let said = say::<&str>(here(), []);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("Usage: merit <COMMAND>"), "{}", said.err);
}

#[test]
fn the_list_shows_every_component() {
    let (said, text) = block(here(), &["list"]);
    said.well();
    check("list.txt", &text);
}

#[test]
fn the_list_as_json_says_the_same_and_every_kind_is_a_part_of_it() {
    let all = say(here(), ["list", "--json"]).well();
    let names = |said: &crate::tiny::Said| -> BTreeSet<(String, String)> {
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        said.json().iter().map(|entry| (text(&entry["kind"]), text(&entry["name"]))).collect()
    };
    let plain = say(here(), ["list"]).well().out;
    for (_, name) in names(&all) {
        assert!(plain.lines().any(|line| line.split_whitespace().next() == Some(&name)), "{name}");
    }
    let mut parts = BTreeSet::new();
    for kind in [
        "envs",
        "tools",
        "rewards",
        "credit",
        "objectives",
        "models",
        "recipes",
        "formats",
        "calls",
        "studies",
        "probes",
    ] {
        let part = names(&say(here(), ["list", kind, "--json"]).well());
        assert!(!part.is_empty() && part.is_disjoint(&parts), "{kind}");
        parts.extend(part);
    }
    assert_eq!(parts, names(&all));
}

#[test]
fn what_is_listed_may_be_called_by_one_and_by_another_name() {
    for (said, meant) in [("worlds", "envs"), ("world", "envs"), ("tool", "tools"), ("reward", "rewards")] {
        let list = |kind| say(here(), ["list", kind]).well().out;
        assert_eq!(list(said), list(meant));
    }
}

#[test]
fn bash_can_read_its_completion_script() {
    let script = say(here(), ["completions", "bash"]).well().out;
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut bash.stdin.take().unwrap(), script.as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}
