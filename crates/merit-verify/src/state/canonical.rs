//! The canonical form of a state: what is ignored is gone, unordered arrays are sorted, and its spelling is hashed.

use super::config::StateConfig;
use crate::json::canonical::spell;
use crate::json::path::{Pointer, named};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;

/// SHA-256 of a state's canonical spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct StateHash(pub [u8; 32]);

impl StateHash {
    pub(super) fn of(spelling: &str) -> Self {
        Self(Sha256::digest(spelling.as_bytes()).into())
    }
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<StateHash> for String {
    fn from(hash: StateHash) -> Self {
        hash.to_string()
    }
}

/// A hash that is not written as 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a state hash: 64 hex digits are needed")]
pub struct BadHash(String);

impl TryFrom<String> for StateHash {
    type Error = BadHash;

    fn try_from(text: String) -> Result<Self, BadHash> {
        let mut bytes = [0u8; 32];
        let is_hex = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        for (i, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * i..2 * i + 2).filter(|_| is_hex);
            *byte =
                digits.and_then(|d| u8::from_str_radix(d, 16).ok()).ok_or_else(|| BadHash(text.clone()))?;
        }
        Ok(Self(bytes))
    }
}

/// The state without what is ignored, its unordered arrays sorted by the spelling of their elements.
pub(super) fn canonical(config: &StateConfig, state: &Value) -> Value {
    normal(config, state, &mut Pointer::default())
}

fn normal(config: &StateConfig, value: &Value, at: &mut Pointer) -> Value {
    match value {
        Value::Array(items) => {
            let mut kept = Vec::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                let mark = at.index(i);
                if !named(&config.ignore, at.as_str()) {
                    kept.push(normal(config, item, at));
                }
                at.back(mark);
            }
            if named(&config.unordered, at.as_str()) {
                kept.sort_by_cached_key(|item| spell(item, config.numbers));
            }
            Value::Array(kept)
        }
        Value::Object(map) => {
            let mut kept = Map::new();
            for (key, item) in map {
                let mark = at.key(key);
                if !named(&config.ignore, at.as_str()) {
                    kept.insert(key.clone(), normal(config, item, at));
                }
                at.back(mark);
            }
            Value::Object(kept)
        }
        scalar => scalar.clone(),
    }
}
