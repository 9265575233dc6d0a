//! Settings of a model, from `config.json` or from GGUF metadata, read one by one.
//!
//! In: a map. Out: checked values, and at the end the keys that were not read. A null counts as absent.

use crate::FormatError;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A map of settings that remembers which were read.
#[derive(Debug)]
pub(crate) struct Settings {
    path: PathBuf,
    /// Put before keys in messages, as `text_config.`.
    prefix: String,
    map: Map<String, Value>,
    read: RefCell<BTreeSet<String>>,
}

impl Settings {
    pub(crate) fn new(path: &Path, prefix: &str, map: Map<String, Value>) -> Self {
        Self { path: path.to_path_buf(), prefix: prefix.to_owned(), map, read: RefCell::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn error(&self, key: &str, reason: impl Into<String>) -> FormatError {
        FormatError::key(&self.path, &format!("{}{key}", self.prefix), reason)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(key.to_owned());
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn typed<T>(
        &self,
        key: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, FormatError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        read(value)
            .map(Some)
            .ok_or_else(|| self.error(key, format!("must be {what}, not {}", shorten(value))))
    }

    /// A whole number from 0.
    pub(crate) fn size(&self, key: &str) -> Result<Option<usize>, FormatError> {
        self.typed(key, "a whole number from 0", |v| v.as_u64().and_then(|n| usize::try_from(n).ok()))
    }

    /// A whole number, or an error if it is missing.
    pub(crate) fn required_size(&self, key: &str) -> Result<usize, FormatError> {
        self.size(key)?.ok_or_else(|| self.error(key, "is missing"))
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<f32>, FormatError> {
        self.typed(key, "a number", |v| v.as_f64().map(|n| n as f32))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, FormatError> {
        self.typed(key, "true or false", Value::as_bool)
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, FormatError> {
        self.typed(key, "a text", |v| v.as_str().map(str::to_owned))
    }

    /// A map inside this one.
    pub(crate) fn inner(&self, key: &str) -> Result<Option<Self>, FormatError> {
        let map = self.typed(key, "a map", |v| v.as_object().cloned())?;
        Ok(map.map(|map| Self::new(&self.path, &format!("{}{key}.", self.prefix), map)))
    }

    /// A number that may be given once or once per layer, if it is the same in all.
    pub(crate) fn size_of_layers(&self, key: &str) -> Result<Option<usize>, FormatError> {
        let Some(Value::Array(list)) = self.get(key) else { return self.size(key) };
        let Some(first) = list.first().and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()) else {
            return Err(self.error(key, "must be a number or a list of numbers"));
        };
        if list.iter().any(|value| value.as_u64() != Some(first as u64)) {
            return Err(self.error(key, "differs between layers; decoders with unlike layers are not run"));
        }
        Ok(Some(first))
    }

    /// Refuses a setting that is on: anything but null, false, 0 or an empty list or map.
    pub(crate) fn must_be_off(&self, key: &str, why: &str) -> Result<(), FormatError> {
        let off = match self.get(key) {
            None | Some(Value::Null | Value::Bool(false)) => true,
            Some(Value::Number(number)) => number.as_f64() == Some(0.0),
            Some(Value::Array(list)) => list.is_empty(),
            Some(Value::Object(map)) => map.is_empty(),
            Some(_) => false,
        };
        if off {
            return Ok(());
        }
        let value = self.map.get(key).map(shorten).unwrap_or_default();
        Err(self.error(key, format!("is {value}; {why}")))
    }

    /// Keys that were not read and that are not in `harmless`.
    pub(crate) fn unread(&self, harmless: &[&str]) -> Vec<String> {
        let read = self.read.borrow();
        let unread = |key: &&String| !read.contains(*key) && !harmless.contains(&key.as_str());
        self.map.keys().filter(unread).map(|key| format!("{}{key}", self.prefix)).collect()
    }
}

/// A value for a message, cut where it is long.
pub(crate) fn shorten(value: &Value) -> String {
    merit_core::printable::beginning(&value.to_string(), 60)
}
