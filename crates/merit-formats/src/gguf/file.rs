//! A GGUF file (versions 2 and 3, little endian): head, metadata, places of tensors.
//!
//! In: a path. Out: metadata and checked places. Nothing in the file is believed before it is checked.

use super::cursor::Cursor;
use super::value::Value;
use crate::mapped::Mapped;
use crate::span::{Span, Spans, byte_length, refuse_overlap};
use crate::{Encoding, FormatError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) type Metadata = BTreeMap<String, Value>;

/// An open file.
#[derive(Debug)]
pub(crate) struct GgufFile {
    pub(crate) path: PathBuf,
    pub(crate) metadata: Metadata,
    pub(crate) spans: Spans,
    bytes: Mapped,
}

const MAX_DIMENSIONS: u32 = 4;
const MAX_NAME: usize = 1024;
const MAX_ALIGNMENT: u64 = 1 << 20;

impl GgufFile {
    pub(crate) fn open(path: &Path) -> Result<Self, FormatError> {
        let bytes = Mapped::open(path)?;
        let (metadata, spans) = parse(path, &bytes)?;
        Ok(Self { path: path.to_path_buf(), metadata, spans, bytes })
    }

    pub(crate) fn bytes_of(&self, span: &Span) -> &[u8] {
        &self.bytes[span.start..span.start + span.bytes]
    }
}

/// Metadata and tensors of a whole file.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<(Metadata, Spans), FormatError> {
    let mut cursor = Cursor::new(bytes);
    let file = |reason: String| FormatError::file(path, reason);
    check_head(&mut cursor).map_err(file)?;
    // A tensor: length of the name, dimensions, one size, kind, offset. A key: its length, a kind, a byte.
    let tensors = cursor.count(32, "tensors").map_err(file)?;
    let keys = cursor.count(13, "keys").map_err(file)?;
    let metadata = read_metadata(path, &mut cursor, keys)?;
    let entries = read_entries(path, &mut cursor, tensors)?;
    let alignment = alignment(path, &metadata)?;
    let data_start = cursor.at().next_multiple_of(alignment);
    let mut spans = Spans::new();
    for (name, entry) in entries {
        let span = entry
            .place(data_start, alignment, bytes.len())
            .map_err(|reason| FormatError::tensor(path, &name, reason))?;
        if spans.insert(name.clone(), span).is_some() {
            return Err(FormatError::tensor(path, &name, "is there twice"));
        }
    }
    refuse_overlap(path, &spans)?;
    Ok((metadata, spans))
}

fn check_head(cursor: &mut Cursor<'_>) -> Result<(), String> {
    if cursor.take(4).ok() != Some(b"GGUF") {
        return Err("is not a GGUF file: it does not begin with `GGUF`".to_owned());
    }
    match cursor.u32()? {
        2 | 3 => Ok(()),
        version if [2, 3].contains(&version.swap_bytes()) => {
            Err("is a big-endian GGUF file; convert it to little endian".to_owned())
        }
        version => Err(format!("is GGUF version {version}; versions 2 and 3 can be read")),
    }
}

fn read_metadata(path: &Path, cursor: &mut Cursor<'_>, keys: usize) -> Result<Metadata, FormatError> {
    let mut metadata = Metadata::new();
    for index in 0..keys {
        let key =
            cursor.text().map_err(|reason| FormatError::file(path, format!("key {index}: {reason}")))?;
        let value = cursor
            .u32()
            .and_then(|kind| Value::read(cursor, kind, 0))
            .map_err(|reason| FormatError::key(path, &key, reason))?;
        if metadata.insert(key.clone(), value).is_some() {
            return Err(FormatError::key(path, &key, "is there twice"));
        }
    }
    Ok(metadata)
}

/// A line of the list of tensors.
struct Entry {
    /// Fastest first, the other way round from a shape.
    sizes: Vec<u64>,
    kind: u32,
    offset: u64,
}

fn read_entries(
    path: &Path,
    cursor: &mut Cursor<'_>,
    tensors: usize,
) -> Result<Vec<(String, Entry)>, FormatError> {
    let mut entries = Vec::new();
    for index in 0..tensors {
        let name =
            cursor.text().map_err(|reason| FormatError::file(path, format!("tensor {index}: {reason}")))?;
        if name.is_empty() || name.len() > MAX_NAME {
            let length = name.len();
            return Err(FormatError::file(path, format!("tensor {index} has a name of {length} bytes")));
        }
        let entry = Entry::read(cursor).map_err(|reason| FormatError::tensor(path, &name, reason))?;
        entries.push((name, entry));
    }
    Ok(entries)
}

impl Entry {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, String> {
        let dimensions = cursor.u32()?;
        if dimensions == 0 || dimensions > MAX_DIMENSIONS {
            return Err(format!("has {dimensions} dimensions; 1 to {MAX_DIMENSIONS} can be"));
        }
        let sizes = (0..dimensions).map(|_| cursor.u64()).collect::<Result<_, _>>()?;
        Ok(Self { sizes, kind: cursor.u32()?, offset: cursor.u64()? })
    }

    fn place(&self, data_start: usize, alignment: usize, file_bytes: usize) -> Result<Span, String> {
        let encoding = Encoding::from_gguf_number(self.kind).ok_or_else(|| {
            let known: Vec<&str> = Encoding::all().map(Encoding::name).collect();
            format!("is of type {}; {} can be read", kind_name(self.kind), known.join(", "))
        })?;
        if self.sizes.contains(&0) {
            return Err(format!("has sizes {:?}; none may be 0", self.sizes));
        }
        let shape: Option<Vec<usize>> = self.sizes.iter().rev().map(|&size| size.try_into().ok()).collect();
        let shape = shape.ok_or_else(|| format!("has sizes {:?}, more than can be counted", self.sizes))?;
        let bytes = byte_length(&shape, encoding)?;
        let offset = usize::try_from(self.offset).ok().filter(|offset| offset.is_multiple_of(alignment));
        let offset =
            offset.ok_or_else(|| format!("offset {} is not a multiple of {alignment}", self.offset))?;
        let start = data_start.checked_add(offset);
        let inside = |&start: &usize| start.checked_add(bytes).is_some_and(|end| end <= file_bytes);
        let start = start.filter(inside).ok_or_else(|| {
            let room = file_bytes.saturating_sub(data_start);
            format!("{bytes} bytes at {offset} do not lie in the {room} that the file has; is it truncated?")
        })?;
        Ok(Span { shape, encoding, start, bytes })
    }
}

/// Names of types that exist and are not read.
fn kind_name(kind: u32) -> String {
    const OTHERS: [(u32, &str); 14] = [
        (9, "Q8_1"),
        (10, "Q2_K"),
        (11, "Q3_K"),
        (15, "Q8_K"),
        (16, "IQ2_XXS"),
        (17, "IQ2_XS"),
        (18, "IQ3_XXS"),
        (19, "IQ1_S"),
        (20, "IQ4_NL"),
        (21, "IQ3_S"),
        (22, "IQ2_S"),
        (23, "IQ4_XS"),
        (28, "F64"),
        (29, "IQ1_M"),
    ];
    OTHERS
        .iter()
        .find(|(number, _)| *number == kind)
        .map_or_else(|| format!("number {kind}"), |(_, name)| (*name).to_owned())
}

fn alignment(path: &Path, metadata: &Metadata) -> Result<usize, FormatError> {
    const KEY: &str = "general.alignment";
    match metadata.get(KEY) {
        None => Ok(32),
        Some(Value::Unsigned(size)) if size.is_power_of_two() && *size <= MAX_ALIGNMENT => Ok(*size as usize),
        Some(other) => Err(FormatError::key(
            path,
            KEY,
            format!("must be a power of two up to {MAX_ALIGNMENT}, not {other:?}"),
        )),
    }
}
