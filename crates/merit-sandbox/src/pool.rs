//! The servers of a sandbox and the workers they keep ready. A lost server is replaced by the next call that needs it.

use crate::server::{Server, StartMessage};
use crate::worker::Worker;
use crate::{Cancel, Limits, SandboxError, SandboxSettings};
use merit_core::PerProcess;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Attempts to get a ready worker before the trouble is reported.
const ATTEMPTS: usize = 3;
/// User ids of workers: far above any that a system hands out, apart for each owner and each worker.
const FIRST_ID: u32 = 0x4000_0000;
/// The id of workers where others are not to be had.
const NOBODY: u32 = 65534;

#[derive(Debug)]
pub(crate) struct Pool {
    python: PathBuf,
    message: StartMessage,
    limits: Limits,
    spare: usize,
    slots: Vec<Mutex<Option<Arc<Server>>>>,
    next: AtomicUsize,
    workers: AtomicU64,
}

impl Pool {
    /// Starts every server, and asks for the first spares.
    pub(crate) fn start(
        python: PathBuf,
        message: StartMessage,
        settings: &SandboxSettings,
    ) -> Result<Self, SandboxError> {
        let pool = Self {
            python,
            message,
            limits: settings.limits,
            spare: settings.spare,
            slots: (0..settings.server_count()).map(|_| Mutex::new(None)).collect(),
            next: AtomicUsize::new(0),
            workers: AtomicU64::new(0),
        };
        for slot in &pool.slots {
            pool.server(slot)?;
        }
        Ok(pool)
    }

    /// A worker inside its fences, made for `limits` or wider, and the server that cares for it.
    pub(crate) fn ready_worker(
        &self,
        limits: &Limits,
        cancel: Option<&Cancel>,
    ) -> Result<(Worker, Arc<Server>), SandboxError> {
        let mut attempt = 1;
        loop {
            let (mut worker, server) = self.worker(limits)?;
            // Nothing of the program has been sent: another worker or another server may have it.
            match worker.await_ready(limits, cancel).map_err(|error| server.blame(error)) {
                Ok(()) => return Ok((worker, server)),
                Err(SandboxError::ServerLost(_) | SandboxError::System { .. }) if attempt < ATTEMPTS => {
                    attempt += 1
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn worker(&self, limits: &Limits) -> Result<(Worker, Arc<Server>), SandboxError> {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        if self.spare > 0 && self.limits.can_serve(limits) {
            if let Some(found) = self.spare_worker(first, true)? {
                return Ok(found);
            }
            if let Some(found) = self.spare_worker(first, false)? {
                return Ok(found);
            }
        }
        let slot = self.slot(first)?;
        let server = self.server(slot)?;
        let worker = self.request(&server, limits)?;
        Ok((worker, server))
    }

    /// A spare of any server, beginning with number `first`: one that already stands ready, or one on its way.
    fn spare_worker(&self, first: usize, ready: bool) -> Result<Option<(Worker, Arc<Server>)>, SandboxError> {
        for step in 0..self.slots.len() {
            let server = self.server(self.slot(first.wrapping_add(step))?)?;
            let mut spares = locked(&server.spares);
            let found = spares.front().is_some_and(|worker| !ready || worker.seems_ready());
            if let Some(worker) = found.then(|| spares.pop_front()).flatten() {
                drop(spares);
                return Ok(Some((worker, server)));
            }
        }
        Ok(None)
    }

    /// Asks `server` for as many spares as it should have. Trouble is left to the next call, which heals it.
    pub(crate) fn refill(&self, server: &Server) {
        let missing = self.spare.saturating_sub(locked(&server.spares).len());
        for _ in 0..missing {
            match self.request(server, &self.limits) {
                Ok(worker) => locked(&server.spares).push_back(worker),
                Err(_) => return,
            }
        }
    }

    fn request(&self, server: &Server, limits: &Limits) -> Result<Worker, SandboxError> {
        let id = self.workers.fetch_add(1, Ordering::Relaxed);
        let user = match self.message.own_ids {
            true => FIRST_ID | next_user() & (FIRST_ID - 1),
            false => NOBODY,
        };
        Worker::request(server, id, user, limits)
    }

    fn slot(&self, number: usize) -> Result<&Mutex<Option<Arc<Server>>>, SandboxError> {
        let index = number.checked_rem(self.slots.len()).unwrap_or(0);
        self.slots.get(index).ok_or_else(|| SandboxError::Settings("no servers".to_owned()))
    }

    /// The server in a slot, a new one when the old is lost.
    fn server(&self, slot: &Mutex<Option<Arc<Server>>>) -> Result<Arc<Server>, SandboxError> {
        let mut held = locked(slot);
        if let Some(server) = held.as_ref().filter(|server| server.is_well()) {
            return Ok(Arc::clone(server));
        }
        // The old one must be gone before the new one is made; calls that still hold it learn by themselves.
        *held = None;
        let server = Arc::new(Server::start(&self.python, &self.message)?);
        self.refill(&server);
        *held = Some(Arc::clone(&server));
        Ok(server)
    }
}

/// Counts users over all sandboxes of this process, from a place drawn at random: two programs with one id would share what the
/// kernel counts for a user, and one could tell what the other does. A process that was forked draws a place of its own.
fn next_user() -> u32 {
    static USERS: PerProcess<AtomicU32> = PerProcess::new();
    // What `RandomState` draws next is copied by a fork; the number of the process is not.
    let drawn = || AtomicU32::new(RandomState::new().hash_one(std::process::id()) as u32);
    USERS.get(drawn).fetch_add(1, Ordering::Relaxed)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
