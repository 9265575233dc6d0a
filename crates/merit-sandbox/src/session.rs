//! An interpreter that keeps its variables from cell to cell. Between cells its process is stopped, so that threads it
//! left running do nothing.

use crate::call::{Bounds, Call, Part};
use crate::job::{Job, encode, encode_cell};
use crate::limits::check_seconds;
use crate::sandbox::Inner;
use crate::server::Server;
use crate::worker::Worker;
use crate::{Cancel, Limits, Report, SandboxError, channel};
use rustix::process::Signal;
use std::sync::Arc;

/// A Python session. Dropping it ends its process.
#[derive(Debug)]
pub struct Session {
    inner: Arc<Inner>,
    worker: Option<Worker>,
    server: Arc<Server>,
    seed: u64,
    limits: Limits,
    cells: u64,
    ended: String,
}

impl Session {
    pub(crate) fn new(
        inner: Arc<Inner>,
        worker: Worker,
        server: Arc<Server>,
        seed: u64,
        limits: Limits,
    ) -> Self {
        Self { inner, worker: Some(worker), server, seed, limits, cells: 0, ended: String::new() }
    }

    /// Runs one cell; the report's `value` is that of its last expression. A cell that ignores its deadline, floods its
    /// output or dies ends the session: its report says so, and the next call is [`SandboxError::SessionEnded`].
    pub fn run(&mut self, cell: &str, seconds: f64, cancel: Option<&Cancel>) -> Result<Report, SandboxError> {
        let parts = self.parts(cell, seconds)?;
        let Some(worker) = self.worker.take() else {
            return Err(SandboxError::SessionEnded(self.ended.clone()));
        };
        let inner = Arc::clone(&self.inner);
        let permit = inner.permits.take(cancel);
        if let Err(cancelled) = permit {
            // Nothing was begun: the session stays as it was.
            self.worker = Some(worker);
            return Err(cancelled);
        }
        if channel::readable(&worker.control) {
            // Between cells there is nothing to say, and the program that could say it is stopped.
            self.ended = format!("cell {}: it wrote to its channel or died after its report", self.cells);
            return Err(match self.server.is_well() {
                true => SandboxError::SessionEnded(self.ended.clone()),
                false => self.server.declare_lost("it died between cells"),
            });
        }
        self.cells += 1;
        worker.signal(Signal::CONT);
        let bounds = Bounds { cell: Some(self.cells), ..Bounds::new(&self.limits, seconds) };
        let done = Call::begin(&worker, parts, bounds).finish(cancel);
        let done = done.map_err(|error| self.server.blame(error));
        match done {
            Ok(done) if done.alive => {
                worker.signal(Signal::STOP);
                self.worker = Some(worker);
                Ok(done.report)
            }
            Ok(done) => {
                self.ended = format!("cell {}: {}", self.cells, done.report.verdict);
                Ok(done.report)
            }
            Err(error) => {
                self.ended = format!("cell {}: {error}", self.cells);
                Err(error)
            }
        }
    }

    /// Whether another cell can be run.
    pub fn alive(&self) -> bool {
        self.worker.is_some()
    }

    fn parts(&self, cell: &str, seconds: f64) -> Result<Vec<Part>, SandboxError> {
        check_seconds(seconds)?;
        let name = format!("<cell {}>", self.cells + 1);
        if self.cells > 0 {
            return Ok(vec![Part::Bytes(encode_cell(
                cell,
                self.cells + 1,
                &name,
                seconds,
                self.limits.output_bytes,
            )?)]);
        }
        let limits = Limits { seconds, ..self.limits };
        let job = Job { name, seed: self.seed, ..Job::new(cell, limits) };
        job.validate()?;
        Ok(vec![Part::Bytes(encode(&job, true)?.0)])
    }
}
