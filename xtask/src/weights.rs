//! `cargo xtask weights`: the real models of the tests, in `.cache/weights`.

use crate::root;
use anyhow::{Context as _, Result, bail};
use std::process::Command;

const SCRIPT: &str = "benchmarks/agreement/weights.py";
/// What the script exits with when no package index is in reach.
const UNREACHABLE: i32 = 3;

/// Fetches what is missing and checks what is there. Without a package index the tests that need it say that they skip.
pub(crate) fn fetch() -> Result<()> {
    println!("$ python3 {SCRIPT}");
    let status = Command::new("python3")
        .arg(SCRIPT)
        .current_dir(root())
        .status()
        .context("cannot start `python3`; is it installed?")?;
    match status.code() {
        Some(0) => Ok(()),
        Some(UNREACHABLE) => {
            println!("the tests that need real weights will say that they are skipped");
            Ok(())
        }
        _ => bail!("`python3 {SCRIPT}` ended with {status}"),
    }
}
