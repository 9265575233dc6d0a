//! The messages of the protocol: JSON-RPC 2.0, one object each.
//!
//! Parameters and results stay JSON values; the code that knows the method reads them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The versions of the protocol that have sessions, the newest last. From 2026-07-28 on it has none, and servers and our tools
/// keep state per client.
pub(crate) const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
pub(crate) const NEWEST: &str = VERSIONS[VERSIONS.len() - 1];

/// The message is no message.
pub(crate) const PARSE_ERROR: i32 = -32_700;
/// The message is no request of the protocol.
pub(crate) const INVALID_REQUEST: i32 = -32_600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i32 = -32_601;
/// The parameters do not fit the method.
pub(crate) const INVALID_PARAMS: i32 = -32_602;
/// The other side failed.
pub(crate) const INTERNAL_ERROR: i32 = -32_603;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Wants an answer with the same id, a number or a text.
    Request { id: Value, method: String, params: Value },
    /// Wants no answer.
    Notification { method: String, params: Value },
    /// An answer to the request of this id.
    Answer { id: Value, outcome: Result<Value, RpcError> },
}

/// A refusal of the other side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// All members that a message may have.
#[derive(Deserialize)]
struct Members {
    jsonrpc: String,
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<RpcError>,
}

impl Message {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let members: Members = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if members.jsonrpc != "2.0" {
            return Err(format!("`jsonrpc` is {:?} instead of \"2.0\"", members.jsonrpc));
        }
        let Members { id, method, params, result, error, .. } = members;
        match (method, id, result, error) {
            (Some(method), Some(id @ (Value::Number(_) | Value::String(_))), _, _) => {
                Ok(Self::Request { id, method, params })
            }
            (Some(method), None, _, _) => Ok(Self::Notification { method, params }),
            (None, Some(id), Some(result), None) => Ok(Self::Answer { id, outcome: Ok(result) }),
            (None, id, None, Some(error)) => {
                Ok(Self::Answer { id: id.unwrap_or_default(), outcome: Err(error) })
            }
            _ => Err("neither a request nor a notification nor an answer".to_owned()),
        }
    }

    /// As JSON on one line.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let value = match self {
            Self::Request { id, method, params } => {
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            }
            Self::Notification { method, params: Value::Null } => json!({"jsonrpc": "2.0", "method": method}),
            Self::Notification { method, params } => {
                json!({"jsonrpc": "2.0", "method": method, "params": params})
            }
            Self::Answer { id, outcome: Ok(result) } => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Self::Answer { id, outcome: Err(error) } => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        value.to_string().into_bytes()
    }

    /// Our answer to a request of a server: it may see whether we are there, and nothing else is offered to it (no sampling, no
    /// files, no questions).
    pub(crate) fn answer_of_client(id: Value, method: &str) -> Self {
        let outcome = match method {
            "ping" => Ok(json!({})),
            other => Err(RpcError::new(METHOD_NOT_FOUND, format!("this client has no `{other}`"))),
        };
        Self::Answer { id, outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn same(text: &str, message: Message) {
        assert_eq!(Message::parse(text.as_bytes()).unwrap(), message);
        assert_eq!(Message::parse(&message.to_bytes()).unwrap(), message);
    }

    #[test]
    fn what_is_written_is_read() {
        let ping = || "ping".to_owned();
        same(
            r#"{"jsonrpc": "2.0", "id": "a", "method": "ping"}"#,
            Message::Request { id: json!("a"), method: ping(), params: Value::Null },
        );
        same(
            r#"{"jsonrpc": "2.0", "method": "ping", "params": {"x": 1}}"#,
            Message::Notification { method: ping(), params: json!({"x": 1}) },
        );
        same(
            r#"{"jsonrpc": "2.0", "id": 7, "result": {}}"#,
            Message::Answer { id: json!(7), outcome: Ok(json!({})) },
        );
        same(
            r#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?", "data": 1}}"#,
            Message::Answer { id: Value::Null, outcome: Err(RpcError::new(PARSE_ERROR, "what?")) },
        );
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_reason() {
        let check = |text: &str, expected: &str| {
            let error = Message::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("hello", "expected value");
        check(r#"{"a": 1}"#, "missing field `jsonrpc`");
        check(r#"{"jsonrpc": "1.0", "method": "x"}"#, "\"1.0\"");
        check(r#"{"jsonrpc": "2.0", "id": 1}"#, "neither");
        check(r#"{"jsonrpc": "2.0", "id": {}, "method": "x"}"#, "neither");
    }
}
