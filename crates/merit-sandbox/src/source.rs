//! The Python side as one program, in the order its files need each other.

/// What the interpreter is started with.
pub(crate) const PROGRAM: &str = concat!(
    include_str!("python/kernel.py"),
    "\n\n",
    include_str!("python/root.py"),
    "\n\n",
    include_str!("python/groups.py"),
    "\n\n",
    include_str!("python/trace.py"),
    "\n\n",
    include_str!("python/fence.py"),
    "\n\n",
    include_str!("python/wire.py"),
    "\n\n",
    include_str!("python/harness.py"),
    "\n\n",
    include_str!("python/rehearsal.py"),
    "\n\n",
    include_str!("python/server.py"),
    "\n\n",
    include_str!("python/probe.py"),
    "\n\n",
    include_str!("python/start.py"),
);
