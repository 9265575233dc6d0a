//! The merit binary: parses the command line, calls one library function per command, prints.
//!
//! Exit codes: 0 done, 1 something failed on the way, 2 the input was wrong, 130 interrupted.

mod cli;
mod commands;
mod display;
mod episode_text;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Train(arguments) => commands::train::run(&arguments),
        Command::Rollout(arguments) => commands::rollout::run(&arguments),
        Command::Show(arguments) => commands::show::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Recipe(arguments) => commands::recipe::run(&arguments),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "merit", &mut std::io::stdout());
            Ok(())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("merit: {error:#}");
            ExitCode::from(commands::exit_code(&error))
        }
    }
}
