//! Lines of a stream in batches: whatever has arrived, within bounds.
//!
//! Memory is bounded by [`Bounds`], however long the stream or a line of it. A batch ends where the next line would have to
//! be waited for, so that a writer of one record that waits for its verdict gets it.

use std::io::{self, BufRead, BufReader, Read};

/// How much is held at once.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// A batch is full when it has this many bytes.
    pub batch_bytes: usize,
    /// A longer line is left out and marked.
    pub line_bytes: usize,
}

impl Bounds {
    /// A megabyte a batch, 64 a line.
    pub const USUAL: Self = Self { batch_bytes: 1 << 20, line_bytes: 64 << 20 };
}

/// Lines that were read together. Blank ones are left out.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    lines: Vec<Place>,
}

/// Where a line of a batch is.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Counted from 1, blank lines too.
    pub number: u64,
    start: usize,
    end: usize,
    is_too_long: bool,
}

impl Batch {
    /// Where its lines are.
    pub fn lines(&self) -> &[Place] {
        &self.lines
    }

    /// The bytes of a line without white space around it. Absent: it is too long.
    pub fn line(&self, place: &Place) -> Option<&[u8]> {
        self.bytes.get(place.start..place.end).filter(|_| !place.is_too_long)
    }
}

/// A stream as lines.
pub struct Lines<R> {
    reader: BufReader<R>,
    bounds: Bounds,
    number: u64,
    failed: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub fn new(stream: R, bounds: Bounds) -> Self {
        let reader = BufReader::with_capacity(bounds.batch_bytes, stream);
        Self { reader, bounds, number: 0, failed: None }
    }

    /// The next batch; absent at the end. What was read before a failure comes before it.
    pub fn next_batch(&mut self) -> io::Result<Option<Batch>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut batch = Batch::default();
        loop {
            match self.read_line(&mut batch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if batch.lines.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            let is_full = batch.bytes.len() >= self.bounds.batch_bytes;
            let must_wait = !self.reader.buffer().contains(&b'\n');
            if !batch.lines.is_empty() && (is_full || must_wait) {
                break;
            }
        }
        Ok((!batch.lines.is_empty()).then_some(batch))
    }

    /// Reads one line into `batch`; false at the end.
    fn read_line(&mut self, batch: &mut Batch) -> io::Result<bool> {
        let start = batch.bytes.len();
        let most = self.bounds.line_bytes as u64 + 1;
        if (&mut self.reader).take(most).read_until(b'\n', &mut batch.bytes)? == 0 {
            return Ok(false);
        }
        self.number += 1;
        let line = batch.bytes.get(start..).unwrap_or_default();
        let is_too_long = line.len() > self.bounds.line_bytes && line.last() != Some(&b'\n');
        let kept = if self.number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        let before = line.len() - kept.trim_ascii_start().len();
        let (start, end) = (start + before, start + before + kept.trim_ascii().len());
        if is_too_long {
            self.reader.skip_until(b'\n')?;
            batch.bytes.truncate(start);
        }
        if is_too_long || start < end {
            batch.lines.push(Place { number: self.number, start, end, is_too_long });
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives its pieces one by one, as a pipe would; an empty piece is a failure.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some(piece) = self.0.first().copied() else { return Ok(0) };
            if piece.is_empty() {
                self.0.remove(0);
                return Err(io::Error::other("torn"));
            }
            let n = piece.len().min(into.len());
            into[..n].copy_from_slice(&piece[..n]);
            self.0[0] = &piece[n..];
            if self.0[0].is_empty() {
                self.0.remove(0);
            }
            Ok(n)
        }
    }

    /// Batches as `number:text` of their lines; a line that is too long as `number:…`.
    fn batches(pieces: &[&'static [u8]], bounds: Bounds) -> Vec<String> {
        let mut lines = Lines::new(Pieces(pieces.to_vec()), bounds);
        let mut found = Vec::new();
        loop {
            match lines.next_batch() {
                Ok(None) => return found,
                Err(error) => found.push(error.to_string()),
                Ok(Some(batch)) => {
                    let text =
                        |place: &Place| batch.line(place).map(|l| String::from_utf8_lossy(l).into_owned());
                    let shown = |p: &Place| format!("{}:{}", p.number, text(p).unwrap_or("…".to_owned()));
                    found.push(batch.lines().iter().map(shown).collect::<Vec<_>>().join(" "));
                }
            }
        }
    }

    #[test]
    fn a_batch_is_what_has_arrived() {
        assert_eq!(batches(&[b"a\nb\nc", b"d\n", b"e"], Bounds::USUAL), ["1:a 2:b", "3:cd", "4:e"]);
    }

    #[test]
    fn blank_lines_count_but_are_no_records() {
        assert_eq!(batches(&[b"\n\r\n a \r\n\n", b"\n", b"b\n"], Bounds::USUAL), ["3:a", "6:b"]);
        assert_eq!(batches(&[b"\xef\xbb\xbf a\n"], Bounds::USUAL), ["1:a"]);
        assert!(batches(&[b"\n", b" \n"], Bounds::USUAL).is_empty());
    }

    #[test]
    fn a_line_that_is_too_long_is_marked_and_the_next_is_read() {
        let bounds = Bounds { batch_bytes: 4, line_bytes: 3 };
        assert_eq!(
            batches(&[b"abc\nabcd\n", b"abcdefgh", b"ijk\nx\n"], bounds),
            ["1:abc", "2:…", "3:…", "4:x"]
        );
    }

    #[test]
    fn what_came_before_a_failure_is_not_lost() {
        assert_eq!(batches(&[b"a\nb", b"", b"c\n"], Bounds::USUAL)[..2], ["1:a", "torn"]);
    }
}
