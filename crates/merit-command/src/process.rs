//! A child process: lines in, lines out, with deadlines and bounds. Dropping it kills it and what it started.

use merit_core::PerProcess;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes of standard error that are kept, the last ones.
const KEPT_STDERR: usize = 4096;

/// Why a line did not come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The program did not answer in time.
    Deadline,
    /// The program is gone, or its output cannot be used any more.
    Gone(String),
}

/// All programs of this process that run now. Those of a process that it was forked from are not its own to end.
static RUNNING: PerProcess<Mutex<Running>> = PerProcess::new();

#[derive(Default)]
struct Running {
    groups: Vec<Pid>,
    /// Nothing is started any more.
    is_over: bool,
}

fn running() -> MutexGuard<'static, Running> {
    RUNNING.get(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends every program that was started here and still runs, with all that it started, and lets none start any more: for a shell
/// that is about to leave without dropping anything, as on Ctrl-C.
pub fn end_all() {
    let mut running = running();
    running.is_over = true;
    for group in running.groups.drain(..) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Starts a program in a process group of its own with its streams as pipes; [`end_all`] ends it too.
pub fn start_group(command: &mut Command) -> std::io::Result<Child> {
    // Held until it is among those that run, so that `end_all` misses none.
    let mut running = running();
    if running.is_over {
        return Err(std::io::Error::other("nothing is started any more: merit ends"));
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = piped.process_group(0).spawn()?;
    running.groups.extend(group_of(&child));
    Ok(child)
}

/// Ends a program that [`start_group`] has started, and all that it started. How it ended. To be called once: afterwards its number
/// may be another's.
pub fn end_group(child: &mut Child) -> Option<ExitStatus> {
    if let Some(group) = group_of(child) {
        running().groups.retain(|other| *other != group);
        // It may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait().ok()
}

/// The process group of a child, which has its number.
fn group_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// A program that runs, with its three streams. Dropping it kills it and every process of its group.
pub struct Process {
    child: Child,
    questions: Sender<String>,
    lines: Receiver<Result<String, String>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Reads the standard error until its last writer is gone.
    listener: Option<JoinHandle<()>>,
    /// Whether it was waited for. Only before that is its number surely its own.
    waited_for: bool,
}

impl Process {
    /// Starts the program in a process group of its own, so that all it starts can be ended with it. A line of its output of
    /// more than `line_bytes` bytes is a failure.
    pub fn start(command: &[String], line_bytes: usize) -> Result<Self, String> {
        let Some((program, arguments)) = command.split_first() else {
            return Err("there is no program".to_owned());
        };
        let mut process = start_group(Command::new(program).args(arguments))
            .map_err(|error| format!("it cannot be started: {error}"))?;
        let (questions, asked) = channel::<String>();
        let (heard, lines) = channel();
        if let Some(mut stdin) = process.stdin.take() {
            // A program that does not read would otherwise block the caller past every deadline.
            std::thread::spawn(move || {
                while let Ok(question) = asked.recv() {
                    if stdin.write_all(question.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = process.stdout.take() {
            std::thread::spawn(move || read_lines(stdout, line_bytes, &heard));
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let listener = process.stderr.take().map(|pipe| {
            let kept = Arc::clone(&stderr);
            std::thread::spawn(move || keep_end(pipe, &kept))
        });
        Ok(Self { child: process, questions, lines, stderr, listener, waited_for: false })
    }

    /// The next line, within `deadline`.
    pub fn hear(&mut self, deadline: Duration) -> Result<String, Failure> {
        match self.lines.recv_timeout(deadline) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(why)) => Err(Failure::Gone(why)),
            Err(RecvTimeoutError::Timeout) => Err(Failure::Deadline),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::Gone(self.last_words())),
        }
    }

    /// Writes `question`, which ends with a line break, and waits for one line.
    pub fn ask(&mut self, question: String, deadline: Duration) -> Result<String, Failure> {
        // If the program no longer reads, its answer is missing, which `hear` reports.
        let _ = self.questions.send(question);
        self.hear(deadline)
    }

    /// How it ended, and the end of its standard error.
    fn last_words(&mut self) -> String {
        // Its output is closed, so it is ending; how, and what it said last, may still be on the way.
        let mut had_ended = self.has_ended();
        for _ in 0..500 {
            if had_ended {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
            had_ended = self.has_ended();
        }
        // What ends only now is killed by us, which says nothing of it.
        let status = match self.end().filter(|_| had_ended) {
            Some(status) if status.signal() == Some(Signal::KILL.as_raw()) => {
                "it was killed (signal 9; out of memory?)".to_owned()
            }
            Some(status) => format!("it ended with {status}"),
            None => "it closed its output".to_owned(),
        };
        // All that could write to it has ended; somebody who left the group may still hold it, so this has an end too.
        for _ in 0..500 {
            if self.listener.as_ref().is_none_or(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&stderr);
        let said = said.trim();
        if said.is_empty() { status } else { format!("{status}; it said: {said}") }
    }

    /// Whether it has ended by itself. It is not waited for, so that its number stays its own.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match group_of(&self.child) {
            Some(own) if !self.waited_for => {
                matches!(waitid(WaitId::Pid(own), options), Ok(Some(_)) | Err(_))
            }
            _ => true,
        }
    }

    /// Ends it and all that it started, once. How it ended, if this is the first time.
    fn end(&mut self) -> Option<ExitStatus> {
        if std::mem::replace(&mut self.waited_for, true) {
            return None;
        }
        end_group(&mut self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn read_lines(stdout: impl Read, line_bytes: usize, heard: &Sender<Result<String, String>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let most = line_bytes as u64;
        match reader.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.last() != Some(&b'\n') && line.len() >= line_bytes => {
                let _ = heard.send(Err(format!("it wrote a line of more than {line_bytes} bytes")));
                return;
            }
            Ok(_) => {
                let line =
                    String::from_utf8(line).map_err(|_| "it wrote a line that is not UTF-8".to_owned());
                if heard.send(line).is_err() {
                    return;
                }
            }
        }
    }
}

fn keep_end(mut pipe: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..count]);
        let beyond = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..beyond);
    }
}
