//! Messages as lines over standard streams, read within a bound.
//!
//! A line over [`MAX_MESSAGE`] is dropped as it arrives; only the number of the request that it belongs to is looked for.

use crate::skimmed::Skimmed;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The longest message taken in, in bytes.
pub const MAX_MESSAGE: usize = 16 << 20;

/// The lines of a stream.
pub(crate) struct Lines {
    input: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    line: Vec<u8>,
    /// Present while a line over the limit is being dropped.
    dropping: Option<Skimmed>,
}

pub(crate) enum Line {
    /// A whole line, or what stands behind the last line break of a stream that has ended, without white space around it; never
    /// empty.
    Whole(Vec<u8>),
    /// A line that was too long.
    Dropped(Skimmed),
    /// The stream has ended.
    End,
}

impl Lines {
    pub(crate) fn new(input: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let input: Box<dyn AsyncRead + Send + Unpin> = Box::new(input);
        Self { input: BufReader::with_capacity(64 << 10, input), line: Vec::new(), dropping: None }
    }

    /// The next line. What was read of it is kept when the future is dropped half-way.
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            let Ok(available) = self.input.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return self.finished().unwrap_or(Line::End);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let length = newline.map_or(available.len(), |at| at + 1);
            let piece = available.get(..length).unwrap_or_default();
            match &mut self.dropping {
                Some(skimmed) => skimmed.push(piece),
                None if self.line.len() + length > MAX_MESSAGE => {
                    let mut skimmed = Skimmed::default();
                    skimmed.push(&self.line);
                    skimmed.push(piece);
                    self.line = Vec::new();
                    self.dropping = Some(skimmed);
                }
                None => self.line.extend_from_slice(piece),
            }
            self.input.consume(length);
            if newline.is_some()
                && let Some(line) = self.finished()
            {
                return line;
            }
        }
    }

    /// What was read of the line that ends here. Absent: nothing but white space.
    fn finished(&mut self) -> Option<Line> {
        if let Some(skimmed) = self.dropping.take() {
            return Some(Line::Dropped(skimmed));
        }
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii();
        (!line.is_empty()).then(|| Line::Whole(line.to_vec()))
    }
}
