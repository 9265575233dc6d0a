//! JSON files of a folder.

use crate::FormatError;
use serde_json::{Map, Value};
use std::path::Path;

/// Larger than any tokenizer and any index; more would only fill the memory.
const MAX_BYTES: u64 = 1 << 28;

/// The text of a file; `None` where there is no such file.
pub(crate) fn text(path: &Path) -> Result<Option<String>, FormatError> {
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(FormatError::io("read", path)(error)),
    };
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(FormatError::file(path, format!("must be a file of at most {MAX_BYTES} bytes")));
    }
    std::fs::read_to_string(path).map(Some).map_err(FormatError::io("read", path))
}

/// The map in a file; `None` where there is no such file.
pub(crate) fn map(path: &Path) -> Result<Option<Map<String, Value>>, FormatError> {
    let Some(text) = text(path)? else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        Ok(_) => Err(FormatError::file(path, "must hold a JSON map")),
        Err(error) => Err(FormatError::file(path, format!("is not JSON: {error}"))),
    }
}
