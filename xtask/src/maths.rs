//! The maths verifier's outside material: Math-Verify's suite, fetched before the tests, and the fuzz driver.

use crate::{root, run};
use anyhow::{Result, bail};
use std::process::Command;

/// What the script exits with when no package index is in reach.
const UNREACHABLE: i32 = 3;

/// Writes the triples of Math-Verify's suite into `.cache/math-verify`, once.
pub(crate) fn fetch_peer_suite() -> Result<()> {
    const SCRIPT: &str = "benchmarks/peers/math_verify_suite.py";
    println!("$ python3 {SCRIPT}");
    let Ok(status) = Command::new("python3").arg(SCRIPT).current_dir(root()).status() else {
        println!(
            "there is no `python3` to fetch Math-Verify's suite: the tests against it will say that they are skipped"
        );
        return Ok(());
    };
    match status.code() {
        Some(0) => Ok(()),
        Some(UNREACHABLE) => {
            println!(
                "no package index in reach: the tests against Math-Verify's suite will say that they are skipped"
            );
            Ok(())
        }
        _ => bail!("`python3 {SCRIPT}` ended with {status}"),
    }
}

/// `cargo xtask fuzz-maths [N] [SEED]`.
pub(crate) fn fuzz(arguments: &[&str]) -> Result<()> {
    let mut command =
        vec!["run", "--release", "--locked", "--package", "merit-maths", "--example", "fuzz", "--"];
    command.extend(arguments);
    run("cargo", &command)
}
