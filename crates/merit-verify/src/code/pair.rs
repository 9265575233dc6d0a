//! One candidate and one judge, joined by a socket, from their start to what the judge says.

use super::harness::Harness;
use super::limiter::Place;
use super::plan::{Plan, Said};
use super::{CodeConfig, CodeError};
use merit_sandbox::{Cancel, Job, Limits, Peer, Report, Sandbox, SandboxError};
use std::sync::mpsc;
use std::time::Duration;

/// How long the sandbox is given to say what became of a program that hung up.
const PATIENCE: Duration = Duration::from_secs(20);
/// What both may live longer than the plan says: the judge ends itself in time unless it is stuck, and the candidate outlives
/// the judge.
pub(super) const MARGIN_SECONDS: f64 = 3.0;
/// What a judge may write: its notes and its verdict.
pub(super) const JUDGE_BYTES: usize = 8 << 20;

/// A sandbox with both harnesses.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) sandbox: Sandbox,
    pub(super) harness: Harness,
}

impl Stage {
    pub(super) fn new(config: &CodeConfig) -> Result<Self, CodeError> {
        let sandbox = Sandbox::shared(&config.sandbox)?;
        let harness = Harness::new(&sandbox, &config.sandbox.limits)?;
        Ok(Self { sandbox, harness })
    }
}

/// What came of a pair.
pub(super) struct Trial {
    pub(super) said: Said,
    /// What the sandbox saw of the program. Absent: it was still running when the judge was done.
    pub(super) candidate: Option<Report>,
}

/// Tries a program on a plan.
pub(super) fn run(
    stage: &Stage,
    config: &CodeConfig,
    program: &str,
    plan: &Plan<'_>,
) -> Result<Trial, CodeError> {
    let seconds = plan.total + MARGIN_SECONDS;
    let plan = serde_json::to_string(plan).map_err(|why| CodeError::Judge(why.to_string()))?;
    let (ours, theirs) = socket_pair()?;
    let (seed, harness) = (config.seed, &stage.harness);
    let limits = Limits { seconds: seconds + MARGIN_SECONDS, ..config.limits };
    let candidate = Job { seed, peer: Some(ours), ..harness.candidate(program, limits) };
    let limits = Limits { seconds, output_bytes: JUDGE_BYTES, ..config.sandbox.limits };
    let judge = Job { seed, peer: Some(theirs), ..harness.judge(&plan, limits) };
    let _place = Place::take(config.sandbox.max_running);
    together(&stage.sandbox, candidate, judge)
}

fn together(sandbox: &Sandbox, candidate: Job, judge: Job) -> Result<Trial, CodeError> {
    let cancel = Cancel::new()?;
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let stop = cancel.clone();
        // The receiver may be gone.
        let serve = move || drop(sender.send(sandbox.run(candidate, Some(&stop))));
        let started = std::thread::Builder::new().spawn_scoped(scope, serve);
        started.map_err(|why| SandboxError::System { doing: "starting a thread", why: why.to_string() })?;
        let judged = sandbox.run(judge, None).map_err(CodeError::from).and_then(|report| Said::of(&report));
        let hung_up = judged.as_ref().is_ok_and(|said| {
            let ended = |kind: &str| kind == "ended";
            said.outcomes.iter().any(|(_, kind, ..)| ended(kind))
                || said.load.as_ref().is_some_and(|(kind, ..)| ended(kind))
        });
        let seen = receiver.recv_timeout(if hung_up { PATIENCE } else { Duration::ZERO });
        cancel.cancel();
        let candidate = match seen {
            Ok(Ok(report)) => Some(report),
            Ok(Err(why)) if hung_up && why != SandboxError::Cancelled => return Err(why.into()),
            Ok(Err(_)) | Err(_) => None,
        };
        Ok(Trial { said: judged?, candidate })
    })
}

#[cfg(unix)]
fn socket_pair() -> Result<(Peer, Peer), SandboxError> {
    let pair = std::os::unix::net::UnixStream::pair();
    let (ours, theirs) =
        pair.map_err(|why| SandboxError::System { doing: "making a pair of sockets", why: why.to_string() })?;
    Ok((ours.into(), theirs.into()))
}

#[cfg(not(unix))]
fn socket_pair() -> Result<(Peer, Peer), SandboxError> {
    Err(SandboxError::Unsupported)
}
