//! The unfenced peer's owner side: a socket and two pipes for each call, as in the sandbox.

use rustix::io::IoSlice;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use std::io::{Error, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// Unfenced fork servers, as many as the sandbox has.
pub(crate) struct Bare {
    servers: Vec<(Child, Option<OwnedFd>)>,
}

impl Bare {
    pub(crate) fn start(python: &str, count: usize, modules: &[String]) -> Result<Self, Error> {
        let start = |_| {
            let (ours, theirs) =
                socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
            let child = Command::new(python)
                .args(["-I", "-S", "-B", "-c", include_str!("bare.py"), &modules.join(",")])
                .stdin(theirs)
                .stdout(Stdio::null())
                .spawn()?;
            Ok((child, Some(ours)))
        };
        Ok(Self { servers: (0..count).map(start).collect::<Result<_, Error>>()? })
    }

    /// Runs `code` in a fresh fork and waits for its report.
    pub(crate) fn run(&self, number: usize, code: &str) -> Result<String, Error> {
        let (mut ours, theirs) = UnixStream::pair()?;
        let (mut output, their_output) = std::io::pipe()?;
        let (mut errors, their_errors) = std::io::pipe()?;
        self.ask(number, &[theirs.as_fd(), their_output.as_fd(), their_errors.as_fd()])?;
        drop((theirs, their_output, their_errors));
        let length = u32::try_from(code.len()).map_err(Error::other)?;
        ours.write_all(&[&length.to_le_bytes(), code.as_bytes()].concat())?;
        let mut length = [0; 4];
        ours.read_exact(&mut length)?;
        let mut report = vec![0; u32::from_le_bytes(length) as usize];
        ours.read_exact(&mut report)?;
        let mut text = String::new();
        output.read_to_string(&mut text)?;
        errors.read_to_string(&mut text)?;
        String::from_utf8(report).map_err(Error::other)
    }

    fn ask(&self, number: usize, fds: &[std::os::fd::BorrowedFd<'_>]) -> Result<(), Error> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        rights.push(SendAncillaryMessage::ScmRights(fds));
        let (_, control) = &self.servers[number % self.servers.len()];
        let control = control.as_ref().ok_or_else(|| Error::other("the server is closed"))?;
        sendmsg(control, &[IoSlice::new(b"F")], &mut rights, SendFlags::empty())?;
        Ok(())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        for (child, control) in &mut self.servers {
            drop(control.take());
            let _ = child.wait();
        }
    }
}
