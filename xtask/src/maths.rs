//! The fuzz driver of the maths verifier.

use crate::run;
use anyhow::Result;

/// `cargo xtask fuzz-maths [N] [SEED]`.
pub(crate) fn fuzz(arguments: &[&str]) -> Result<()> {
    let mut command =
        vec!["run", "--release", "--locked", "--package", "merit-maths", "--example", "fuzz", "--"];
    command.extend(arguments);
    run("cargo", &command)
}
