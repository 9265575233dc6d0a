//! Developer commands: `cargo xtask test`, `cargo xtask bench`, `cargo xtask seeds`.
//!
//! Each does its own set-up and says what it runs. Nothing here is needed to use merit.
#![allow(clippy::print_stdout, reason = "a command-line program")]

mod bench;
mod fetch;
mod maths;
mod seeds;
mod suite;
mod wheel;

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask test            format, lints, every test, documentation: what CI runs
cargo xtask bench [WHAT]    merit beside its peers, interleaved (orchestration, maths, graders, judges, algebra, sandbox, search, word-index, memory, advantages, decoder, sampling, quantised, worlds, warm, python, start, build); sets up the peers once
cargo xtask seeds [N | FIRST-LAST] [RECIPE]  a recipe (the default one) over N seeds (5), or FIRST to LAST, recorded in docs/results/
cargo xtask weights         the real models of the tests, into .cache/weights (415 MB fetched, 440 MB kept)
cargo xtask wheel [--dev]   the Python package merit-rl with the command in it, into target/wheels
cargo xtask fuzz-maths [N]  N mutated inputs (10 million) through the maths verifier: no panic, no limit overrun
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => suite::run_suite(),
        ["bench", what @ ..] => bench::run_benches(what),
        ["seeds", rest @ ..] => seeds::run_seeds(rest),
        ["weights"] => fetch::fetch(merit_testing::WEIGHTS),
        ["wheel"] => wheel::build(false).map(|_| ()),
        ["wheel", "--dev"] => wheel::build(true).map(|_| ()),
        ["fuzz-maths", rest @ ..] => maths::fuzz(rest),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(anyhow::anyhow!("no command `{}`\n{HELP}", other.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Runs a command in the repository's root, showing it first.
fn run(program: &str, arguments: &[&str]) -> Result<()> {
    println!("$ {program} {}", arguments.join(" "));
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start `{program}`; is it installed?"))?;
    if !status.success() {
        bail!("`{program} {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}
