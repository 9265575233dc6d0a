//! The key: read from the environment, sent in one header, and removed from every text that leaves this crate.

use crate::EndpointError;
use http::HeaderValue;
use serde_json::Value;
use std::fmt;

/// What stands in the place of a key.
const REMOVED: &str = "[key removed]";

/// A key that cannot be printed.
#[derive(Clone)]
pub(crate) struct ApiKey {
    key: String,
    /// The key as it looks inside a JSON string.
    escaped: String,
    header: HeaderValue,
}

impl ApiKey {
    /// The key in the environment variable called `name`.
    pub(crate) fn from_env(name: &str) -> Result<Self, EndpointError> {
        let missing = |why: &str| {
            EndpointError::Config(format!("`api_key_env` names `{name}`, which {why}; set it to the key"))
        };
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(missing("cannot be the name of an environment variable"));
        }
        let key = std::env::var_os(name).ok_or_else(|| missing("is not set"))?;
        let key = key.into_string().map_err(|_| missing("is no text"))?;
        Self::new(key.trim()).ok_or_else(|| missing("is empty or holds a character that keys cannot have"))
    }

    fn new(key: &str) -> Option<Self> {
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let mut header = HeaderValue::from_str(&format!("Bearer {key}")).ok()?;
        header.set_sensitive(true);
        let escaped = key.replace('\\', "\\\\").replace('"', "\\\"");
        Some(Self { key: key.to_owned(), escaped, header })
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// `text` without the key, also where the key stands inside a JSON string.
    pub(crate) fn removed_from(&self, text: &str) -> String {
        let text = text.replace(&self.key, REMOVED);
        if self.escaped == self.key { text } else { text.replace(&self.escaped, REMOVED) }
    }

    /// `value` with the key removed from all its texts.
    pub(crate) fn removed_from_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.removed_from(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.removed_from_value(item)).collect(),
            Value::Object(fields) => {
                let clean = |(name, value): (String, Value)| {
                    (self.removed_from(&name), self.removed_from_value(value))
                };
                fields.into_iter().map(clean).collect()
            }
            other => other,
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_removed_wherever_it_stands() {
        let key = ApiKey::new(r#"sk-"a\b"#).unwrap();
        let json = serde_json::json!({ "error": r#"bad sk-"a\b!"# }).to_string();
        assert_eq!(key.removed_from(&json), r#"{"error":"bad [key removed]!"}"#);
        assert_eq!(key.removed_from(r#"sk-"a\b"#), "[key removed]");
        assert_eq!(format!("{key:?}"), "ApiKey(hidden)");
    }

    #[test]
    fn what_cannot_be_a_key_is_refused() {
        for bad in ["", "a b", "a\nb", "schlüssel"] {
            assert!(ApiKey::new(bad).is_none(), "{bad:?}");
        }
    }
}
