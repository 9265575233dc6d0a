//! One fork server: started, asked for workers, ended. Its process tree ends with it, and it ends when its channel closes.

use crate::channel::{self, packet_pair, wait_readable};
use crate::source::PROGRAM;
use crate::worker::Worker;
use crate::{Layer, SandboxError};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Signal, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take to start, modules included.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// How long a server may take to end by itself before it is killed.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// How long a server may leave a request lying.
pub(crate) const ANSWER_PATIENCE: Duration = Duration::from_secs(10);

/// What a server is told at its start.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StartMessage {
    pub(crate) mode: &'static str,
    pub(crate) layers: Vec<Layer>,
    /// Kernel programs in hexadecimal: the server's, for programs without and with processes.
    pub(crate) filters: [String; 3],
    pub(crate) modules: Vec<String>,
    pub(crate) packages: Vec<PathBuf>,
    /// Whether each worker has a user id of its own.
    pub(crate) own_ids: bool,
    /// Workers that share one task count where ids are shared.
    pub(crate) crowd: usize,
    pub(crate) group_limits: GroupLimits,
}

/// Limits over a whole server.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct GroupLimits {
    pub(crate) memory: u64,
    pub(crate) pids: u64,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    trace: Option<String>,
    #[serde(default)]
    layers: Option<serde_json::Value>,
}

/// A running fork server.
#[derive(Debug)]
pub(crate) struct Server {
    control: OwnedFd,
    /// Of the server itself, process 1 of its namespace.
    handle: OwnedFd,
    outer: Mutex<Child>,
    lost: AtomicBool,
    /// Workers asked for ahead of time, oldest first.
    pub(crate) spares: Mutex<VecDeque<Worker>>,
}

impl Server {
    pub(crate) fn start(python: &Path, message: &StartMessage) -> Result<Self, SandboxError> {
        let (mut outer, control) = spawn(python)?;
        let begun = begin(&mut outer, &control, message).and_then(|(_, handle)| {
            handle.ok_or_else(|| SandboxError::Start("it gave no handle of itself".to_owned()))
        });
        match begun {
            Ok(handle) => Ok(Self {
                control,
                handle,
                outer: Mutex::new(outer),
                lost: AtomicBool::new(false),
                spares: Mutex::new(VecDeque::new()),
            }),
            Err(error) => {
                drop(control);
                end(&mut outer);
                Err(error)
            }
        }
    }

    /// Sends a request with its descriptors, waiting a while for room in the queue.
    pub(crate) fn request(&self, message: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), SandboxError> {
        let until = Instant::now() + ANSWER_PATIENCE;
        loop {
            match channel::send(&self.control, message, fds) {
                Ok(_) => return Ok(()),
                Err(Errno::AGAIN) => {
                    let mut room = [PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::OUT)];
                    if channel::wait(&mut room, Some(until))? == 0 {
                        return Err(self.declare_lost("it does not read its requests"));
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(self.declare_lost("it is gone")),
                Err(error) => return Err(SandboxError::system("asking a server for a worker")(error)),
            }
        }
    }

    /// Whether requests still make sense: nothing is ever sent back on this channel, so news are bad news.
    pub(crate) fn is_well(&self) -> bool {
        !self.lost.load(Ordering::Acquire) && !channel::readable(&self.control)
    }

    /// Makes sure that a server which gave reason to is replaced. Returns the error as it is.
    pub(crate) fn blame(&self, error: SandboxError) -> SandboxError {
        match error {
            SandboxError::ServerLost(why) => self.declare_lost(&why),
            other => other,
        }
    }

    /// Marks the server as lost and ends it with everything below.
    pub(crate) fn declare_lost(&self, why: &str) -> SandboxError {
        self.lost.store(true, Ordering::Release);
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        SandboxError::ServerLost(why.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Waiting workers read the end of their sockets; running ones die with process 1 of their namespace.
        let _ = rustix::net::shutdown(&self.control, rustix::net::Shutdown::Both);
        if let Ok(outer) = self.outer.get_mut() {
            let until = Instant::now() + END_PATIENCE;
            if !matches!(wait_readable(&self.handle, until), Ok(true)) {
                let _ = pidfd_send_signal(&self.handle, Signal::KILL);
            }
            end(outer);
        }
    }
}

/// Asks for the layers this kernel gives; the process that tried them is gone afterwards.
pub(crate) fn probe(python: &Path, message: &StartMessage) -> Result<serde_json::Value, SandboxError> {
    let (mut outer, control) = spawn(python)?;
    let answer = begin(&mut outer, &control, message);
    drop(control);
    end(&mut outer);
    answer?.0.ok_or_else(|| SandboxError::Start("its probe gave no layers".to_owned()))
}

/// Not `-I`, which would also ignore the fixed hash seed: the environment is cleared here and the path in the program.
fn spawn(python: &Path) -> Result<(Child, OwnedFd), SandboxError> {
    let (ours, theirs) = packet_pair()?;
    let child = Command::new(python)
        .args(["-s", "-S", "-B", "-c", PROGRAM])
        .env_clear()
        .env("PYTHONHASHSEED", "0")
        .env("LC_ALL", "C.UTF-8")
        .current_dir("/")
        .process_group(0)
        .stdin(theirs)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| SandboxError::Start(format!("{}: {error}", python.display())))?;
    Ok((child, ours))
}

type Begun = (Option<serde_json::Value>, Option<OwnedFd>);

/// Hands over the start message and waits for the answer.
fn begin(outer: &mut Child, control: &OwnedFd, message: &StartMessage) -> Result<Begun, SandboxError> {
    let failed = |why: String| SandboxError::Start(why);
    let text = serde_json::to_vec(message).map_err(|error| failed(error.to_string()))?;
    channel::send(control, &text, &[]).map_err(|error| failed(format!("sending its settings: {error}")))?;
    if !wait_readable(control, Instant::now() + START_PATIENCE)? {
        return Err(failed(format!("no answer within {} s", START_PATIENCE.as_secs())));
    }
    let mut bytes = vec![0; 128 * 1024];
    let (count, handle) = channel::receive(control, &mut bytes).unwrap_or((0, None));
    let answer: Answer = match bytes.get(..count) {
        Some(bytes) if count > 0 => {
            serde_json::from_slice(bytes).map_err(|error| failed(error.to_string()))?
        }
        _ => return Err(failed(format!("it ended at once: {}", last_words(outer)))),
    };
    match answer.error {
        Some(error) => Err(failed(format!("{error}\n{}", answer.trace.unwrap_or_default()))),
        None => Ok((answer.layers, handle)),
    }
}

fn last_words(outer: &mut Child) -> String {
    let _ = outer.kill();
    let mut text = Vec::new();
    if let Some(errors) = outer.stderr.take() {
        // Its process is dead: what it wrote is there and then the pipe ends.
        let _ = errors.take(16 * 1024).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    text.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
}

/// Waits for the outer process, which ends after everything below it and clears up; kills it when it does not.
fn end(outer: &mut Child) {
    let until = Instant::now() + END_PATIENCE;
    while Instant::now() < until {
        match outer.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            _ => return,
        }
    }
    let _ = outer.kill();
    let _ = outer.wait();
}
