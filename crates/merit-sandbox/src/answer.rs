//! What a worker says of its program. It was written by a process in which hostile code ran: everything is bounded, and
//! what cannot be read is the program's doing.

use crate::Verdict;
use crate::worker::Ending;
use serde::Deserialize;

/// Longest text in a verdict, whatever the worker sends.
const MAX_TEXT: usize = 4096;

/// A report as it came up the socket.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Answer {
    verdict: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    traceback: String,
    #[serde(default)]
    call: String,
    /// The cell of a session that it speaks of.
    #[serde(default)]
    pub(crate) cell: u64,
    #[serde(default)]
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) cpu: f64,
    #[serde(default)]
    pub(crate) peak: u64,
}

/// The frames of one socket, as far as they have come.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    bytes: Vec<u8>,
    /// Whether more came than one report.
    pub(crate) surplus: bool,
}

/// What a socket holds so far.
#[derive(Debug)]
pub(crate) enum Heard {
    /// Not a whole report yet.
    More,
    /// A whole report.
    Answer(Box<Answer>),
    /// Nothing that a worker of ours would send.
    Nonsense,
}

impl Frame {
    /// Takes in `bytes`; no report is longer than `most`.
    pub(crate) fn hear(&mut self, bytes: &[u8], most: usize) -> Heard {
        self.bytes.extend_from_slice(bytes);
        let Some((length, body)) = self.bytes.split_first_chunk::<4>() else { return Heard::More };
        let length = u32::from_le_bytes(*length) as usize;
        if length > most {
            return Heard::Nonsense;
        }
        let Some(report) = body.get(..length) else { return Heard::More };
        self.surplus = body.len() > length;
        serde_json::from_slice(report).map_or(Heard::Nonsense, |answer| Heard::Answer(Box::new(answer)))
    }
}

impl Answer {
    pub(crate) fn verdict(&self) -> Verdict {
        let text = |text: &str| cut(text, MAX_TEXT);
        match self.verdict.as_str() {
            "ok" => Verdict::Ok,
            "time" => Verdict::Time,
            "memory" => Verdict::Memory,
            "output" => Verdict::Output,
            "processes" => Verdict::Processes,
            "refused" => Verdict::Refused { call: text(&self.call) },
            "exception" => Verdict::Exception {
                kind: text(&self.kind),
                message: text(&self.message),
                traceback: text(&self.traceback),
            },
            _ => nonsense(),
        }
    }
}

/// The verdict on a program that sent something else than a report.
pub(crate) fn nonsense() -> Verdict {
    Verdict::Killed { how: "it wrote nonsense to its channel".to_owned() }
}

/// The verdict on a program that died without a report and not by our hand.
pub(crate) fn verdict_of(ending: &Ending, memory_kb: u64) -> Verdict {
    match (ending.signal, ending.exit) {
        (Some(libc::SIGSYS), _) => Verdict::Refused { call: "a forbidden system call".to_owned() },
        (Some(libc::SIGXCPU), _) => Verdict::Time,
        // Only the kernel's memory guard kills a program that holds this much.
        (Some(libc::SIGKILL), _) if ending.peak > memory_kb / 2 => Verdict::Memory,
        (Some(signal), _) => Verdict::Killed { how: signal_name(signal) },
        (None, Some(code)) => {
            Verdict::Killed { how: format!("it left with exit code {code} before its end") }
        }
        (None, None) => Verdict::Killed { how: "it ended without a verdict".to_owned() },
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGABRT => "SIGABRT",
        libc::SIGKILL => "SIGKILL",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

/// At most `most` bytes of `text`, whole characters.
fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}
