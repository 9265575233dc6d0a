//! What an agent asks the web for.

use super::url;
use crate::excerpt::excerpt;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest request, in bytes.
const MAX_LENGTH: usize = 200_000;
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// A request, ready to compare.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    /// In its one spelling.
    pub(super) url: String,
    /// Names in lower case.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default = "get")]
    method: String,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
}

pub(super) fn get() -> String {
    "GET".to_owned()
}

/// A method in upper case, or why it is none.
pub(super) fn method(text: &str) -> Result<String, String> {
    let upper = text.trim().to_ascii_uppercase();
    if METHODS.contains(&upper.as_str()) {
        return Ok(upper);
    }
    Err(format!("no method `{}`; known: {}", excerpt(text, 20), METHODS.join(", ")))
}

impl Request {
    /// Reads JSON, or a URL alone.
    pub(super) fn read(input: &str) -> Result<Self, String> {
        if input.len() > MAX_LENGTH {
            return Err(format!("the request is too long: at most {MAX_LENGTH} bytes"));
        }
        let input = input.trim();
        let wire = if input.starts_with('{') {
            serde_json::from_str(input).map_err(|error| error.to_string())?
        } else {
            let url = input.strip_prefix("GET ").unwrap_or(input).to_owned();
            Wire { method: get(), url, headers: BTreeMap::new(), body: None }
        };
        let lower = |(name, value): (String, String)| (name.to_ascii_lowercase(), value);
        Ok(Self {
            method: method(&wire.method)?,
            url: url::normal(&wire.url)?,
            headers: wire.headers.into_iter().map(lower).collect(),
            body: wire.body.filter(|body| !body.is_null()),
        })
    }
}
