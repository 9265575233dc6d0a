//! The merit binary. What it does is in `program.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(merit::program::main(std::env::args_os().collect()))
}
