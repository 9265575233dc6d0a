//! From a server's "no" to what it means: the reason in its own words, and whether the conversation was too long.
//!
//! In: status, headers and body, or an error inside a stream. Out: a [`Trouble`]. Servers agree on little, so several places are
//! looked at, and a body that is no JSON is shown as it is.

use crate::secret::ApiKey;
use crate::trouble::Trouble;
use http::{HeaderMap, StatusCode, header};
use merit_net::text::glimpse;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The longest report of a server's own words, in bytes.
const MAX_WORDS: usize = 500;
/// Most of a refusal that is read, in bytes.
pub(crate) const MAX_REFUSAL: usize = 64 << 10;

/// What is said, by word or by type, when a conversation is too long.
const TOO_LONG: [&str; 10] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_exceeded",
    "maximum context length",
    "model's context length",
    "context size",
    "context window",
    "maximum model length",
    "prompt is too long",
    "max_model_len",
];

/// What a response with a status outside 200–299 means.
pub(crate) fn of_response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    key: Option<&ApiKey>,
    now: SystemTime,
) -> Trouble {
    if status.is_redirection() {
        let to = headers.get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
        let message = format!("it redirects to {to}; put the right address into `base_url`");
        return Trouble::Status { status, message: shown(&message, key), retry_after: None };
    }
    let text = String::from_utf8_lossy(body);
    let retry_after = headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| retry_after(value, now));
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => of_value(status, &value, retry_after, key),
        Err(_) => of_words(status, &text, retry_after, key),
    }
}

/// An error that came inside a stream, where the status was sent long ago.
pub(crate) fn of_event(value: &Value, key: Option<&ApiKey>) -> Trouble {
    let code = ["code", "status"].into_iter().find_map(|name| error_of(value).get(name)?.as_u64());
    let status = code.and_then(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok());
    // A code that is no failure, or none at all: the server failed inside.
    let status = status.filter(|status| status.as_u16() >= 400).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    of_value(status, value, None, key)
}

/// The object that describes the error, wherever it is.
fn error_of(value: &Value) -> &Value {
    value.get("error").filter(|error| error.is_object()).unwrap_or(value)
}

fn of_value(
    status: StatusCode,
    value: &Value,
    retry_after: Option<Duration>,
    key: Option<&ApiKey>,
) -> Trouble {
    let error = error_of(value);
    let said = ["message", "detail", "error", "msg"].into_iter().find_map(|name| error.get(name));
    let words = match said {
        // Ollama hands on the refusal of the server behind it, whole, as words.
        Some(Value::String(words)) => match serde_json::from_str::<Value>(words) {
            Ok(inner) if inner.get("error").is_some_and(Value::is_object) => {
                return of_value(status, &inner, retry_after, key);
            }
            _ => words.clone(),
        },
        Some(other) => other.to_string(),
        None => value.to_string(),
    };
    let labels: Vec<&str> = ["code", "type"].iter().filter_map(|name| error.get(name)?.as_str()).collect();
    if is_overflow(status, &format!("{} {words}", labels.join(" "))) {
        let limit = error.get("n_ctx").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.or_else(|| limit_in(&words));
        return Trouble::Overflow { limit, message: shown(&words, key) };
    }
    Trouble::Status { status, message: shown(&words, key), retry_after }
}

fn of_words(status: StatusCode, text: &str, retry_after: Option<Duration>, key: Option<&ApiKey>) -> Trouble {
    if is_overflow(status, text) {
        return Trouble::Overflow { limit: limit_in(text), message: shown(text, key) };
    }
    let words = if text.trim().is_empty() { "it gives no reason" } else { text.trim() };
    Trouble::Status { status, message: shown(words, key), retry_after }
}

/// The key is removed first: a cut through its middle would hide it from the removal.
fn shown(words: &str, key: Option<&ApiKey>) -> String {
    match key {
        Some(key) => glimpse(&key.removed_from(words), MAX_WORDS),
        None => glimpse(words, MAX_WORDS),
    }
}

fn is_overflow(status: StatusCode, words: &str) -> bool {
    // Some servers say it with 500; with 429 or 401 the words mean something else.
    let fits = matches!(status.as_u16(), 400 | 413 | 422 | 500);
    let words = words.to_lowercase();
    fits && TOO_LONG.iter().any(|sign| words.contains(sign))
}

/// The limit in words such as "maximum context length is 4096 tokens" or "context size (4096 tokens)".
fn limit_in(words: &str) -> Option<usize> {
    let words = words.to_lowercase();
    let names = ["context length", "context size", "context window", "model length", "max_model_len"];
    let after = names.iter().find_map(|name| words.split_once(name))?.1;
    let start = after.find(|c: char| c.is_ascii_digit()).filter(|&at| at <= 16)?;
    let digits: String = after.get(start..)?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// How long a Retry-After asks to wait: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    // A date that has passed asks to wait no longer.
    httpdate::parse_http_date(value).ok().map(|at| at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_overflow(status: u16, body: &Value, expected: Option<Option<usize>>) {
        let status = StatusCode::from_u16(status).unwrap();
        let body = body.to_string();
        let got = of_response(status, &HeaderMap::new(), body.as_bytes(), None, SystemTime::UNIX_EPOCH);
        let limit = match got {
            Trouble::Overflow { limit, .. } => Some(limit),
            _ => None,
        };
        assert_eq!(limit, expected, "{body}");
    }

    #[test]
    fn a_conversation_that_is_too_long_is_recognised() {
        let hosted = "This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens.";
        check_overflow(400, &json!({ "error": { "message": hosted } }), Some(Some(4097)));
        let coded = json!({ "error": { "message": "too much", "code": "context_length_exceeded" } });
        check_overflow(400, &coded, Some(None));
        let llama = json!({ "error": { "message": "the request exceeds the available context size",
                                       "type": "exceed_context_size_error", "n_ctx": 512 } });
        check_overflow(400, &llama, Some(Some(512)));
        let sglang = "The input (9000 tokens) is longer than the model's context length (8192 tokens).";
        check_overflow(400, &json!({ "object": "error", "message": sglang }), Some(Some(8192)));
        check_overflow(429, &json!({ "error": { "message": hosted } }), None);
        check_overflow(400, &json!({ "error": { "message": "no such field" } }), None);
    }

    #[test]
    fn a_wait_is_read_from_seconds_and_from_dates() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let seconds = |value: &str| retry_after(value, now).map(|span| span.as_secs_f64());
        assert_eq!(seconds(" 7 "), Some(7.0));
        assert_eq!(seconds("0.5"), Some(0.5));
        // 784111777 seconds after the epoch.
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(7.0));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:40:00 GMT"), Some(0.0));
        for nonsense in ["", "soon", "-1", "NaN", "inf"] {
            assert_eq!(seconds(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn reasons_are_found_where_servers_put_them() {
        let reason = |body: &str| {
            let status = StatusCode::BAD_REQUEST;
            of_response(status, &HeaderMap::new(), body.as_bytes(), None, SystemTime::UNIX_EPOCH).in_words()
        };
        assert_eq!(reason(r#"{"error":{"message":"bad field"}}"#), "HTTP 400: bad field");
        assert_eq!(reason(r#"{"error":"bad field"}"#), "HTTP 400: bad field");
        assert_eq!(reason(r#"{"detail":[{"loc":["body"]}]}"#), r#"HTTP 400: [{"loc":["body"]}]"#);
        assert_eq!(reason("<h1>no\nway</h1>"), "HTTP 400: <h1>no way</h1>");
        assert_eq!(reason(""), "HTTP 400: it gives no reason");
        assert!(reason(&"x".repeat(5000)).len() < 600);
    }
}
