//! The command `merit` in the package: the engine is in the extension module already, so the script on the PATH calls it there.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::panic::catch_unwind;

/// What a Rust program that panics ends with.
const PANICKED: i32 = 101;

/// Runs `merit` with these arguments, the name of the program first, and ends the process with its exit code.
#[pyfunction]
#[pyo3(name = "_command")]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) {
    let code = py.detach(|| catch_unwind(|| merit::program::main(arguments)));
    // Nothing of the interpreter is left to be put in order: only the script called this.
    std::process::exit(code.map_or(PANICKED, i32::from))
}
