//! What a program writes: both streams, together at most so many bytes.

use crate::channel;
use crate::worker::Worker;
use rustix::io::Errno;

#[derive(Debug)]
pub(crate) struct Output {
    /// Standard output and error.
    streams: [Stream; 2],
    limit: usize,
}

#[derive(Debug, Default)]
struct Stream {
    text: Vec<u8>,
    closed: bool,
}

impl Output {
    pub(crate) fn new(limit: usize) -> Self {
        Self { streams: Default::default(), limit }
    }

    /// Which streams may still bring something.
    pub(crate) fn open(&self) -> [bool; 2] {
        self.streams.each_ref().map(|stream| !stream.closed)
    }

    /// Reads one stream until it is empty; true when there is more than the program may write.
    pub(crate) fn drain(&mut self, worker: &Worker, number: usize) -> bool {
        let fd = if number == 0 { &worker.stdout } else { &worker.stderr };
        let mut bytes = vec![0; 64 * 1024];
        while channel::readable(fd) {
            let count = match rustix::io::read(fd, &mut bytes) {
                Err(Errno::INTR) => continue,
                other => other.unwrap_or(0),
            };
            let written: usize = self.streams.iter().map(|stream| stream.text.len()).sum();
            let room = self.limit.saturating_sub(written);
            let Some(stream) = self.streams.get_mut(number) else { return false };
            if count == 0 {
                stream.closed = true;
                return false;
            }
            stream.text.extend_from_slice(bytes.get(..count.min(room)).unwrap_or_default());
            if count > room {
                return true;
            }
        }
        false
    }

    /// Reads both until they are empty; true when there is too much.
    pub(crate) fn drain_all(&mut self, worker: &Worker) -> bool {
        let open = self.open();
        let floods = [0, 1].map(|number| open[number] && self.drain(worker, number));
        floods.contains(&true)
    }

    /// As text, bytes that are none replaced.
    pub(crate) fn into_texts(self) -> [String; 2] {
        self.streams.map(|stream| String::from_utf8_lossy(&stream.text).into_owned())
    }
}
