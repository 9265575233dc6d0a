//! The package as a person installs it: the wheel in a fresh virtual environment, and programs that use it.
//!
//! The programs are Python's (`tests/python`), one file each. `cargo xtask test` builds the wheel before the tests.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use merit_testing::{ADAPTERS, GYM, TRAINERS, WHEEL, present, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// A folder that is removed at the end of the program's tests.
struct Environment {
    folder: tempfile::TempDir,
}

impl Environment {
    fn bin(&self, name: &str) -> PathBuf {
        self.folder.path().join("bin").join(name)
    }
}

fn wheel() -> Option<PathBuf> {
    let folder = present(WHEEL, root().join("target/wheels/dev"))?;
    let mut found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let wheel = found.next().expect("the folder holds the wheel");
    assert!(found.next().is_none(), "one wheel and nothing else");
    Some(wheel)
}

fn well(mut command: Command) -> Output {
    let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    output
}

/// A fresh environment with the wheel and nothing else, but what lies in `beside`.
fn fresh(beside: &[&Path]) -> Option<Environment> {
    let wheel = wheel()?;
    let pip = present(GYM, root().join(".cache/gym/bin/python"))?;
    let folder = tempfile::tempdir().unwrap();
    let mut made = Command::new("python3");
    made.args(["-m", "venv", "--without-pip"]).arg(folder.path());
    well(made);
    let environment = Environment { folder };
    let mut installed = Command::new(pip);
    installed.args(["-m", "pip", "--disable-pip-version-check", "--python"]).arg(environment.bin("python"));
    installed.args(["install", "--quiet", "--no-index"]).arg(&wheel);
    // As on a machine without Rust, or any other program.
    installed.env_clear().env("PATH", "/nowhere");
    well(installed);
    let lib = environment.folder.path().join("lib");
    let version = std::fs::read_dir(&lib).unwrap().next().unwrap().unwrap().path();
    let paths: Vec<String> = beside.iter().map(|path| path.display().to_string()).collect();
    std::fs::write(version.join("site-packages/beside.pth"), paths.join("\n")).unwrap();
    Some(environment)
}

fn packages(of: &str) -> PathBuf {
    let lib = root().join(".cache").join(of).join("lib");
    let version = std::fs::read_dir(&lib).unwrap().next().unwrap().unwrap().path();
    version.canonicalize().unwrap().join("site-packages")
}

/// The one that most tests share.
fn shared() -> Option<&'static Environment> {
    static SHARED: OnceLock<Option<Environment>> = OnceLock::new();
    SHARED
        .get_or_init(|| {
            present(GYM, root().join(".cache/gym/bin/python")).and_then(|_| fresh(&[&packages("gym")]))
        })
        .as_ref()
}

/// Programs whose tests run once more beside torch and pyarrow; elsewhere they skip what needs those.
const TWICE: [&str; 3] = ["test_credit.py", "test_episodes.py", "test_objectives.py"];

/// Runs the tests of these files in one process; with `whole`, none of them may be skipped.
fn programs(environment: &Environment, names: &[&str], whole: bool) {
    let folder = root().join("crates/merit-python/tests/python");
    let mut tests = Command::new(environment.bin("python"));
    tests.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-x", "--rootdir"]);
    tests
        .arg(environment.folder.path())
        .args(names.iter().map(|name| folder.join(name)))
        .current_dir(environment.folder.path());
    tests.env("PYTHONDONTWRITEBYTECODE", "1").env("MERIT_ROOT", root());
    let said = well(tests);
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(!(whole && said.contains("skipped")), "everything is installed, and tests were skipped:\n{said}");
}

macro_rules! programs {
    ($($(#[$meta:meta])* $name:ident: $file:literal;)*) => {
        $($(#[$meta])* #[test]
        fn $name() {
            if let Some(environment) = shared() {
                programs(environment, &[$file], !TWICE.contains(&$file));
            }
        })*
    };
}

programs! {
    rewards_and_verifiers_from_python: "test_rewards.py";
    worlds_tools_and_rollouts_from_python: "test_worlds.py";
    credit_over_arrays_from_python: "test_credit.py";
    episodes_are_files_and_tables: "test_episodes.py";
    objectives_over_arrays_from_python: "test_objectives.py";
    threads_forks_and_pickles: "test_process.py";
    the_package_as_it_is_installed: "test_package.py";
    the_guide_for_python_is_programs_that_run: "test_guide.py";
    rollouts_and_scores_on_ray: "test_ray.py";
    servers_of_openenv_are_worlds: "test_openenv.py";
}

#[test]
fn trl_trains_with_rewards_and_worlds_of_merit() {
    let Some(_) = present(TRAINERS, root().join(".cache/trainers/bin/python")) else { return };
    let Some(_) = present(GYM, root().join(".cache/gym/bin/python")) else { return };
    if let Some(environment) = fresh(&[&packages("trainers"), &packages("gym")]) {
        // Once more beside torch, which finds the same gradients and whose tensors are read, and beside pyarrow.
        let [credit, episodes, objectives] = TWICE;
        programs(&environment, &["test_trainers.py", credit, episodes, objectives], true);
    }
}

#[test]
fn inspect_and_verifiers_score_and_play_by_merit() {
    let Some(_) = present(ADAPTERS, root().join(".cache/adapters/bin/python")) else { return };
    let Some(_) = present(TRAINERS, root().join(".cache/trainers/bin/python")) else { return };
    if let Some(environment) = fresh(&[&packages("adapters"), &packages("trainers"), &packages("gym")]) {
        programs(&environment, &["test_inspect.py", "test_verifiers.py"], true);
    }
}

#[test]
fn the_wheel_works_where_there_is_no_rust_and_no_other_package() {
    let Some(environment) = fresh(&[]) else { return };
    let says = "import merit_rl; print(merit_rl.Verifier('maths').pairs(['1/2'], ['0.5']), merit_rl.run('--version'))";
    let mut bare = Command::new(environment.bin("python"));
    bare.args(["-I", "-c", says]).env_clear().env("PATH", "/nowhere").current_dir(environment.folder.path());
    let said = well(bare);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "[1.0] merit 0.1.0\n\n");
    let mut command = Command::new(environment.bin("merit"));
    command.args(["list", "worlds"]).env_clear().current_dir(environment.folder.path());
    assert!(String::from_utf8_lossy(&well(command).stdout).contains("kbqa"));
}
