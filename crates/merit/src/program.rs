//! The command `merit`: parses the command line, calls one library function per command, prints.
//!
//! The binary and the script of the Python package both call [`main`]. Exit codes: 0 done, 1 something failed on the way, 2 the input
//! was wrong, 130 interrupted.

use crate::cli::{Cli, Command, completing, free_text};
use crate::{commands, out};
use clap::{CommandFactory as _, Parser as _};
use merit_core::printable;
use std::ffi::OsString;

/// Does what `arguments` say, the name of the program first, and gives the exit code. Help and wrong arguments end the process.
pub fn main(arguments: Vec<OsString>) -> u8 {
    let here = std::env::current_dir().ok();
    let completing = clap_complete::CompleteEnv::with_factory(Cli::command).var(completing::VARIABLE);
    match completing.try_complete(arguments.clone(), here.as_deref()) {
        Ok(false) => {}
        Ok(true) => return 0,
        Err(error) => error.exit(),
    }
    let cli = Cli::parse_from(free_text::arguments(arguments));
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
        Command::Evolve(arguments) => commands::evolve::run(&arguments),
        Command::Library(arguments) => commands::library::run(&arguments),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Judge(command) => commands::judge::run(&command),
        Command::Bench(command) => commands::bench::run(&command),
        Command::Attack(arguments) => commands::attack::run(&arguments),
        Command::Memory(arguments) => commands::memory::run(&arguments),
        Command::Tool(arguments) => commands::tool::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Mcp(arguments) => commands::mcp::run(&arguments),
        Command::Chat(arguments) => commands::chat::run(&arguments),
        Command::Generate(arguments) => commands::generate::run(&arguments),
        Command::Model(arguments) => commands::model::run(&arguments),
        Command::Completions { shell } => completions(shell),
    };
    match done {
        Ok(()) => 0,
        Err(error) if out::reader_left(&error) => 0,
        Err(error) => {
            out::complain(format_args!("merit: {}", printable::lines(&in_one_line(&error))));
            commands::exit_code(&error)
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
