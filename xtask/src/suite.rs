//! `cargo xtask test`: everything that must hold, ending in one line that counts.
//!
//! Format, lints, the documentation, every test program, the examples of the documentation. What tests need from outside
//! is fetched meanwhile: it waits for servers and disks, and is needed when the first program runs.

mod format;
mod programs;
mod skipped;

use crate::{fetch, root, run, wheel};
use anyhow::{Context as _, Result, bail};
use merit_testing::WHEEL;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Format, lints, documentation, tests.
pub(crate) fn run_suite() -> Result<()> {
    let begun = Instant::now();
    format::check()?;
    let (required, programs) = std::thread::scope(|scope| {
        let fetching = scope.spawn(fetch::fetch_all);
        let built = build();
        let fetched = fetching.join().map_err(|_| anyhow::anyhow!("fetching panicked"))?;
        let (wheel, programs) = built?;
        anyhow::Ok((with_wheel(fetched?, wheel)?, programs))
    })?;
    println!("{} s until the tests run", begun.elapsed().as_secs());
    let mut tally = programs::run_all(programs, &required)?;
    let examples = doc_examples(&mut tally);
    if tally.failed == 0 {
        examples?;
    }
    println!("{} s in all", begun.elapsed().as_secs());
    tally.skipped.show();
    let Tally { passed, failed, .. } = tally;
    println!("{passed} passed, {failed} failed, {} skipped", tally.skipped.len());
    if failed > 0 {
        bail!("{failed} tests failed: {}", tally.failures.join(", "));
    }
    Ok(())
}

type Wheel = Result<std::path::PathBuf>;

/// Lints, documentation, the Python package and every test program, one after the other.
fn build() -> Result<(Wheel, Vec<programs::Program>)> {
    run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"])?;
    documentation()?;
    let wheel = wheel::build(true);
    Ok((wheel, programs::build()?))
}

/// Tests that install the Python package are skipped where it cannot be built, unless it is required.
fn with_wheel(required: String, wheel: Wheel) -> Result<String> {
    let asked = required.split(',').any(|name| name == WHEEL.name);
    match wheel {
        Ok(_) if asked => Ok(required),
        Ok(_) => Ok(format!("{required},{}", WHEEL.name)),
        Err(why) if asked => Err(why),
        Err(why) => {
            println!("the tests that need `{}` are skipped: {why:#}", WHEEL.name);
            Ok(required)
        }
    }
}

/// What came of the tests.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    /// The programs that failed.
    failures: Vec<String>,
    skipped: skipped::Skipped,
}

impl Tally {
    /// Adds what a test program said; whether it said a result at all.
    fn add(&mut self, said: &str) -> bool {
        let results: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("test result: ")).collect();
        for result in &results {
            self.passed += number(result, "passed");
            self.failed += number(result, "failed");
        }
        !results.is_empty()
    }
}

/// The number before a word, of a line like `ok. 3 passed; 0 failed; 1 ignored; …`.
fn number(result: &str, word: &str) -> u64 {
    let words: Vec<&str> = result.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

/// The examples in doc comments, which only cargo can run.
fn doc_examples(tally: &mut Tally) -> Result<()> {
    let arguments = ["test", "--workspace", "--doc", "--locked", "--no-fail-fast"];
    println!("$ cargo {}", arguments.join(" "));
    let mut child = Command::new("cargo")
        .args(arguments)
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo's output is not piped")?;
    let mut said = String::new();
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read cargo's output")?;
        println!("{line}");
        said.push_str(&line);
        said.push('\n');
    }
    tally.add(&said);
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        tally.failures.push("examples of the documentation".to_owned());
        bail!("cargo test --doc ended with {status}");
    }
    Ok(())
}

fn documentation() -> Result<()> {
    println!("$ RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps --locked");
    let status = Command::new("cargo")
        .args(["doc", "--workspace", "--no-deps", "--locked", "--quiet"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .current_dir(root())
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo doc ended with {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_add_up() {
        let mut tally = Tally::default();
        assert!(tally.add(
            "running 4 tests\n\
             test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"
        ));
        assert_eq!((tally.passed, tally.failed), (5, 1));
        assert!(!tally.add("running 3 tests\n"), "a program that dies says no result");
    }
}
