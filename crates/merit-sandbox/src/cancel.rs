//! A way to end a call from another thread.

use crate::SandboxError;
use std::sync::Arc;
#[cfg(not(target_os = "linux"))]
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle to end calls; clones end the same calls. Once cancelled it stays so.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Flag>);

#[cfg(target_os = "linux")]
type Flag = std::os::fd::OwnedFd;
#[cfg(not(target_os = "linux"))]
type Flag = AtomicBool;

#[cfg(target_os = "linux")]
impl Cancel {
    /// A handle that has not been used.
    pub fn new() -> Result<Self, SandboxError> {
        use rustix::event::{EventfdFlags, eventfd};
        let flag = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self(Arc::new(flag.map_err(SandboxError::system("making a cancel handle"))?)))
    }

    /// Ends every call that was given this handle, now or later.
    pub fn cancel(&self) {
        // The only possible refusal is a full counter, which is cancelled all the same.
        let _ = rustix::io::write(&*self.0, &1u64.to_ne_bytes());
    }

    pub fn is_cancelled(&self) -> bool {
        crate::channel::readable(&*self.0)
    }

    pub(crate) fn descriptor(&self) -> std::os::fd::BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.0.as_fd()
    }
}

#[cfg(not(target_os = "linux"))]
impl Cancel {
    /// A handle that has not been used.
    pub fn new() -> Result<Self, SandboxError> {
        Ok(Self(Arc::new(AtomicBool::new(false))))
    }

    /// Ends every call that was given this handle, now or later.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
