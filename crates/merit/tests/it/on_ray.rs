//! `--on ray` without what it goes through, and what the command makes of what it is told. The rest is tested with the Python package.

use crate::tiny::{RECIPE, Said, merit};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Writes the program that is found as Python.
fn python(dir: &Path, script: &str) {
    let python = dir.join("python3");
    std::fs::write(&python, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_the_package_it_says_what_to_install_and_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let said = Said::of(&merit(dir.path()).args(arguments).env("PATH", dir.path()).output().unwrap());
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("install merit-rl and ray"), "{}", said.err);
        said.err
    };
    let train = ["train", RECIPE, "--on", "ray", "--run", "run"];
    assert!(refused(&train).contains("python3: No such file"));
    python(dir.path(), "echo merit_rl and ray");
    assert!(refused(&train).contains("python3 has no merit_rl and ray"));
    assert!(
        refused(&["reproduce", "retool", "--smoke", "--on", "127.0.0.1:6379"]).contains("has no merit_rl")
    );
    assert!(!dir.path().join("run").exists() && !dir.path().join("runs").exists());
}

/// Three arms that are paid by a program, in a folder.
fn paid_by_a_program() -> tempfile::TempDir {
    let arm = |name: &str, role: &str| {
        let term = format!("{{ type = 'command', name = '{name}', command = ['no-such-program'] }}");
        let reward = format!("{{ type = 'sum', of = [{{ type = 'exact-answer' }}, {term}] }}");
        format!(
            "[[arms]]\nname = '{name}'\nrole = '{role}'\nabout = 'an arm'\nset = {{ reward = {reward} }}\n"
        )
    };
    let text = format!(
        "name = 'paid'\nabout = 'a program'\npaper = 'none'\nscope = 'nothing was replaced'\nconfidence = 'full text'\nseeds = 1\n\
         experiment = {{ type = 'recipe', recipe = '{RECIPE}', controls = [] }}\n{}{}{}[[claims]]\nsays = 'they are alike'\n\
         measure = 'success'\narm = 'a'\nagainst = 'b'\nwithin = 1.0\n",
        arm("a", "method"),
        arm("b", "baseline"),
        arm("c", "baseline")
    );
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("paid.toml"), text).unwrap();
    dir
}

fn reproduce(dir: &Path, more: &[&str]) -> Said {
    let arguments = ["reproduce", "./paid.toml", "--seeds", "1", "--json"];
    Said::of(&merit(dir).args(arguments).args(more).env("PATH", dir).output().unwrap())
}

/// Why the cells of a result are lost.
fn lost(said: Said) -> Vec<String> {
    let lines = said.well().json();
    let cells = lines.last().unwrap()["result"]["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["lost"] == Value::Bool(true)), "{cells:?}");
    cells.iter().map(|cell| cell["broken"].as_str().unwrap().to_owned()).collect()
}

/// A driver that does `more` when it is asked for three cells. To begin them it waits until it is told to, and counts their marks then.
fn driver(more: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let begin = r#"begin() { for at in 0 1 2; do say "\"at\": $at"; read -r go; set -- runs/lab/paid/*.begun; echo "$go $#" >> marks; done; }"#;
    format!(
        "say() {{ echo \"{{$1}}\"; }}\n[ \"$1\" = -c ] && exit\nsay '\"version\": \"{version}\"'\nread -r asked\n{begin}\n\
         {more}\nread -r asked\nsay '\"ended\": true'"
    )
}

#[test]
fn an_error_of_one_cell_is_kept_with_it_and_the_others_say_that_the_run_was_given_up() {
    let dir = paid_by_a_program();
    let told = r#"begin; say '"at": 0, "failed": "no memory"'; say '"error": "no memory"'"#;
    python(dir.path(), &driver(told));
    let said = reproduce(dir.path(), &["--on", "ray"]);
    assert!(said.code == Some(1) && said.err.contains("no memory"), "{said:?}");
    // None was begun before that was known on disk.
    let marks = std::fs::read_to_string(dir.path().join("marks")).unwrap();
    let go = r#"{"ask":"go"}"#;
    assert_eq!(marks, format!("{go} 1\n{go} 2\n{go} 3\n"));
    // All are lost, so that nothing is run here.
    let why = lost(reproduce(dir.path(), &[]));
    assert!(why[0].contains(": the process that ran it failed (no memory), and it was not"), "{why:?}");
    let given_up = ": the run was given up while it was under way (no memory), and it was not run again, since it \
                    reaches outside by `command`; ";
    assert!(why.len() == 3 && why[1..].iter().all(|why| why.contains(given_up)), "{why:?}");
}

#[test]
fn a_cell_that_is_refused_before_it_did_anything_is_not_lost() {
    let dir = paid_by_a_program();
    let refuse = r#"for at in 0 1 2; do say "\"at\": $at, \"refused\": \"no such cell\""; done"#;
    python(dir.path(), &driver(&format!("begin; {refuse}; say '\"error\": \"no such cell\"'")));
    for time in ["first", "second"] {
        let said = reproduce(dir.path(), &["--on", "ray"]);
        assert!(said.code == Some(1) && said.err.contains("no such cell"), "{time}: {said:?}");
    }
}

#[test]
fn cells_that_were_under_way_when_a_driver_died_say_so() {
    let dir = paid_by_a_program();
    let dies = r#"[ -e died ] || { begin; : > died; exit 1; }; say '"done": true'"#;
    python(dir.path(), &driver(dies));
    let why = lost(reproduce(dir.path(), &["--on", "ray"]));
    let gone = ": Ray's driver, or the node it had joined, was lost (";
    assert!(why.len() == 3 && why.iter().all(|why| why.contains(gone)), "{why:?}");
}

#[test]
fn who_stops_while_a_dead_driver_is_replaced_does_not_forget_what_that_one_had_begun() {
    let dir = paid_by_a_program();
    let waits = "[ -e died ] && { : > waits; while [ ! -e end ]; do :; done; exit 1; }\n";
    let dies = driver("begin; : > died; exit 1");
    python(dir.path(), &dies.replacen("say '\"version", &format!("{waits}say '\"version"), 1));
    let arguments = ["reproduce", "./paid.toml", "--seeds", "1", "--json", "--on", "ray"];
    let mut command = merit(dir.path());
    let child =
        command.args(arguments).env("PATH", dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !dir.path().join("waits").exists() {
        assert!(Instant::now() < until, "no other driver was begun");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(dir.path().join("end"), "").unwrap();
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_ne!(said.code, Some(0), "{said:?}");
    let why = lost(reproduce(dir.path(), &[]));
    assert!(why.len() == 3 && why.iter().all(|why| why.contains(": Ray's driver, or the node")), "{why:?}");
}
