//! The merit binary: parses the command line, calls one library function per command, prints.
//!
//! Exit codes: 0 done, 1 something failed on the way, 2 the input was wrong, 130 interrupted.

mod cli;
mod commands;
mod display;
mod episode_text;
mod out;

use clap::{CommandFactory as _, Parser as _};
use cli::{Cli, Command, completing, free_text};
use merit_core::printable;
use std::process::ExitCode;

fn main() -> ExitCode {
    clap_complete::CompleteEnv::with_factory(Cli::command).var(completing::VARIABLE).complete();
    let cli = Cli::parse_from(free_text::arguments(std::env::args_os()));
    let done = match cli.command {
        Command::Init { folder, tasks, model } => {
            commands::init::run(&folder, tasks.as_deref().zip(model.as_deref()))
        }
        Command::Train(arguments) => commands::train::run(&arguments),
        Command::Eval(arguments) => commands::eval::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Rollout(arguments) => commands::rollout::run(&arguments),
        Command::Play(arguments) => commands::play::run(&arguments),
        Command::Show(arguments) => commands::show::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Recipe(arguments) => commands::recipe::run(&arguments),
        Command::Import(arguments) => commands::import::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Score(arguments) => commands::score::run(&arguments),
        Command::Reward(arguments) => commands::reward::run(&arguments),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Attack(arguments) => commands::attack::run(&arguments),
        Command::Tool(arguments) => commands::tool::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Mcp(arguments) => commands::mcp::run(&arguments),
        Command::Chat(arguments) => commands::chat::run(&arguments),
        Command::Generate(arguments) => commands::generate::run(&arguments),
        Command::Model(arguments) => commands::model::run(&arguments),
        Command::Completions { shell } => completions(shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if out::reader_left(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::complain(format_args!("merit: {}", printable::lines(&in_one_line(&error))));
            ExitCode::from(commands::exit_code(&error))
        }
    }
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    let shells = clap_complete::env::Shells::builtins();
    let shell =
        shells.completer(&shell.to_string()).ok_or_else(|| anyhow::anyhow!("no script for {shell}"))?;
    shell.write_registration(completing::VARIABLE, "merit", "merit", "merit", &mut script)?;
    Ok(out::text(String::from_utf8_lossy(&script))?)
}

/// The error and its causes, each said once: many an error already repeats its cause.
fn in_one_line(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
