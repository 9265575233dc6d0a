//! Sockets, pipes and waiting: the few calls through which this side speaks with servers and workers.

use crate::SandboxError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Descriptors that travel with one message.
const MAX_FDS: usize = 8;

/// A pair of sockets that keep messages apart.
pub(crate) fn packet_pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pair(SocketType::SEQPACKET)
}

/// A pair of sockets for a stream of bytes.
pub(crate) fn stream_pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pair(SocketType::STREAM)
}

fn pair(kind: SocketType) -> Result<(OwnedFd, OwnedFd), SandboxError> {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(SandboxError::system("making a socket pair"))
}

/// A pipe: read end, write end.
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    pipe_with(PipeFlags::CLOEXEC).map_err(SandboxError::system("making a pipe"))
}

/// Sends bytes with descriptors and does not wait. Returns how many bytes went.
pub(crate) fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(Errno::TOOMANYREFS);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    sendmsg(socket, &[IoSlice::new(bytes)], &mut rights, flags)
}

/// Receives what is there and does not wait. Returns the bytes' count and the first descriptor; no bytes mean the other
/// end is closed.
pub(crate) fn receive(socket: impl AsFd, into: &mut [u8]) -> Result<(usize, Option<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let message = recvmsg(socket, &mut [IoSliceMut::new(into)], &mut rights, flags)?;
    let mut first = None;
    for part in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = part {
            first = fds.into_iter().next().or(first);
        }
    }
    Ok((message.bytes, first))
}

/// Waits until something happens on one of `fds` or `until` comes. Interruptions are not events.
pub(crate) fn wait(fds: &mut [PollFd<'_>], until: Option<Instant>) -> Result<usize, SandboxError> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        match poll(fds, left.map(timespec).as_ref()) {
            Err(Errno::INTR) => continue,
            other => return other.map_err(SandboxError::system("waiting for a worker")),
        }
    }
}

fn timespec(left: Duration) -> Timespec {
    Timespec { tv_sec: left.as_secs().min(1 << 30) as i64, tv_nsec: left.subsec_nanos().into() }
}

/// Whether something can be read right now, an end included.
pub(crate) fn readable(fd: impl AsFd) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
    matches!(wait(&mut fds, Some(Instant::now())), Ok(1..))
}

/// Waits until `fd` can be read or has ended; false when `until` came first.
pub(crate) fn wait_readable(fd: impl AsFd, until: Instant) -> Result<bool, SandboxError> {
    let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
    Ok(wait(&mut fds, Some(until))? > 0)
}
