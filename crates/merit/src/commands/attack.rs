//! `merit attack`: can this reward be had without the work?

use super::WrongInput;
use crate::cli::rewards::Attack;
use crate::out;
use anyhow::{Context as _, Result, bail};
use merit_attack::targets::{self, CommandTarget, Limits, split_words};
use merit_attack::{
    AttackError, Audit, Settings, Target, audit_judge, audit_with, pairs_of, probes_of, tasks,
};
use merit_core::Components;
use merit_evolve::Library;
use merit_run::{OpenJudge, RunError};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) fn run(arguments: &Attack, components: &Components) -> Result<()> {
    let so_far = Arc::new(Mutex::new(None));
    break_off_on_interrupt(Arc::clone(&so_far), arguments.json)?;
    let settings = Settings { seed: arguments.seed, tasks: arguments.limit as usize };
    let mut keep = |audit| *locked(&so_far) = Some(audit);
    let made = match arguments.target.as_deref().map(Path::new).filter(|path| is_judge(path)) {
        Some(judge) => attack_judge(judge, arguments, &settings, components),
        None => open(arguments, &settings, components)
            .and_then(|mut target| audit_with(target.as_mut(), &settings, &probes_of(components), &mut keep)),
    };
    // Held to the end: an interrupt that comes now finds everything said, and one that came before ends merit itself. What its
    // killed scorer fails to say is no error.
    let _said = locked(&so_far);
    // Whatever keeps an audit from being made is something in what was given.
    let audit = made.map_err(|error| WrongInput(error.to_string()))?;
    say(&audit, arguments.json)?;
    if audit.grade < arguments.at_least {
        bail!("{}: grade {}, below {}", audit.target, audit.grade, arguments.at_least);
    }
    Ok(())
}

/// Whether a path holds a judge: a folder with `judge.toml`, or a file that says what is asked.
fn is_judge(path: &Path) -> bool {
    let file = if path.is_dir() { path.join("judge.toml") } else { path.to_owned() };
    let table = std::fs::read_to_string(file).ok().and_then(|text| toml::from_str::<toml::Table>(&text).ok());
    table.is_some_and(|table| table.contains_key("ask") || table.contains_key("panel"))
}

fn attack_judge(
    path: &Path,
    arguments: &Attack,
    settings: &Settings,
    components: &Components,
) -> Result<Audit, AttackError> {
    let unusable =
        |error: RunError| AttackError::Target { target: path.display().to_string(), why: error.to_string() };
    let tasks = match &arguments.tasks {
        Some(file) => tasks::load(file, settings.tasks)?,
        None => tasks::general(),
    };
    let pairs = pairs_of(&tasks)?;
    if let (true, Some(file)) = (pairs.is_empty(), &arguments.tasks) {
        let why = "none of its tasks has a right answer and a wrong one to tell apart".to_owned();
        return Err(AttackError::Target { target: file.display().to_string(), why });
    }
    let mut judge = OpenJudge::open(path, &Library::default(), components, None).map_err(unusable)?;
    let audit = audit_judge(judge.judge(), &pairs, settings)?;
    Ok(Audit { target: path.display().to_string(), ..audit })
}

fn say(audit: &Audit, json: bool) -> Result<()> {
    match json {
        true => out::line(serde_json::to_string(audit)?)?,
        false => out::text(audit.render())?,
    }
    Ok(())
}

fn open(
    arguments: &Attack,
    settings: &Settings,
    components: &Components,
) -> Result<Box<dyn Target>, AttackError> {
    let command = match &arguments.command {
        Some(command) => split_words(command)?,
        None => arguments.program.clone(),
    };
    if !command.is_empty() {
        let limits = Limits { answer: Duration::from_secs(arguments.deadline.into()), ..Limits::default() };
        return Ok(Box::new(CommandTarget::start(command, limits)?));
    }
    let name = arguments.target.as_deref().unwrap_or_default();
    targets::open_with(name, arguments.tasks.as_deref(), settings, components)
}

/// Ctrl-C says what was found so far and ends the scorer with us: it has a process group of its own, which the terminal does not
/// reach.
fn break_off_on_interrupt(so_far: Arc<Mutex<Option<Audit>>>, json: bool) -> Result<()> {
    let signals = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];
    let mut heard = signal_hook::iterator::Signals::new(signals).context("cannot listen for Ctrl-C")?;
    std::thread::spawn(move || {
        if let Some(signal) = heard.forever().next() {
            // Held to the end, so that what a killed scorer fails to say is no finding.
            let found = locked(&so_far);
            merit_command::end_all();
            let said = found.as_ref().map_or(Ok(()), |audit| say(audit, json));
            if let Err(error) = said {
                out::complain(format_args!("merit: {error:#}"));
            }
            let tried = found.as_ref().map_or(0, |audit| audit.probes.len());
            out::complain(format_args!("merit: interrupted after {tried} probes"));
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}

fn locked(so_far: &Mutex<Option<Audit>>) -> MutexGuard<'_, Option<Audit>> {
    so_far.lock().unwrap_or_else(PoisonError::into_inner)
}
