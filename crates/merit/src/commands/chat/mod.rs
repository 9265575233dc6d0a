//! `merit chat`: lines in, answers out as they come, from a model in this process or behind an address.

mod embedded;
mod pieces;
mod remote;

use crate::cli::models::Chat;
use crate::out;
use anyhow::{Context as _, Result};
use std::io::{BufRead as _, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The temperature of a chat that names none.
const TEMPERATURE: f32 = 0.7;
/// Most tokens of an answer where nothing else is said.
const MAX_TOKENS: usize = 1024;

/// Said of an answer that is cut.
const CUT: &str = "the answer is cut: it has as many tokens as were allowed; give --max-tokens";
/// Said of an answer without words.
const EMPTY: &str = "the answer is empty";

/// The model that answers.
trait Speaker {
    /// Answers a message, printing as it comes, until it is done or `stop` is set.
    fn answer(&mut self, message: &str, stop: &Arc<AtomicBool>) -> Result<()>;

    /// What was read and written so far.
    fn tally(&self) -> Tally;
}

/// What a chat came to.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    answers: usize,
    /// Tokens of messages; absent where unknown.
    read: Option<u64>,
    /// Tokens of answers; absent where unknown.
    written: Option<u64>,
    /// From each message to the end of its answer.
    spent: Duration,
}

pub(crate) fn run(arguments: &Chat) -> Result<()> {
    let interrupt = Interrupt::listen()?;
    let mut speaker: Box<dyn Speaker> = match remote::address(arguments)? {
        Some(config) => Box::new(remote::Remote::open(arguments, &config)?),
        None => Box::new(embedded::Embedded::open(arguments)?),
    };
    let talked = talk(speaker.as_mut(), &interrupt);
    if arguments.stats {
        report(&speaker.tally());
    }
    talked
}

fn talk(speaker: &mut dyn Speaker, interrupt: &Interrupt) -> Result<()> {
    let is_terminal = std::io::stdin().is_terminal();
    let mut line = Vec::new();
    loop {
        if is_terminal {
            out::text("> ")?;
        }
        line.clear();
        let length =
            std::io::stdin().lock().read_until(b'\n', &mut line).context("cannot read standard input")?;
        if length == 0 {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&line);
        let message = message.trim();
        if !message.is_empty() {
            interrupt.during(|stop| speaker.answer(message, stop))?;
        }
    }
}

/// Says something about an answer, apart from it.
fn remark(text: &str) {
    out::complain(format_args!("[{}]", merit_core::printable::lines(text)));
}

fn report(tally: &Tally) {
    let seconds = tally.spent.as_secs_f64();
    let count = |tokens: Option<u64>| tokens.map_or("an unknown number of".to_owned(), |n| n.to_string());
    let speed = match tally.written {
        Some(written) if seconds > 0.0 => format!(", {:.1} tokens/s", written as f64 / seconds),
        _ => String::new(),
    };
    out::complain(format_args!(
        "{} answers: {} tokens read, {} tokens written in {seconds:.2} s{speed}",
        tally.answers,
        count(tally.read),
        count(tally.written)
    ));
}

/// Ctrl-C: ends an answer while there is one, and the program while there is none.
struct Interrupt {
    stop: Arc<AtomicBool>,
    idle: Arc<AtomicBool>,
}

impl Interrupt {
    fn listen() -> Result<Self> {
        let interrupt = Self { stop: Arc::default(), idle: Arc::new(AtomicBool::new(true)) };
        let signal = signal_hook::consts::SIGINT;
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupt.idle))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&interrupt.stop)))
            .context("cannot listen for Ctrl-C")?;
        Ok(interrupt)
    }

    fn during<T>(&self, work: impl FnOnce(&Arc<AtomicBool>) -> T) -> T {
        self.stop.store(false, Ordering::SeqCst);
        self.idle.store(false, Ordering::SeqCst);
        let done = work(&self.stop);
        self.idle.store(true, Ordering::SeqCst);
        done
    }
}
