//! The head of a safetensors file: eight bytes of length, JSON with a place for each tensor, then the bytes.
//!
//! In: a mapped file. Out: its tensors, every place checked. The head is read here and not by the format's own crate
//! because a fault has to name its tensor, and because the sum of hostile sizes must not overflow.

use crate::span::{Span, Spans, byte_length, refuse_overlap};
use crate::{Encoding, FormatError};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Longest head that is read, the limit that the format's own library has.
const MAX_HEAD: u64 = 100_000_000;

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

/// Entries in the order of the file, none named twice.
struct Head(Vec<(String, Entry)>);

impl<'de> Deserialize<'de> for Head {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HeadVisitor)
    }
}

struct HeadVisitor;

impl<'de> Visitor<'de> for HeadVisitor {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from names to tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head, A::Error> {
        let mut entries = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(format!("`{name}` is there twice")));
            }
            if name == "__metadata__" {
                map.next_value::<BTreeMap<String, String>>()?;
                continue;
            }
            let entry = map.next_value().map_err(|error| A::Error::custom(format!("`{name}`: {error}")))?;
            entries.push((name, entry));
        }
        Ok(Head(entries))
    }
}

/// The tensors of a file.
pub(crate) fn read_head(path: &Path, bytes: &[u8]) -> Result<Spans, FormatError> {
    let refuse = |reason: String| FormatError::file(path, reason);
    let Some(length) = bytes.first_chunk::<8>() else {
        return Err(refuse(format!("{} bytes are too few for a safetensors file", bytes.len())));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEAD {
        return Err(refuse(format!(
            "not a safetensors file: its head would have {length} bytes, more than {MAX_HEAD}"
        )));
    }
    let data_start = 8 + length as usize;
    let Some(head) = bytes.get(8..data_start) else {
        return Err(refuse(format!("is truncated: the head has {length} bytes, the file {}", bytes.len())));
    };
    let Head(entries) = serde_json::from_slice(head)
        .map_err(|error| refuse(format!("the head of the safetensors file is broken: {error}")))?;
    let mut spans = Spans::new();
    for (name, entry) in entries {
        if is_table(&name, &entry) {
            continue;
        }
        let span = place(&entry, data_start, bytes.len())
            .map_err(|reason| FormatError::tensor(path, &name, reason))?;
        spans.insert(name, span);
    }
    refuse_overlap(path, &spans)?;
    Ok(spans)
}

/// The numbers 0, 1, 2, … that older versions of `transformers` saved as whole numbers beside the weights.
fn is_table(name: &str, entry: &Entry) -> bool {
    entry.dtype == "I64" && name.ends_with("embeddings.position_ids")
}

fn place(entry: &Entry, data_start: usize, file_bytes: usize) -> Result<Span, String> {
    let encoding = Encoding::from_safetensors_name(&entry.dtype)
        .ok_or_else(|| format!("is of type {}; F32, F16 and BF16 can be read", entry.dtype))?;
    let [from, to] = entry.data_offsets;
    let room = file_bytes - data_start;
    if from > to || to > room {
        return Err(format!(
            "bytes {from} to {to} do not lie in the {room} that the file has; is it truncated?"
        ));
    }
    let bytes = byte_length(&entry.shape, encoding)?;
    if to - from != bytes {
        let shape = &entry.shape;
        return Err(format!(
            "shape {shape:?} of {encoding} takes {bytes} bytes, its place has {}",
            to - from
        ));
    }
    Ok(Span { shape: entry.shape.clone(), encoding, start: data_start + from, bytes })
}

/// The head of a file with these tensors in this order, and where the data of each begins, counted from the start of
/// the file. `bytes_for` of each shape must be known to fit.
pub(crate) fn write_head(
    tensors: &[(String, Vec<usize>, Encoding)],
) -> Result<(Vec<u8>, Vec<usize>), String> {
    let mut map = serde_json::Map::new();
    map.insert("__metadata__".to_owned(), serde_json::json!({ "format": "pt" }));
    let mut at = 0_usize;
    let mut starts = Vec::with_capacity(tensors.len());
    for (name, shape, encoding) in tensors {
        let dtype = encoding.safetensors_name().ok_or("blocks are not written to safetensors")?;
        let bytes = byte_length(shape, *encoding)?;
        starts.push(at);
        let entry = Entry { dtype: dtype.to_owned(), shape: shape.clone(), data_offsets: [at, at + bytes] };
        map.insert(name.clone(), serde_json::to_value(entry).map_err(|error| error.to_string())?);
        at += bytes;
    }
    let mut text = serde_json::to_vec(&map).map_err(|error| error.to_string())?;
    // Readers like their data aligned; the format allows spaces after the head.
    while !text.len().is_multiple_of(8) {
        text.push(b' ');
    }
    let mut head = (text.len() as u64).to_le_bytes().to_vec();
    head.extend_from_slice(&text);
    starts.iter_mut().for_each(|start| *start += head.len());
    Ok((head, starts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(head: &str, data: usize) -> Vec<u8> {
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend(std::iter::repeat_n(0, data));
        bytes
    }

    fn check(head: &str, data: usize, message: &str) {
        let error = read_head(Path::new("m.safetensors"), &file(head, data)).unwrap_err().to_string();
        assert!(error.starts_with("m.safetensors"), "{error}");
        assert!(error.contains(message), "{error}");
    }

    #[test]
    fn a_head_that_lies_is_refused_by_the_name_of_the_tensor() {
        let entry = |shape: &str, dtype: &str, from: u64, to: u64| {
            format!(r#"{{"w":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{from},{to}]}}}}"#)
        };
        check(&entry("[2,2]", "F32", 0, 16), 8, "`w`: bytes 0 to 16 do not lie in the 8");
        check(&entry("[2,3]", "F32", 0, 16), 16, "`w`: shape [2, 3] of F32 takes 24 bytes, its place has 16");
        check(&entry("[2]", "I64", 0, 16), 16, "`w`: is of type I64");
        check(&entry("[4294967296,4294967296,4]", "F32", 0, 16), 16, "more values than can be counted");
        check(&entry("[4611686018427387904]", "F32", 0, 16), 16, "more bytes than can be counted");
        check(&entry("[2]", "F32", 8, 0), 16, "`w`: bytes 8 to 0");
        let a = r#""dtype":"F32","shape":[2],"data_offsets":[0,8]"#;
        check(&format!(r#"{{"a":{{{a}}},"a":{{{a}}}}}"#), 8, "`a` is there twice");
        check(&format!(r#"{{"a":{{{a}}},"b":{{{a}}}}}"#), 8, "tensor `b`: its bytes overlap those of `a`");
        check(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}}"#, 8, "`a`: unknown field `x`");
        check("{", 0, "broken");
    }

    #[test]
    fn files_without_a_head_are_refused() {
        let read = |bytes: &[u8]| read_head(Path::new("m"), bytes).unwrap_err().to_string();
        assert!(read(b"abc").contains("3 bytes are too few"));
        assert!(read(&u64::MAX.to_le_bytes()).contains("not a safetensors file"));
        assert!(read(&[100, 0, 0, 0, 0, 0, 0, 0, b'{']).contains("truncated"));
    }

    #[test]
    fn a_written_head_is_read_back() {
        let tensors =
            [("b".to_owned(), vec![2, 3], Encoding::F32), ("a".to_owned(), vec![5], Encoding::Bf16)];
        let (mut bytes, starts) = write_head(&tensors).unwrap();
        assert_eq!(starts, [bytes.len(), bytes.len() + 24]);
        bytes.extend([0; 34]);
        let spans = read_head(Path::new("m"), &bytes).unwrap();
        assert_eq!((spans["b"].start, spans["a"].start, spans["a"].bytes), (starts[0], starts[1], 10));
    }
}
