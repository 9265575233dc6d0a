//! Corpora from JSON lines: one object a line with `text`, and `id` and `title` where they exist.
//!
//! As in the corpora of BEIR and Pyserini, `_id` is another name of `id` and `contents` of `text`. An `id` is a string or a
//! whole number; a line without one is called by its number, from 1. Other keys are the corpus' own metadata and are left
//! aside; blank lines are skipped. Everything else that is not as described is an error with file and line.

use crate::corpus::MAX_ID_BYTES;
use crate::{Corpus, CorpusFault, CorpusLimits, Document, SearchError};
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

#[derive(Deserialize)]
struct Line {
    #[serde(alias = "_id")]
    id: Option<Value>,
    title: Option<String>,
    #[serde(alias = "contents")]
    text: Option<String>,
}

impl Corpus {
    /// Reads a file of JSON lines (`id` or `_id`, `title`, `text` or `contents`; the text is required) within the default
    /// limits.
    pub fn from_jsonl(path: impl AsRef<Path>) -> Result<Self, SearchError> {
        Self::from_jsonl_within(path, &CorpusLimits::default())
    }

    /// As [`Corpus::from_jsonl`], within other limits.
    pub fn from_jsonl_within(path: impl AsRef<Path>, limits: &CorpusLimits) -> Result<Self, SearchError> {
        let corpus = path.as_ref().display().to_string();
        let unreadable = |why: String| SearchError::Io { corpus: corpus.clone(), why };
        let file = File::open(&path).map_err(|error| unreadable(error.to_string()))?;
        let kind = file.metadata().map_err(|error| unreadable(error.to_string()))?;
        if !kind.is_file() {
            return Err(unreadable("it is not a plain file".to_owned()));
        }
        Self::from_reader_within(file, &corpus, limits)
    }

    /// Reads JSON lines from anywhere; `name` is what errors call it.
    pub fn from_reader(reader: impl Read, name: &str) -> Result<Self, SearchError> {
        Self::from_reader_within(reader, name, &CorpusLimits::default())
    }

    /// As [`Corpus::from_reader`], within other limits.
    pub fn from_reader_within(
        reader: impl Read,
        name: &str,
        limits: &CorpusLimits,
    ) -> Result<Self, SearchError> {
        let mut reader = BufReader::with_capacity(1 << 16, reader);
        let mut corpus = Self::default();
        let (mut buffer, mut lines, mut line) = (Vec::new(), Vec::new(), 0);
        loop {
            line += 1;
            let fault = |fault| SearchError::Corpus { corpus: name.to_owned(), line, fault };
            buffer.clear();
            // Two bytes more than a line may have: one for its end, one to see that it is too long.
            let most = (limits.document_bytes as u64).saturating_add(2);
            let read = reader.by_ref().take(most).read_until(b'\n', &mut buffer);
            let read =
                read.map_err(|error| SearchError::Io { corpus: name.to_owned(), why: error.to_string() })?;
            if read == 0 {
                return Ok(corpus);
            }
            // A byte-order mark at the beginning of the file is no part of its first line.
            let marked = buffer.strip_prefix(b"\xef\xbb\xbf").filter(|_| line == 1);
            let json = marked.unwrap_or(&buffer).trim_ascii();
            if buffer.strip_suffix(b"\n").unwrap_or(&buffer).len() > limits.document_bytes {
                return Err(fault(CorpusFault::DocumentTooLong { max: limits.document_bytes }));
            }
            if json.is_empty() {
                continue;
            }
            let document = document(json, line).map_err(fault)?;
            let line_of = |at: usize| lines.get(at).copied().unwrap_or(line);
            corpus.push(document, limits, line_of).map_err(fault)?;
            lines.push(line);
        }
    }
}

fn document(json: &[u8], line: usize) -> Result<Document, CorpusFault> {
    // A list would be taken field by field.
    if json.first() != Some(&b'{') {
        return Err(CorpusFault::Json("the line does not begin with `{`".to_owned()));
    }
    let read: Line = serde_json::from_slice(json).map_err(|error| CorpusFault::Json(column(&error)))?;
    let id = match read.id {
        None | Some(Value::Null) => line.to_string(),
        Some(Value::String(id)) => id,
        Some(Value::Number(number)) if number.is_u64() || number.is_i64() => number.to_string(),
        Some(other) => {
            let got = match other {
                Value::Bool(_) => "true or false",
                Value::Number(_) => "a number with a fraction",
                Value::Array(_) => "a list",
                _ => "an object",
            };
            return Err(CorpusFault::Id { got: got.to_owned(), max: MAX_ID_BYTES });
        }
    };
    let text = read.text.ok_or(CorpusFault::NoText)?;
    Ok(Document { id, title: read.title.unwrap_or_default(), text })
}

/// The parser sees one line, so only its column is worth telling.
fn column(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => said,
    }
}
