//! `merit attack`: can this reward be had without the work?

use super::WrongInput;
use crate::cli::rewards::Attack;
use crate::out;
use anyhow::{Context as _, Result, bail};
use merit_attack::targets::{self, CommandTarget, Limits, split_words};
use merit_attack::{AttackError, Settings, Target, audit};
use std::time::Duration;

pub(crate) fn run(arguments: &Attack) -> Result<()> {
    end_scorers_on_interrupt()?;
    let settings = Settings { seed: arguments.seed, tasks: arguments.limit as usize };
    let made = open(arguments, &settings).and_then(|mut target| audit(target.as_mut(), &settings));
    // Whatever keeps an audit from being made is something in what was given.
    let audit = made.map_err(|error| WrongInput(error.to_string()))?;
    if arguments.json {
        out::line(serde_json::to_string(&audit)?)?;
    } else {
        out::text(audit.render())?;
    }
    if audit.grade < arguments.at_least {
        bail!("{}: grade {}, below {}", audit.target, audit.grade, arguments.at_least);
    }
    Ok(())
}

fn open(arguments: &Attack, settings: &Settings) -> Result<Box<dyn Target>, AttackError> {
    let command = match &arguments.command {
        Some(command) => split_words(command)?,
        None => arguments.program.clone(),
    };
    if !command.is_empty() {
        let limits = Limits { answer: Duration::from_secs(arguments.deadline.into()), ..Limits::default() };
        return Ok(Box::new(CommandTarget::start(command, limits)?));
    }
    let name = arguments.target.as_deref().unwrap_or_default();
    targets::open(name, arguments.tasks.as_deref(), settings)
}

/// Ctrl-C ends the scorer with us: it has a process group of its own, which the terminal does not reach.
fn end_scorers_on_interrupt() -> Result<()> {
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
    let mut heard = signal_hook::iterator::Signals::new(signals).context("cannot listen for Ctrl-C")?;
    std::thread::spawn(move || {
        if let Some(signal) = heard.forever().next() {
            merit_command::end_all();
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
