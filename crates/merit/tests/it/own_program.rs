//! A program with components of its own is the whole of `merit`: what it adds is listed, checked, trained, played, measured and audited.

use crate::own_parts;
use crate::tiny::Said;
use merit::attack::{Attempt, Expect, Probe, probe};
use merit::prelude::*;
use std::path::Path;
use std::process::Command;

#[path = "../../../../examples/own_world.rs"]
#[allow(dead_code, clippy::print_stdout, reason = "the example's own `main` stays unused here")]
mod own_world;

/// The recipe of the example, which names its world and its term.
pub(crate) const LARGER: &str = include_str!("../../../../examples/larger.toml");

const BOAST: Probe = Probe {
    about: About { name: "boast", summary: "praise for the answer instead of one", paper: "" },
    expect: Expect::Less,
    write: |task, _, _| vec![Attempt::answer(task, "the best answer there is")],
};

/// What comes with merit, and the parts of the tests.
pub(crate) fn components() -> Components {
    let own = own_parts::add(merit::built_in()).with(probe!(BOAST));
    own.with(entry!(own_world::Larger as dyn WorldSettings)).with(entry!(own_world::Brief as dyn Term))
}

/// Where the arguments of the program stand, as a list in JSON.
const ARGUMENTS: &str = "OWN_PROGRAM";

#[test]
#[ignore = "it is the program that other tests start"]
fn program() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let arguments: Vec<String> = serde_json::from_str(&arguments).unwrap();
    let code = merit::program::main_with(&components(), arguments.into_iter().map(Into::into).collect());
    std::process::exit(code.into());
}

/// Runs the program in `dir` to its end.
pub(crate) fn own(dir: &Path, arguments: &[&str]) -> Said {
    let words: Vec<&str> = ["own"].iter().chain(arguments).copied().collect();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["own_program::program", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(ARGUMENTS, serde_json::to_string(&words).unwrap()).current_dir(dir);
    Said::of(&command.output().unwrap())
}

#[test]
fn own_components_are_listed_and_named_in_mistakes() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, name) in [
        ("envs", "larger"),
        ("envs", "evens"),
        ("tools", "shout"),
        ("rewards", "brief"),
        ("rewards", "turns"),
        ("objectives", "every-second"),
        ("objectives", "first-token"),
        ("probes", "boast"),
    ] {
        let said = own(dir.path(), &["list", kind]).well();
        assert!(said.out.contains(&format!("\n  {name} ")), "{kind}: {}", said.out);
        assert!(
            crate::tiny::say(dir.path(), ["list", kind, name]).code == Some(2),
            "merit alone has no {name}"
        );
        own(dir.path(), &["list", kind, name]).well();
    }
    let misspelt = LARGER.replace("type = \"larger\"", "type = \"lager\"");
    std::fs::write(dir.path().join("misspelt.toml"), misspelt).unwrap();
    let said = own(dir.path(), &["recipe", "check", "misspelt.toml"]);
    assert!(said.code == Some(2) && said.err.contains("did you mean `larger`?"), "{}", said.err);
}

#[test]
fn a_run_in_an_own_world_is_played_measured_and_audited() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    std::fs::write(at.join("larger.toml"), LARGER).unwrap();
    let own = |arguments: &[&str]| own(at, arguments);
    assert!(own(&["recipe", "check", "larger.toml"]).well().out.contains("recipe `larger` is fine"));
    own(&["train", "larger.toml", "--run", "run", "--set", "budget.steps=2", "--threads", "2"]).well();
    own(&["train", "--resume", "run", "--set", "budget.steps=3", "--threads", "2"]).well();
    let played = own(&["rollout", "--run", "run", "--tasks", "2"]).well();
    assert!(played.out.contains("answered, "), "{}", played.out);
    assert!(own(&["rollout", "larger.toml", "--tasks", "1"]).well().out.contains("brief × 0.2: 1.000"));
    let measured = own(&["eval", "run", "oracle", "--tasks", "4", "--out", "evals"]).well();
    assert!(measured.out.contains("larger: 4 tasks"), "{}", measured.out);
    // A run lends its world to episodes that are scored again, by a reward that names the own term.
    std::fs::write(at.join("brief.toml"), "type = 'brief'\n").unwrap();
    assert!(own(&["score", "brief.toml", "run"]).well().out.contains("brief.toml: "));
    assert!(own(&["reward", "check", "brief.toml"]).well().out.contains("brief.toml: 1 term"));
    let audit = own(&["attack", "larger.toml", "--limit", "2", "--at-least", "F", "--json"]).well();
    let line = audit.out.lines().find_map(|line| line.find("{\"").map(|at| &line[at..])).unwrap();
    let audit: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(audit["target"], "larger");
    let probes = audit["probes"].as_array().unwrap();
    let boast = probes.iter().find(|probe| probe["name"] == "boast").unwrap();
    assert!(boast["attempts"].as_u64() > Some(0), "{boast}");
    // Without the own world, merit says what it does not know.
    let said = crate::tiny::say(at, ["rollout", "--run", "run"]);
    assert!(said.code == Some(2) && said.err.contains("unknown world `larger`"), "{}", said.err);
}
