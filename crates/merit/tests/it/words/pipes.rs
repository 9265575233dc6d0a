//! Whoever reads the output may leave at any time, and the disk it goes to may be full.

use crate::tiny::{self, RECIPE, Said, merit};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Output, Stdio};

/// Runs a command whose reader leaves after the first byte.
fn deserted(dir: &Path, arguments: &[&str]) -> Said {
    let mut child = merit(dir).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = child.stdout.take().unwrap();
    reader.read_exact(&mut [0]).unwrap();
    drop(reader);
    Said::of(&child.wait_with_output().unwrap())
}

/// Runs a command whose output goes to a full disk.
fn into_a_full_disk(dir: &Path, arguments: &[&str]) -> Said {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = merit(dir).args(arguments).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    Said::of(&Output { status, stdout: Vec::new(), stderr })
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let run = &tiny::reference().path;
    let dir = run.parent().unwrap();
    let commands: [&[&str]; 5] = [
        &["list"],
        &["show", "undisturbed"],
        &["recipe", "show", RECIPE],
        &["completions", "bash"],
        &["rollout", "--tasks", "200", "--json"],
    ];
    for arguments in commands {
        let said = deserted(dir, arguments);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_under_the_output_is_an_error_in_words() {
    let said = into_a_full_disk(Path::new("."), &["list"]);
    let want = "merit: cannot write to standard output: No space left on device (os error 28)\n";
    assert_eq!((said.code, said.err.as_str()), (Some(1), want));
}

#[test]
fn a_run_goes_on_when_nobody_can_see_it_any_more() {
    let dir = tempfile::tempdir().unwrap();
    deserted(dir.path(), &["train", RECIPE, "--json", "--run", "deserted"]);
    into_a_full_disk(dir.path(), &["train", RECIPE, "--run", "full"]);
    for run in ["deserted", "full"] {
        tiny::essence(&dir.path().join(run)).must_be(&tiny::reference().essence);
    }
}
