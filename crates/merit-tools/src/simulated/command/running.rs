//! One process: questions go in, and each line that comes out answers the oldest. Dropping it kills it and what it started.

use merit_command::{end_group, start_group};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Longest line of an answer, in bytes.
const LINE_BYTES: usize = 4 << 20;
/// Bytes of standard error that are kept, the last ones.
const KEPT_STDERR: usize = 2_048;
/// Variables of the environment that it is given.
const ENVIRONMENT: [&str; 3] = ["PATH", "HOME", "LANG"];

/// What became of a question.
pub(super) enum Said {
    Line(String),
    /// The process ended, or was ended.
    Gone(String),
}

pub(super) struct Running {
    questions: Sender<String>,
    queue: Arc<Mutex<Queue>>,
    /// Absent once it was ended and waited for; only before that is its number surely its own.
    child: Mutex<Option<Child>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<oneshot::Sender<Said>>,
    /// Why no more answers come.
    gone: Option<String>,
}

impl Queue {
    fn close(&mut self, why: &str) {
        let why = self.gone.get_or_insert_with(|| why.to_owned()).clone();
        for waiting in self.waiting.drain(..) {
            // A caller that stopped waiting gets no answer.
            let _ = waiting.send(Said::Gone(why.clone()));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Starts the program in a process group of its own, so that all it starts can be ended with it.
    pub(super) fn start(command: &[String]) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("there is no program")?;
        let kept = ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut child = start_group(Command::new(program).args(arguments).env_clear().envs(kept))
            .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let (questions, asked) = channel();
        let queue = Arc::new(Mutex::new(Queue::default()));
        if let Some(stdin) = child.stdin.take() {
            // A program that does not read blocks this thread, and no caller.
            std::thread::spawn(move || write_lines(stdin, &asked));
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let listener = child.stderr.take().map(|pipe| {
            let kept = Arc::clone(&stderr);
            std::thread::spawn(move || keep_end(pipe, &kept))
        });
        if let Some(stdout) = child.stdout.take() {
            let (queue, pid) = (Arc::clone(&queue), pid(&child));
            std::thread::spawn(move || {
                let why = read_lines(stdout, &queue);
                let why = why.unwrap_or_else(|| last_words(pid, listener.as_ref(), &stderr));
                lock(&queue).close(&why);
            });
        }
        Ok(Self { questions, queue, child: Mutex::new(Some(child)) })
    }

    /// Whether no more answers come.
    pub(super) fn is_gone(&self) -> bool {
        lock(&self.queue).gone.is_some()
    }

    /// Asks; the answer comes through the channel.
    pub(super) fn send(&self, question: String) -> oneshot::Receiver<Said> {
        let (answer, heard) = oneshot::channel();
        let mut queue = lock(&self.queue);
        // In the queue and on the way in the same order.
        queue.waiting.push_back(answer);
        let gone = queue.gone.clone();
        match gone {
            Some(why) => queue.close(&why),
            // If the program no longer reads, its answer is missing, which the reader reports.
            None => drop(self.questions.send(format!("{question}\n"))),
        }
        heard
    }

    /// Ends it and all that it started.
    pub(super) fn end(&self, why: &str) {
        lock(&self.queue).close(why);
        if let Some(mut child) = lock(&self.child).take() {
            let _ = end_group(&mut child);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end("it is not needed any more");
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn write_lines(mut stdin: ChildStdin, asked: &Receiver<String>) {
    while let Ok(question) = asked.recv() {
        if stdin.write_all(question.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Hands out lines until there are no more; why it stopped before that, if it did.
fn read_lines(stdout: ChildStdout, queue: &Mutex<Queue>) -> Option<String> {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(LINE_BYTES as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) if line.last() != Some(&b'\n') && line.len() >= LINE_BYTES => {
                return Some(format!("it wrote a line of more than {LINE_BYTES} bytes"));
            }
            Ok(_) => {}
        }
        let Ok(line) = String::from_utf8(line) else {
            return Some("it wrote a line that is not UTF-8".to_owned());
        };
        match lock(queue).waiting.pop_front() {
            // A caller that stopped waiting gets no answer.
            Some(waiting) => drop(waiting.send(Said::Line(line))),
            None => return Some("it wrote a line that answers no question".to_owned()),
        }
    }
}

fn keep_end(mut pipe: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        let mut kept = lock(kept);
        kept.extend(chunk.iter().take(count));
        let beyond = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..beyond);
    }
}

/// How it ended, and the end of its standard error. Its output is closed, so both come soon, if they come.
fn last_words(pid: Option<Pid>, listener: Option<&JoinHandle<()>>, stderr: &Mutex<Vec<u8>>) -> String {
    let mut how = None;
    for _ in 0..50 {
        // It is not waited for, so that its number stays its own until its group is ended.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        how = pid.and_then(|pid| waitid(WaitId::Pid(pid), options).ok().flatten());
        if how.is_some() && listener.is_none_or(JoinHandle::is_finished) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let how = how.map(|how| match (how.exit_status(), how.terminating_signal()) {
        (Some(code), _) => format!("it ended with exit status {code}"),
        (_, Some(signal)) => format!("it was ended by signal {signal}"),
        _ => "it ended".to_owned(),
    });
    let how = how.unwrap_or_else(|| "it closed its output".to_owned());
    let stderr = lock(stderr);
    let said = String::from_utf8_lossy(&stderr);
    let said = said.trim();
    if said.is_empty() { how } else { format!("{how}; it said: {said}") }
}
