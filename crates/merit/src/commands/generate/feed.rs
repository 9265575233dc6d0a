//! Lines read beside the sampling, on a thread of their own, a bounded number ahead.

use anyhow::{Context as _, Result};
use merit_verify::records::{Bounds, Lines};
use std::io::Read;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, TryRecvError, sync_channel};

/// Lines that are read before anybody takes them.
const AHEAD: usize = 64;

/// One line, counted from 1, blank lines too.
pub(super) struct InputLine {
    pub(super) number: u64,
    /// Absent: it is too long to be a request.
    pub(super) text: Option<Vec<u8>>,
}

/// What the feed has to give.
pub(super) enum Fed {
    Line(InputLine),
    /// No line has come yet.
    Nothing,
    /// No more will come.
    End,
}

/// A stream of lines under way.
pub(super) struct Feed {
    lines: Receiver<std::io::Result<InputLine>>,
}

impl Feed {
    pub(super) fn start(stream: impl Read + Send + 'static) -> Result<Self> {
        let (sender, lines) = sync_channel(AHEAD);
        let read = move || read(stream, &sender);
        std::thread::Builder::new().name("input".to_owned()).spawn(read).context("cannot start a thread")?;
        Ok(Self { lines })
    }

    /// The next line, if it is there; with `wait`, when it is there.
    pub(super) fn next(&self, wait: bool) -> Result<Fed> {
        let next = match wait {
            true => self.lines.recv().map_err(|RecvError| TryRecvError::Disconnected),
            false => self.lines.try_recv(),
        };
        match next {
            Ok(line) => Ok(Fed::Line(line.context("cannot read the input")?)),
            Err(TryRecvError::Empty) => Ok(Fed::Nothing),
            Err(TryRecvError::Disconnected) => Ok(Fed::End),
        }
    }
}

/// Sends every line until the end, or until the receiver is gone.
fn read(stream: impl Read, to: &SyncSender<std::io::Result<InputLine>>) {
    let mut lines = Lines::new(stream, Bounds::USUAL);
    loop {
        let batch = match lines.next_batch() {
            Ok(Some(batch)) => batch,
            Ok(None) => return,
            Err(error) => {
                // It fails only where the receiver is gone.
                let _ = to.send(Err(error));
                return;
            }
        };
        for place in batch.lines() {
            let line = InputLine { number: place.number, text: batch.line(place).map(<[u8]>::to_vec) };
            if to.send(Ok(line)).is_err() {
                return;
            }
        }
    }
}
