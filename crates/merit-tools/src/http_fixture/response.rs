//! What comes back, as an agent reads it.

use crate::excerpt::head;
use merit_core::canonical;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A response as it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HttpResponse {
    /// The status; 200 where absent.
    pub status: u16,
    /// Headers to show.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A text as it is, or JSON, which is shown in one line with its keys in order. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

impl Default for HttpResponse {
    fn default() -> Self {
        Self { status: 200, headers: BTreeMap::new(), body: None }
    }
}

impl HttpResponse {
    pub(super) fn check(&self) -> Result<(), String> {
        let has_break = |text: &String| text.contains(['\r', '\n']);
        if self.headers.iter().any(|(name, value)| name.is_empty() || has_break(name) || has_break(value)) {
            return Err("a header has no name, or a line break in it".to_owned());
        }
        if (100..600).contains(&self.status) {
            Ok(())
        } else {
            Err(format!("its status is {}; give 100 to 599", self.status))
        }
    }

    /// Status line, headers, an empty line, and at most `bytes` bytes of the body; none of it for a HEAD request.
    pub(super) fn text(&self, is_head: bool, bytes: usize) -> String {
        let mut shown = status_line(self.status);
        for (name, value) in &self.headers {
            shown.push_str(&format!("\n{}: {value}", name.to_ascii_lowercase()));
        }
        let body = match &self.body {
            None => return shown,
            Some(_) if is_head => return shown,
            Some(Value::String(text)) => text.clone(),
            Some(other) => canonical(other),
        };
        let part = head(&body, bytes);
        shown.push_str("\n\n");
        shown.push_str(part);
        if part.len() < body.len() {
            shown.push_str(&format!("\n… {} more bytes", body.len() - part.len()));
        }
        shown
    }
}

pub(super) fn status_line(status: u16) -> String {
    let words = match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => return status.to_string(),
    };
    format!("{status} {words}")
}
