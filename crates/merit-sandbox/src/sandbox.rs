//! The sandbox as callers see it: started once, shared by every thread, asked to run programs and open sessions.

use crate::call::{Bounds, Call, Part};
use crate::job::encode;
use crate::permits::Permits;
use crate::pool::Pool;
use crate::{
    Cancel, Job, Layer, LayerStatus, Limits, Report, SandboxError, SandboxSettings, Session, interpreter,
    probe,
};
use merit_core::PerProcess;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Fenced workers for Python programs. Clones share the same workers; the last one to go ends them.
///
/// ```
/// use merit_sandbox::{Job, Sandbox, SandboxSettings, Verdict};
/// let settings = SandboxSettings::default();
/// let sandbox = Sandbox::shared(&settings)?;
/// let report = sandbox.run(Job::new("print(6 * 7)", settings.limits), None)?;
/// assert_eq!((report.verdict, report.stdout.as_str()), (Verdict::Ok, "42\n"));
/// # Ok::<(), merit_sandbox::SandboxError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    settings: SandboxSettings,
    layers: Vec<LayerStatus>,
    /// Whether each program has a pid namespace, without which its processes could outlive it.
    own_pids: bool,
    pub(crate) pool: Pool,
    pub(crate) permits: Permits,
}

/// Sandboxes of this process that are in use. A process that was forked from it may not speak to their servers, and starts its own.
static SHARED: PerProcess<Mutex<Vec<Weak<Inner>>>> = PerProcess::new();

impl Sandbox {
    /// Finds the interpreter, tries the layers and starts the servers.
    pub fn start(settings: &SandboxSettings) -> Result<Self, SandboxError> {
        settings.validate()?;
        let python = interpreter::resolve(settings.python.as_deref())?;
        let found = probe::find(&python)?;
        let layers = found.choose(&settings.without)?;
        let own_pids = layers.contains(&Layer::PidNamespace);
        let message = probe::start_message(settings, &found, layers)?;
        let inner = Inner {
            settings: settings.clone(),
            pool: Pool::start(python, message, settings)?,
            permits: Permits::new(settings.max_running),
            layers: found.statuses,
            own_pids,
        };
        inner.check_processes(&settings.limits)?;
        Ok(Self(Arc::new(inner)))
    }

    /// The sandbox of this process for these settings: started by the first to ask, ended with the last to hold it.
    pub fn shared(settings: &SandboxSettings) -> Result<Self, SandboxError> {
        let mut shared = SHARED.get(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        shared.retain(|known| known.strong_count() > 0);
        let same = |inner: &Arc<Inner>| inner.settings == *settings;
        if let Some(inner) = shared.iter().filter_map(Weak::upgrade).find(same) {
            return Ok(Self(inner));
        }
        let sandbox = Self::start(settings)?;
        shared.push(Arc::downgrade(&sandbox.0));
        Ok(sandbox)
    }

    /// Runs one program to its verdict.
    pub fn run(&self, mut job: Job, cancel: Option<&Cancel>) -> Result<Report, SandboxError> {
        job.validate()?;
        self.0.check_processes(&job.limits)?;
        let (before, after) = encode(&job, false)?;
        let mut parts = vec![Part::Bytes(before)];
        parts.extend(job.peer.take().map(Part::Descriptor));
        parts.push(Part::Bytes(after));
        let bounds = Bounds::new(&job.limits, job.limits.seconds);
        let _permit = self.0.permits.take(cancel)?;
        let (worker, server) = self.0.pool.ready_worker(&job.limits, cancel)?;
        let mut call = Call::begin(&worker, parts, bounds);
        let watched = call.watch_shortly(cancel);
        self.0.pool.refill(&server);
        watched
            .and_then(|()| call.finish(cancel))
            .map(|done| done.report)
            .map_err(|error| server.blame(error))
    }

    /// Opens a session: an interpreter that keeps its variables from cell to cell. `limits.seconds` is not used; each cell
    /// names its own.
    pub fn session(&self, seed: u64, limits: &Limits) -> Result<Session, SandboxError> {
        limits.validate()?;
        self.0.check_processes(limits)?;
        let (worker, server) = self.0.pool.ready_worker(limits, None)?;
        self.0.pool.refill(&server);
        Ok(Session::new(Arc::clone(&self.0), worker, server, seed, *limits))
    }

    /// What this kernel gave when the sandbox was started.
    pub fn layers(&self) -> &[LayerStatus] {
        &self.0.layers
    }

    /// The settings it was started with.
    pub fn settings(&self) -> &SandboxSettings {
        &self.0.settings
    }
}

impl Inner {
    fn check_processes(&self, limits: &Limits) -> Result<(), SandboxError> {
        if limits.processes == 0 || self.own_pids {
            return Ok(());
        }
        let why =
            "`processes` needs the pid-namespace layer: without it a program's processes could outlive it";
        Err(SandboxError::Settings(why.to_owned()))
    }
}
