//! A training process that is watched line by line and can be ended at a chosen moment.

use crate::tiny;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// No moment of a tiny run is this far away, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A `merit train --json` under way.
pub(crate) struct Training {
    child: Child,
    lines: Receiver<Value>,
    /// What it has said so far.
    pub(crate) events: Vec<Value>,
}

/// Why waiting came to its end.
#[derive(Debug, PartialEq)]
pub(crate) enum Waited {
    /// What was waited for is there.
    Came,
    /// The process has closed its output: it ended by itself.
    Ended,
}

impl Training {
    /// Begins the run in `path`, or goes on with it when it has begun before.
    pub(crate) fn start(path: &Path) -> Self {
        let mut command = tiny::merit(path.parent().unwrap());
        match path.join("merit.db").exists() {
            true => command.args(["train", "--json", "--resume"]).arg(path),
            false => command.args(["train", tiny::RECIPE, "--json", "--run"]).arg(path),
        };
        Self::spawn(command)
    }

    /// Starts any command that says a JSON object per line.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // A kill may cut the last line short.
            let whole = out.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
            whole.for_each(|event| drop(sender.send(event)));
        });
        Self { child, lines, events: Vec::new() }
    }

    /// Waits until `what` has been said.
    pub(crate) fn wait_for(&mut self, what: impl Fn(&Value) -> bool) -> Waited {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.next(until) {
                Ok(true) if what(self.events.last().unwrap()) => return Waited::Came,
                Ok(true) => {}
                Ok(false) => panic!("nothing came within {PATIENCE:?}: {:?}", self.events.last()),
                Err(()) => return Waited::Ended,
            }
        }
    }

    /// Listens for `span`.
    pub(crate) fn listen(&mut self, span: Duration) -> Waited {
        let until = Instant::now() + span;
        loop {
            match self.next(until) {
                Ok(true) => {}
                Ok(false) => return Waited::Came,
                Err(()) => return Waited::Ended,
            }
        }
    }

    /// Takes the next event: true when there was one, false when it is too late, an error when there will be none.
    fn next(&mut self, until: Instant) -> Result<bool, ()> {
        match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(event) => {
                self.events.push(event);
                Ok(true)
            }
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    /// Kills it (SIGKILL) and takes what it had still said.
    pub(crate) fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.events.extend(self.lines.iter());
        self.events
    }

    /// Asks it to stop, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; what it said on standard error, and its exit code.
    pub(crate) fn end(mut self) -> tiny::Said {
        self.events.extend(self.lines.iter());
        let Output { status, stderr, .. } = self.child.wait_with_output().unwrap();
        tiny::Said::of(&Output { status, stdout: Vec::new(), stderr })
    }
}

/// The share of the whole run that is done by the last event that says so.
pub(crate) fn done(events: &[Value]) -> Option<f64> {
    events.iter().rev().find_map(|event| event["done"].as_f64())
}
