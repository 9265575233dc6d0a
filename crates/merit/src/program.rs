//! The command `merit`: parses the command line, calls one library function per command, prints.
//!
//! The binary and the script of the Python package both call [`main`]; a program with components of its own calls [`main_with`]. Exit codes: 0 done, 1 something failed on the way, 2 the input
//! was wrong, 130 interrupted.

use crate::cli::{Cli, Command, completing, free_text};
use crate::{commands, out};
use clap::{CommandFactory as _, Parser as _};
use merit_core::{Components, printable};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::{OsString, c_int};

/// Does what `arguments` say, the name of the program first, and gives the exit code. Help and wrong arguments end the process.
pub fn main(arguments: Vec<OsString>) -> u8 {
    main_with(&crate::built_in(), arguments)
}

/// The same for a program with components of its own: whatever a command reads may name these, and `list` shows them.
///
/// ```no_run
/// use merit::prelude::*;
/// # #[derive(Serialize, Deserialize, JsonSchema)]
/// # struct Brief {}
/// # impl Component for Brief { const ABOUT: About = About { name: "brief", summary: "", paper: "" }; }
/// # impl Term for Brief {
/// #     fn kind(&self) -> TermKind { TermKind::VERDICT }
/// #     fn evaluate(&self, _: &EvalContext<'_>) -> TermResult { TermResult::broken("") }
/// # }
/// let components = merit::built_in().with(entry!(Brief as dyn Term));
/// let code = merit::program::main_with(&components, std::env::args_os().collect());
/// std::process::exit(code.into());
/// ```
pub fn main_with(components: &Components, arguments: Vec<OsString>) -> u8 {
    // A file that may not grow is then an error of writing it, which is told, and not the end of the process.
    let limit = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, limit);
    let here = std::env::current_dir().ok();
    // What may be completed is known to the command line by the components it is lent.
    let command = || components.reading(Cli::command);
    let completing = clap_complete::CompleteEnv::with_factory(command).var(completing::VARIABLE);
    match completing.try_complete(arguments.clone(), here.as_deref()) {
        Ok(false) => {}
        Ok(true) => return 0,
        Err(error) => error.exit(),
    }
    let cli = Cli::parse_from(free_text::arguments(arguments));
    take_programs_along(&cli.command);
    let done = match cli.command {
        Command::Init { folder, tasks, model } => {
            commands::init::run(&folder, tasks.as_deref().zip(model.as_deref()))
        }
        Command::Train(arguments) => commands::train::run(&arguments, components),
        Command::Eval(arguments) => commands::eval::run(&arguments, components),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Rollout(arguments) => commands::rollout::run(&arguments, components),
        Command::Play(arguments) => commands::play::run(&arguments, components),
        Command::Show(arguments) => commands::show::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments, components),
        Command::Recipe(arguments) => commands::recipe::run(&arguments, components),
        Command::Import(arguments) => commands::import::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Score(arguments) => commands::score::run(&arguments, components),
        Command::Reward(arguments) => commands::reward::run(&arguments, components),
        Command::Evolve(arguments) => commands::evolve::run(&arguments, components),
        Command::Library(arguments) => commands::library::run(&arguments, components),
        Command::Verify(arguments) => commands::verify::run(&arguments),
        Command::Judge(command) => commands::judge::run(&command, components),
        Command::Bench(command) => commands::bench::run(&command, components),
        Command::Attack(arguments) => commands::attack::run(&arguments, components),
        Command::Memory(arguments) => commands::memory::run(&arguments),
        Command::Tool(arguments) => commands::tool::run(&arguments, components),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Mcp(arguments) => commands::mcp::run(&arguments, components),
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

/// A signal that ends merit ends the programs that it started, too: they have process groups of their own, which no signal of a
/// terminal reaches, and one that hangs would stay for ever.
fn take_programs_along(command: &Command) {
    let signals: Vec<c_int> = ending(command).iter().copied().filter(|signal| !is_ignored(*signal)).collect();
    // Without it merit works as well.
    let Ok(mut heard) = signal_hook::iterator::Signals::new(signals) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = heard.forever().next() {
            merit_command::end_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The signals that end a command at once; the others it hears itself, and ends as it should.
fn ending(command: &Command) -> &'static [c_int] {
    match command {
        Command::Attack(_) => &[SIGHUP],
        Command::Mcp(arguments) if arguments.http.is_some() => &[SIGHUP],
        Command::Train(_) | Command::Reproduce(_) | Command::Chat(_) => &[SIGTERM, SIGHUP],
        _ => &[SIGINT, SIGTERM, SIGHUP],
    }
}

/// Whether a signal was to be ignored from the start, as by `nohup` and for what a script runs in the background. Where nobody can
/// tell, that of a closed terminal is.
fn is_ignored(signal: c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => (mask >> (signal - 1)) & 1 == 1,
        None => signal == SIGHUP,
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
