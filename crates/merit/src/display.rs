//! How a run is shown while it goes on: a live line in a terminal, plain lines elsewhere, or JSON.

use crate::out;
use indicatif::{ProgressBar, ProgressStyle};
use merit_core::Arm;
use merit_run::Event;
use std::io::IsTerminal as _;
use std::time::Instant;

/// One JSON object a line.
pub(crate) fn json_line(event: Event) {
    match serde_json::to_string(&event) {
        Ok(line) => show(&line),
        Err(error) => out::complain(format_args!("merit: an event cannot be shown: {error}")),
    }
}

/// A lost terminal is no reason to stop a run.
fn show(line: &str) {
    let _ = out::line(line);
}

/// A live display when somebody watches, plain lines otherwise.
pub(crate) fn for_people() -> Box<dyn FnMut(Event)> {
    let watched = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    if watched { Box::new(live()) } else { Box::new(plain()) }
}

const TICKS: u64 = 1000;

/// A line that stays in place, with steps now and then above it. What is left and how fast it goes come first: a narrow window cuts
/// the rest.
fn live() -> impl FnMut(Event) {
    let bar = ProgressBar::new(TICKS);
    let style = ProgressStyle::with_template("{bar:10.cyan/dim} {percent:>3}%{prefix} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    let mut clock = Clock::default();
    move |event| {
        if let Some(done) = done(&event) {
            bar.set_position((done * TICKS as f64) as u64);
            bar.set_prefix(format!("{}{}", clock.left(done), speed(&event)));
            bar.set_message(words(&event));
        }
        if done(&event).is_none() || stays(&event) {
            bar.println(words(&event));
        }
    }
}

/// Lines for a log: every stage and evaluation, and a step now and then.
fn plain() -> impl FnMut(Event) {
    let mut clock = Clock::default();
    move |event| {
        let left = done(&event).map_or_else(String::new, |done| clock.left(done));
        if stays(&event) {
            show(&format!("{}{}{left}", words(&event), speed(&event)));
        }
    }
}

/// Whether an event is worth a line that stays.
fn stays(event: &Event) -> bool {
    match event {
        Event::Warm { step, of, .. } | Event::Update { step, of, .. } => {
            step == of || step % (of / 5).max(1) == 0
        }
        Event::Step { step, of, .. } => step == of || *step == 1 || step % (of / 10).max(1) == 0,
        _ => true,
    }
}

/// How fast it goes, where that is told.
fn speed(event: &Event) -> String {
    match event {
        Event::Warm { shared: true, .. } => String::new(),
        Event::Warm { tokens_per_s, .. }
        | Event::Update { tokens_per_s, .. }
        | Event::Step { tokens_per_s, .. } => format!("  {:.1}k tokens/s", tokens_per_s / 1e3),
        _ => String::new(),
    }
}

fn done(event: &Event) -> Option<f64> {
    match event {
        Event::Stage { done, .. }
        | Event::Warm { done, .. }
        | Event::Update { done, .. }
        | Event::Collected { done, .. }
        | Event::Step { done, .. } => Some(*done),
        _ => None,
    }
}

fn words(event: &Event) -> String {
    match event {
        Event::Started { run, recipe, seed, parameters, resumed, .. } => {
            let verb = if *resumed { "going on with" } else { "training" };
            format!("{verb} `{recipe}`, seed {seed}, {:.2} M parameters, in {run}", *parameters as f64 / 1e6)
        }
        Event::Stage { what, .. } => what.clone(),
        Event::Warm { step, of, loss, shared: true, .. } => {
            format!("warm start {step}/{of}  loss {loss:.3}  shared with another run")
        }
        Event::Warm { step, of, loss, .. } => format!("warm start {step}/{of}  loss {loss:.3}"),
        Event::Step { phase, step, of, success, reward, terms, .. } => {
            let arm = match phase.arm() {
                Some(Arm::Main) => String::new(),
                _ => format!("{} ", phase.owner()),
            };
            let terms: String = terms.iter().map(|(name, value)| format!("  {name} {value:.2}")).collect();
            if success.is_nan() && reward.is_nan() {
                return format!("{arm}step {step}/{of}  no episode counts");
            }
            format!("{arm}step {step}/{of}  success {:.0}%  reward {reward:.2}{terms}", success * 100.0)
        }
        Event::Update { stage, step, of, loss, .. } => format!("{stage} {step}/{of}  loss {loss:.3}"),
        Event::Collected { stage, step, of, episodes, success, .. } => {
            format!("{stage} {step}/{of}  {episodes} episodes, {:.0}% solved", success * 100.0)
        }
        Event::Evaluated { phase, step, success, tasks } => {
            if *tasks == 0 {
                return format!("{phase} after step {step}: no held-out task counts");
            }
            format!("{phase} after step {step}: {:.1}% of {tasks} held-out tasks", success * 100.0)
        }
        Event::Stalled { waiting } => format!("waiting: {waiting}"),
        Event::Note { text } => text.clone(),
    }
}

/// Estimates the time left from the share that was done since the first event.
#[derive(Default)]
struct Clock {
    start: Option<(Instant, f64)>,
}

impl Clock {
    fn left(&mut self, done: f64) -> String {
        let (began, from) = *self.start.get_or_insert((Instant::now(), done));
        let (spent, progress) = (began.elapsed().as_secs_f64(), done - from);
        if progress < 0.02 || spent < 2.0 {
            return String::new();
        }
        let left = spent * (1.0 - done) / progress;
        if left < 120.0 { format!("  {left:.0} s left") } else { format!("  {:.0} min left", left / 60.0) }
    }
}
