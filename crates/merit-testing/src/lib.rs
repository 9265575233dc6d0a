//! Tests that need something from outside the repository: it is found, or the test says that it was skipped.
//!
//! libtest has no word for a test that could not run: it would count as passed. Such a test asks here for what it needs,
//! and returns when it is absent. Every absence becomes a line of the file that `MERIT_SKIPPED` names, which
//! `cargo xtask test` counts and shows, or a failure where `MERIT_REQUIRE` names the need. A development dependency only.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Something from outside that tests need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// As `MERIT_REQUIRE` and the closing line of `cargo xtask test` name it.
    pub name: &'static str,
    pub hint: &'static str,
}

/// The weights of real models, in `.cache/weights`.
pub const WEIGHTS: Need = Need { name: "weights", hint: "`cargo xtask weights` fetches them" };
/// Math-Verify's own test suite, in `.cache/math-verify`.
pub const MATHS_SUITE: Need = Need { name: "maths-suite", hint: "`cargo xtask test` fetches it" };
/// The Python programs that speak the Model Context Protocol, in `.cache/mcp`.
pub const MCP_PYTHON: Need = Need { name: "mcp-python", hint: "`cargo xtask test` fetches them" };
/// The npm server that speaks the Model Context Protocol, in `.cache/mcp-npm`.
pub const MCP_NPM: Need = Need { name: "mcp-npm", hint: "`cargo xtask test` fetches it; it takes `npm`" };
/// Gymnasium and TextArena, in `.cache/gym`.
pub const GYM: Need = Need { name: "gym", hint: "`cargo xtask test` fetches them" };
/// TRL, and verl's reader, in `.cache/trainers`.
pub const TRAINERS: Need = Need {
    name: "trainers",
    hint: "`cargo xtask test` fetches them; they take Linux on x86-64, Python 3.11 and `cc`",
};
/// Inspect and verifiers, in `.cache/adapters`.
pub const ADAPTERS: Need = Need { name: "adapters", hint: "`cargo xtask test` fetches them" };
/// The Python package, in `target/wheels/dev`.
pub const WHEEL: Need = Need { name: "wheel", hint: "`cargo xtask wheel --dev` builds it" };
/// Data sets that this repository may not pass on, in the folder `MERIT_DATA` or in `../shared/data`.
pub const DATA: Need = Need { name: "data", hint: "`MERIT_DATA` names the folder that holds it" };
/// The right to mount a small disk.
pub const MOUNTS: Need = Need { name: "mounts", hint: "mounting takes the rights of an administrator" };
/// A program that runs JavaScript.
pub const NODE: Need = Need { name: "node", hint: "install Node.js where `node` is found" };
/// TensorBoard's reader of event files, in `.cache/tensorboard`.
pub const TENSORBOARD: Need = Need { name: "tensorboard", hint: "`cargo xtask test` fetches it" };

pub const NEEDS: [Need; 12] = [
    WEIGHTS,
    MATHS_SUITE,
    MCP_PYTHON,
    MCP_NPM,
    GYM,
    TRAINERS,
    ADAPTERS,
    WHEEL,
    DATA,
    MOUNTS,
    NODE,
    TENSORBOARD,
];

/// Names the file to which every skipped test adds a line: need, test and reason, with tabs between.
pub const SKIPPED: &str = "MERIT_SKIPPED";
/// Names, with commas between, the needs whose absence fails a test.
pub const REQUIRE: &str = "MERIT_REQUIRE";

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file or folder of `.cache/weights`. Absent: it was not fetched, and the test is skipped.
pub fn weights(name: &str) -> Option<PathBuf> {
    present(WEIGHTS, root().join(".cache/weights").join(name))
}

/// A file of the data folder. Absent: it is not at hand, and the test is skipped.
pub fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("MERIT_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from);
    present(DATA, folder.join(name))
}

/// The path, if something is there; otherwise the test is skipped.
pub fn present(need: Need, path: PathBuf) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    skip(need, &format!("{} is not there", path.display()));
    None
}

/// Says that the test of this thread is skipped, and why; the caller returns next.
///
/// # Panics
/// Where `MERIT_REQUIRE` names the need, and where the line cannot be written.
pub fn skip(need: Need, why: &str) {
    let Need { name, hint } = need;
    let required = std::env::var(REQUIRE).unwrap_or_default();
    assert!(!requires(&required, name), "`{name}` is required, but {why}; {hint}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let Some(file) = std::env::var_os(SKIPPED) else {
        let _ = writeln!(std::io::stderr(), "{test} is skipped: {why}; {hint}");
        return;
    };
    let line = line(name, &test, &format!("{why}; {hint}"));
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    // One write, so that the lines of several threads and programs do not mix.
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("the list of skipped tests can be written");
}

fn requires(required: &str, name: &str) -> bool {
    required.split(',').any(|word| word.trim() == name)
}

fn line(name: &str, test: &str, why: &str) -> String {
    format!("{name}\t{test}\t{}\n", why.replace(['\n', '\t'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_three_fields_whatever_the_reason_says() {
        assert_eq!(
            line("weights", "it::a_test", "not\there\nat all"),
            "weights\tit::a_test\tnot here at all\n"
        );
    }

    #[test]
    fn needs_are_required_by_their_whole_name() {
        assert!(requires("weights, mcp-npm", "mcp-npm"));
        assert!(!requires("weights,mcp-npm", "mcp"));
        assert!(!requires("", "weights"));
    }

    #[test]
    fn what_is_there_is_given_and_skips_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(present(DATA, folder.path().to_owned()), Some(folder.path().to_owned()));
    }
}
