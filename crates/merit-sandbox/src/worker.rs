//! One forked child, from the request to its end: its descriptors on this side, and whether it is ready.

use crate::channel::{self, packet_pair, pipe, stream_pair};
use crate::job::WireLimits;
use crate::server::{ANSWER_PATIENCE, Server};
use crate::together::Together;
use crate::{Cancel, Limits, SandboxError};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

/// A child of a fork server. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Worker {
    /// The call's own socket: jobs go down, reports come up. What comes up was written by the program.
    pub(crate) control: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// From the server about this child: first its handle, then how it ended. Closed without that: the server is gone.
    pub(crate) notice: OwnedFd,
    /// Signals go through this; readable when the child is dead.
    pub(crate) handle: Option<OwnedFd>,
    /// The measure for its processes, known when it stands ready. Absent: it may start none.
    pub(crate) together: Option<Together>,
}

#[derive(Serialize)]
struct ForkRequest {
    id: u64,
    user: u32,
    #[serde(flatten)]
    limits: WireLimits,
}

/// How a child ended, by the server's word.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ending {
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) cpu: f64,
    pub(crate) peak: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Notice {
    Ended(Ending),
    Failed { error: String },
    Started { pid: i64 },
}

impl Worker {
    /// Asks `server` for a child made for `limits`; it will be ready some milliseconds later.
    pub(crate) fn request(
        server: &Server,
        id: u64,
        user: u32,
        limits: &Limits,
    ) -> Result<Self, SandboxError> {
        let (control, their_control) = stream_pair()?;
        let (stdout, their_stdout) = pipe()?;
        let (stderr, their_stderr) = pipe()?;
        let (notice, their_notice) = packet_pair()?;
        // The processor limit depends on the job: the worker sets it when it knows.
        let limits = WireLimits::new(limits, true);
        let message = serde_json::to_vec(&ForkRequest { id, user, limits })
            .map_err(|error| SandboxError::Settings(error.to_string()))?;
        let theirs = [&their_control, &their_stdout, &their_stderr, &their_notice];
        server.request(&message, &theirs.map(|fd| fd.as_fd()))?;
        Ok(Self { control, stdout, stderr, notice, handle: None, together: None })
    }

    /// Whether the ready sign has already come.
    pub(crate) fn seems_ready(&self) -> bool {
        channel::readable(&self.control)
    }

    /// Waits until the child stands inside its fences. Until then no foreign code runs, so every failure is ours.
    pub(crate) fn await_ready(
        &mut self,
        limits: &Limits,
        cancel: Option<&Cancel>,
    ) -> Result<(), SandboxError> {
        let until = Instant::now() + ANSWER_PATIENCE;
        let mut fenced = false;
        while self.handle.is_none() || !fenced {
            if self.handle.is_none() {
                self.take_handle()?;
            }
            if !fenced {
                fenced = self.take_ready_sign()?;
            }
            if self.handle.is_some() && fenced {
                break;
            }
            let mut fds = vec![PollFd::from_borrowed_fd(self.notice.as_fd(), PollFlags::IN)];
            if !fenced {
                fds.push(PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN));
            }
            fds.extend(cancel.map(|c| PollFd::from_borrowed_fd(c.descriptor(), PollFlags::IN)));
            if channel::wait(&mut fds, Some(until))? == 0 {
                return Err(SandboxError::ServerLost("it did not make a worker in time".to_owned()));
            }
            if cancel.is_some_and(Cancel::is_cancelled) {
                return Err(SandboxError::Cancelled);
            }
        }
        if let Some(handle) = &self.handle {
            self.together = Together::of(handle, limits)?;
        }
        Ok(())
    }

    fn take_handle(&mut self) -> Result<(), SandboxError> {
        match self.read_notice()? {
            None => Ok(()),
            Some((Notice::Started { .. }, Some(handle))) => {
                self.handle = Some(handle);
                Ok(())
            }
            Some((Notice::Failed { error }, _)) => Err(unmade(error)),
            Some((Notice::Started { pid }, None)) => Err(unmade(format!("no handle came of worker {pid}"))),
            Some((Notice::Ended(_), _)) => Err(unmade("it ended before it began".to_owned())),
        }
    }

    fn take_ready_sign(&mut self) -> Result<bool, SandboxError> {
        let mut text = [0u8; 1100];
        match channel::receive(&self.control, &mut text) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Ok((1, _)) if text.first() == Some(&b'R') => Ok(true),
            Ok((count, _)) => {
                let why = String::from_utf8_lossy(text.get(1..count).unwrap_or_default()).into_owned();
                Err(unmade(if why.is_empty() { "it ended before it began".to_owned() } else { why }))
            }
            Err(error) => Err(unmade(error.to_string())),
        }
    }

    /// How the child ended, waiting at most until `until` for the server to say so.
    pub(crate) fn ending(&self, until: Instant) -> Result<Ending, SandboxError> {
        while channel::wait_readable(&self.notice, until)? {
            if let Some((Notice::Ended(ending), _)) = self.read_notice()? {
                return Ok(ending);
            }
        }
        Err(SandboxError::ServerLost("it did not say how a program ended".to_owned()))
    }

    fn read_notice(&self) -> Result<Option<(Notice, Option<OwnedFd>)>, SandboxError> {
        let mut bytes = [0u8; 4096];
        match channel::receive(&self.notice, &mut bytes) {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(SandboxError::ServerLost(error.to_string())),
            Ok((0, _)) => Err(SandboxError::ServerLost("it died".to_owned())),
            Ok((count, handle)) => match serde_json::from_slice(bytes.get(..count).unwrap_or_default()) {
                Ok(notice) => Ok(Some((notice, handle))),
                Err(error) => Err(SandboxError::ServerLost(format!("it spoke unclearly: {error}"))),
            },
        }
    }

    /// Sends a signal; a worker without handle or already dead needs none.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(handle) = &self.handle {
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

/// One worker failed; its server may be well.
fn unmade(why: String) -> SandboxError {
    SandboxError::System { doing: "making a worker", why }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // One that has no handle yet reads the end of its socket and leaves.
        self.signal(Signal::KILL);
    }
}
