//! `--on ray` without what it goes through. What it does is tested with the Python package.

use crate::tiny::{RECIPE, Said, merit};
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn without_the_package_it_says_what_to_install_and_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let python = dir.path().join("python3");
    let refused = |arguments: &[&str]| {
        let said = Said::of(&merit(dir.path()).args(arguments).env("PATH", dir.path()).output().unwrap());
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains("install merit-rl and ray"), "{}", said.err);
        said.err
    };
    let train = ["train", RECIPE, "--on", "ray", "--run", "run"];
    assert!(refused(&train).contains("python3: No such file"));
    std::fs::write(&python, "#!/bin/sh\necho merit_rl and ray\n").unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(refused(&train).contains("python3 has no merit_rl and ray"));
    assert!(
        refused(&["reproduce", "retool", "--smoke", "--on", "127.0.0.1:6379"]).contains("has no merit_rl")
    );
    assert!(!dir.path().join("run").exists() && !dir.path().join("runs").exists());
}
