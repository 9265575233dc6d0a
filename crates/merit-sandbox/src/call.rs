//! One program or cell from the first byte sent to its verdict: a loop over everything that can happen meanwhile.
//!
//! In: a worker that stands ready, what to send, and the limits. Out: a report, or what broke on our side. The worker is
//! told its deadline and stops an honest program itself; [`GRACE`] later it is killed, whatever it does.

use crate::answer::{Answer, Frame, Heard, nonsense, verdict_of};
use crate::channel::{self, wait_readable};
use crate::output::Output;
use crate::server::ANSWER_PATIENCE;
use crate::together::Watch;
use crate::worker::{Ending, Worker};
use crate::{Cancel, Limits, Report, SandboxError, Verdict, usage};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::Signal;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// What an honest program needs at most to say where it stood at the deadline.
const GRACE: Duration = Duration::from_millis(20);
/// How long a program is waited for before another is started; most take less.
const SHORT: Duration = Duration::from_millis(3);
/// How long the death of a killed program is waited for, so that its report is exact.
const DEATH: Duration = Duration::from_millis(10);
/// Room in a report besides the program's result.
const REPORT_ROOM: usize = 64 * 1024;

/// What goes down a worker's socket, in order.
pub(crate) enum Part {
    Bytes(Vec<u8>),
    Descriptor(OwnedFd),
}

/// What the call may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) seconds: f64,
    pub(crate) output_bytes: usize,
    pub(crate) memory_mb: u64,
    /// The cell to be answered, in a session.
    pub(crate) cell: Option<u64>,
}

impl Bounds {
    pub(crate) fn new(limits: &Limits, seconds: f64) -> Self {
        Self { seconds, output_bytes: limits.output_bytes, memory_mb: limits.memory_mb, cell: None }
    }
}

/// A report, and whether the worker lives on.
pub(crate) struct Done {
    pub(crate) report: Report,
    pub(crate) alive: bool,
}

/// Why a call is over.
enum End {
    Answered(Box<Answer>),
    Dead,
    /// We end it, for this reason.
    Stopped(Verdict),
}

/// A call under way.
pub(crate) struct Call<'a> {
    worker: &'a Worker,
    bounds: Bounds,
    started: Instant,
    parts: std::vec::IntoIter<Part>,
    sending: Option<(Part, usize)>,
    frame: Frame,
    output: Output,
    control_open: bool,
    /// Absent where the program is one process, which the kernel holds to its limit.
    watch: Option<Watch>,
    end: Option<End>,
}

impl<'a> Call<'a> {
    /// Sends as much as goes at once.
    pub(crate) fn begin(worker: &'a Worker, parts: Vec<Part>, bounds: Bounds) -> Self {
        let mut parts = parts.into_iter();
        let sending = parts.next().map(|part| (part, 0));
        let mut call = Self {
            worker,
            bounds,
            started: Instant::now(),
            parts,
            sending,
            frame: Frame::default(),
            output: Output::new(bounds.output_bytes),
            control_open: true,
            watch: worker.together.map(|of| Watch::new(of, bounds.memory_mb << 10)),
            end: None,
        };
        call.send();
        call
    }

    /// Waits a short while for the verdict and keeps it for `finish`. Meanwhile nothing else should be started: a fork
    /// beside a short program costs it more than it takes.
    pub(crate) fn watch_shortly(&mut self, cancel: Option<&Cancel>) -> Result<(), SandboxError> {
        let until = self.started + SHORT;
        while self.end.is_none() && Instant::now() < until {
            self.end = self.turn(until, cancel)?;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self, cancel: Option<&Cancel>) -> Result<Done, SandboxError> {
        let kill_at = self.started + Duration::from_secs_f64(self.bounds.seconds) + GRACE;
        let end = loop {
            match self.end.take() {
                Some(end) => break end,
                None if Instant::now() >= kill_at => break End::Stopped(Verdict::Time),
                None => self.end = self.turn(kill_at, cancel)?,
            }
        };
        match end {
            End::Answered(answer) => Ok(self.answered(&answer)),
            End::Stopped(verdict) => self.stopped(verdict),
            End::Dead => self.dead(),
        }
    }

    /// Waits for one thing to happen and deals with it.
    fn turn(&mut self, until: Instant, cancel: Option<&Cancel>) -> Result<Option<End>, SandboxError> {
        let look = self.watch.as_ref().map_or(until, |watch| watch.next().min(until));
        let ready = self.wait(look, cancel)?;
        if cancel.is_some_and(Cancel::is_cancelled) {
            self.worker.signal(Signal::KILL);
            return Err(SandboxError::Cancelled);
        }
        for (number, ready) in ready.streams.into_iter().enumerate() {
            if ready && self.output.drain(self.worker, number) {
                return Ok(Some(End::Stopped(Verdict::Output)));
            }
        }
        if ready.control_write {
            self.send();
        }
        if ready.control_read
            && let Some(end) = self.hear()
        {
            return Ok(Some(end));
        }
        if ready.dead {
            // Its last words may still lie in the socket.
            return Ok(Some(self.hear().unwrap_or(End::Dead)));
        }
        if self.watch.as_mut().is_some_and(Watch::is_over) {
            return Ok(Some(End::Stopped(Verdict::Memory)));
        }
        Ok(None)
    }

    fn wait(&self, until: Instant, cancel: Option<&Cancel>) -> Result<Ready, SandboxError> {
        // A descriptor not to be watched is watched for nothing on the notice, which never hangs up before the child is dead.
        let watch = |fd: &'a OwnedFd, flags| PollFd::from_borrowed_fd(fd.as_fd(), flags);
        let worker = self.worker;
        let handle = worker.handle.as_ref().unwrap_or(&worker.notice);
        let [out_open, err_open] = self.output.open();
        let idle = PollFlags::empty();
        let input = PollFlags::IN;
        let control = match (self.control_open, self.sending.is_some()) {
            (false, _) => watch(handle, idle),
            (true, false) => watch(&worker.control, input),
            (true, true) => watch(&worker.control, input | PollFlags::OUT),
        };
        let mut fds = vec![
            watch(handle, input),
            control,
            if out_open { watch(&worker.stdout, input) } else { watch(handle, idle) },
            if err_open { watch(&worker.stderr, input) } else { watch(handle, idle) },
        ];
        fds.extend(cancel.map(|c| PollFd::from_borrowed_fd(c.descriptor(), input)));
        channel::wait(&mut fds, Some(until))?;
        let happened = |at: usize| fds.get(at).map_or(idle, |fd| fd.revents());
        let read = |at: usize| happened(at).intersects(input | PollFlags::HUP | PollFlags::ERR);
        Ok(Ready {
            dead: read(0),
            control_read: self.control_open && read(1),
            control_write: self.control_open && happened(1).contains(PollFlags::OUT),
            streams: [out_open && read(2), err_open && read(3)],
        })
    }

    /// Sends until the socket is full. A program that closed its end gets nothing more; its death will tell.
    fn send(&mut self) {
        while let Some((part, at)) = self.sending.as_mut() {
            let sent = match part {
                Part::Bytes(bytes) if *at >= bytes.len() => Ok(None),
                Part::Bytes(bytes) => {
                    channel::send(&self.worker.control, bytes.get(*at..).unwrap_or_default(), &[]).map(Some)
                }
                Part::Descriptor(fd) => {
                    channel::send(&self.worker.control, b"P", &[fd.as_fd()]).map(|_| None)
                }
            };
            match sent {
                Ok(None) => self.sending = self.parts.next().map(|part| (part, 0)),
                Ok(Some(count)) => *at += count,
                Err(Errno::AGAIN | Errno::INTR) => return,
                Err(_) => self.sending = None,
            }
        }
    }

    /// Reads what the worker says until it is whole or nothing more is there.
    fn hear(&mut self) -> Option<End> {
        let most = self.bounds.output_bytes.saturating_mul(6).saturating_add(REPORT_ROOM);
        let mut bytes = vec![0; 64 * 1024];
        loop {
            match channel::receive(&self.worker.control, &mut bytes) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                Ok((0, _)) | Err(_) => {
                    self.control_open = false;
                    return None;
                }
                Ok((count, _)) => match self.frame.hear(bytes.get(..count).unwrap_or_default(), most) {
                    Heard::More => {}
                    Heard::Answer(answer) if self.is_astray(&answer) => {
                        return Some(End::Stopped(nonsense()));
                    }
                    Heard::Answer(answer) => return Some(End::Answered(answer)),
                    Heard::Nonsense => return Some(End::Stopped(nonsense())),
                },
            }
        }
    }

    /// Whether a session's answer speaks of another cell, or is one of several: a program of its own wrote it.
    fn is_astray(&self, answer: &Answer) -> bool {
        self.bounds.cell.is_some_and(|cell| cell != answer.cell || self.frame.surplus)
    }

    fn answered(mut self, answer: &Answer) -> Done {
        let late = self.started.elapsed().as_secs_f64() > self.bounds.seconds;
        // What it wrote before its report lies in the pipes.
        let flood = self.output.drain_all(self.worker);
        let said = answer.verdict();
        // An answer after the deadline means that the code did not stop in time, unless it reports the timeout itself.
        let overdue = late && said != Verdict::Time;
        let verdict = match said {
            _ if flood => Verdict::Output,
            _ if overdue => Verdict::Time,
            said => said,
        };
        let value = matches!(verdict, Verdict::Ok).then(|| answer.value.clone()).flatten();
        let cpu = if answer.cpu.is_finite() { answer.cpu.max(0.0) } else { 0.0 };
        let alive = !flood && !overdue && !matches!(verdict, Verdict::Killed { .. });
        if !alive {
            self.worker.signal(Signal::KILL);
        }
        Done { report: self.report(verdict, value, cpu, answer.peak), alive }
    }

    fn stopped(mut self, verdict: Verdict) -> Result<Done, SandboxError> {
        self.worker.signal(Signal::KILL);
        // It runs no more, but on a crowded machine its turn to die may be far off: the call does not wait for that.
        let ending = match &self.worker.handle {
            Some(handle) if !wait_readable(handle, Instant::now() + DEATH)? => usage::so_far(handle),
            _ => self.await_death()?,
        };
        if verdict == Verdict::Time {
            self.output.drain_all(self.worker);
        }
        Ok(Done { report: self.report(verdict, None, ending.cpu, ending.peak), alive: false })
    }

    fn dead(mut self) -> Result<Done, SandboxError> {
        let ending = self.await_death()?;
        let flood = self.output.drain_all(self.worker);
        let verdict = if flood { Verdict::Output } else { verdict_of(&ending, self.bounds.memory_mb << 10) };
        let exit_code = ending.exit.filter(|_| !flood);
        let report = self.report(verdict, None, ending.cpu, ending.peak);
        Ok(Done { report: Report { exit_code, ..report }, alive: false })
    }

    fn await_death(&self) -> Result<Ending, SandboxError> {
        let until = Instant::now() + ANSWER_PATIENCE;
        if let Some(handle) = &self.worker.handle
            && !wait_readable(handle, until)?
        {
            return Err(SandboxError::ServerLost("a worker does not die".to_owned()));
        }
        self.worker.ending(until)
    }

    fn report(
        self,
        verdict: Verdict,
        value: Option<String>,
        cpu_seconds: f64,
        peak_memory_kb: u64,
    ) -> Report {
        let peak_memory_kb = self.watch.map_or(peak_memory_kb, |watch| watch.most_kb().max(peak_memory_kb));
        let [stdout, stderr] = self.output.into_texts();
        let seconds = self.started.elapsed().as_secs_f64();
        Report { verdict, stdout, stderr, value, exit_code: None, seconds, cpu_seconds, peak_memory_kb }
    }
}

/// What happened while waiting.
struct Ready {
    dead: bool,
    control_read: bool,
    control_write: bool,
    streams: [bool; 2],
}
