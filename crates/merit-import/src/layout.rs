//! How entries lie in a file: a JSON array, JSON lines, or one JSON value; each entry with the line it begins on.

use crate::{ImportError, Layout};
use serde_json::Value;
use serde_json::value::RawValue;

/// One entry, not yet parsed.
pub(crate) struct Entry<'a> {
    pub(crate) line: usize,
    pub(crate) bytes: &'a [u8],
}

pub(crate) fn split(file: &[u8]) -> Result<(Layout, Vec<Entry<'_>>), ImportError> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let lines = lines(file);
    let Some(first) = lines.first() else { return Err(ImportError::Empty) };
    if lines.len() > 1 && parses(first.bytes) {
        return Ok((Layout::Lines, lines));
    }
    match whole(file, first.line) {
        Ok(found) => Ok(found),
        // One broken line must not hide that the others are entries of their own.
        Err(_) if lines[1..].iter().any(|l| l.bytes.starts_with(b"{") && parses(l.bytes)) => {
            Ok((Layout::Lines, lines))
        }
        Err(error) => Err(error),
    }
}

fn whole(file: &[u8], line: usize) -> Result<(Layout, Vec<Entry<'_>>), ImportError> {
    let not_json = |e: serde_json::Error| ImportError::NotJson { line: e.line().max(1), why: e.to_string() };
    if !file.trim_ascii_start().starts_with(b"[") {
        serde_json::from_slice::<serde::de::IgnoredAny>(file).map_err(not_json)?;
        return Ok((Layout::Single, vec![Entry { line, bytes: file.trim_ascii() }]));
    }
    let items: Vec<&RawValue> = serde_json::from_slice(file).map_err(not_json)?;
    if items.is_empty() {
        return Err(ImportError::Empty);
    }
    if items.iter().all(|item| is_message(item.get())) {
        return Ok((Layout::Single, vec![Entry { line, bytes: file.trim_ascii() }]));
    }
    let mut lines = LineCounter { file, at: 0, line: 1 };
    let entries = items.into_iter().map(|item| {
        let bytes = item.get().as_bytes();
        Entry { line: lines.of(bytes), bytes }
    });
    Ok((Layout::Array, entries.collect()))
}

/// A list of messages is one conversation, not a list of entries.
fn is_message(text: &str) -> bool {
    let role = |value: Value| value.get("role").is_some_and(Value::is_string);
    serde_json::from_str(text).is_ok_and(role)
}

fn parses(bytes: &[u8]) -> bool {
    let contained = bytes.starts_with(b"{") || bytes.starts_with(b"[");
    contained && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

fn lines(file: &[u8]) -> Vec<Entry<'_>> {
    let all = file.split(|&byte| byte == b'\n').enumerate();
    let trimmed = all.map(|(at, bytes)| Entry { line: at + 1, bytes: bytes.trim_ascii() });
    trimmed.filter(|entry| !entry.bytes.is_empty()).collect()
}

/// Counts lines on the way through a file, so that each byte is looked at once.
struct LineCounter<'a> {
    file: &'a [u8],
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line of a part of the file; parts are asked for in order.
    fn of(&mut self, part: &[u8]) -> usize {
        let start = (part.as_ptr() as usize).saturating_sub(self.file.as_ptr() as usize);
        let passed = self.file.get(self.at..start).unwrap_or_default();
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.at = self.at.max(start);
        self.line
    }
}
