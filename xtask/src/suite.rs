//! `cargo xtask test`: everything that must hold, ending in one line that counts.

use crate::{root, run};
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Format, lints, tests, documentation.
pub(crate) fn run_suite() -> Result<()> {
    run("cargo", &["fmt", "--all", "--check"])?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"])?;
    crate::maths::fetch_peer_suite()?;
    crate::mcp::fetch_peers()?;
    crate::weights::fetch()?;
    let counted = tests()?;
    documentation()?;
    println!("{} passed, {} failed, {} skipped", counted.passed, counted.failed, counted.ignored);
    Ok(())
}

#[derive(Default)]
struct Counted {
    passed: u64,
    failed: u64,
    ignored: u64,
}

fn tests() -> Result<Counted> {
    let arguments = ["test", "--workspace", "--locked", "--no-fail-fast"];
    println!("$ cargo {}", arguments.join(" "));
    let mut child = Command::new("cargo")
        .args(arguments)
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo's output is not piped")?;
    let mut counted = Counted::default();
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read cargo's output")?;
        println!("{line}");
        count(&line, &mut counted);
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        println!("{} passed, {} failed, {} skipped", counted.passed, counted.failed, counted.ignored);
        bail!("cargo test ended with {status}");
    }
    Ok(counted)
}

/// Adds a line like `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
fn count(line: &str, counted: &mut Counted) {
    let Some(rest) = line.strip_prefix("test result: ") else { return };
    let number = |what: &str| -> u64 {
        let words: Vec<&str> = rest.split([' ', ';', '.']).filter(|w| !w.is_empty()).collect();
        words.windows(2).find(|pair| pair[1] == what).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
    };
    counted.passed += number("passed");
    counted.failed += number("failed");
    counted.ignored += number("ignored");
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
        let mut counted = Counted::default();
        count(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            &mut counted,
        );
        count("test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out", &mut counted);
        count("running 3 tests", &mut counted);
        assert_eq!((counted.passed, counted.failed, counted.ignored), (5, 1, 1));
    }
}
