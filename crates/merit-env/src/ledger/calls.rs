//! Calls as JSON: `{"lookup":"mug"}` instead of `lookup mug`.

use merit_core::{Seed, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool that is called by what begins as JSON and is no call. There is none of this name, so that it is refused.
pub(super) const UNREAD: &str = "unread";
const MAX_NAME: usize = 16;

/// How calls are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallForm {
    /// A line, the tool before its input: `lookup mug`.
    #[default]
    Line,
    /// A JSON object with one key, the tool: `{"lookup":"mug"}`.
    Json,
}

impl CallForm {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(super) fn is_line(&self) -> bool {
        *self == Self::Line
    }
}

/// The call that a line is. Absent: it is not even meant as one.
pub(super) fn read(line: &str) -> Option<ToolCall> {
    let unread = || ToolCall { tool: UNREAD.to_owned(), input: line.to_owned() };
    line.starts_with('{').then(|| called(line).unwrap_or_else(unread))
}

fn called(line: &str) -> Option<ToolCall> {
    let Ok(Value::Object(object)) = serde_json::from_str(line) else { return None };
    let mut entries = object.into_iter();
    let (Some((tool, value)), None) = (entries.next(), entries.next()) else { return None };
    let is_name = (1..=MAX_NAME).contains(&tool.len()) && tool.bytes().all(|byte| byte.is_ascii_lowercase());
    let input = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (is_name && tool != UNREAD).then_some(ToolCall { tool, input })
}

/// A call as a line.
pub(super) fn written(call: &ToolCall) -> String {
    if call.tool == UNREAD { call.input.clone() } else { json!({ &call.tool: &call.input }).to_string() }
}

/// The line of a call with something left out, so that it is none.
pub(super) fn broken(line: &str, seed: &Seed) -> String {
    let mut stream = seed.stream();
    match stream.below(4) {
        0 => line.trim_end_matches('}').to_owned(),
        1 => line.replacen(':', " ", 1),
        2 => line.replacen("\":\"", ":\"", 1),
        _ => line.replacen("\"}", "}", 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, input: &str) -> Option<ToolCall> {
        Some(ToolCall { tool: tool.to_owned(), input: input.to_owned() })
    }

    #[test]
    fn what_begins_as_json_is_a_call_or_is_refused_as_one() {
        assert_eq!(read(r#"{"lookup":"mug"}"#), call("lookup", "mug"));
        assert_eq!(read(r#"{ "calc" : 3 }"#), call("calc", "3"));
        assert_eq!((read("lookup mug"), read("")), (None, None));
        for odd in [
            r#"{"lookup":"mug""#,
            r#"{"lookup":{}}"#,
            "{}",
            r#"{"a":"b","c":"d"}"#,
            r#"{"unread":"x"}"#,
            r#"{"Look up":"mug"}"#,
        ] {
            assert_eq!(read(odd), call(UNREAD, odd));
        }
    }

    #[test]
    fn a_written_call_is_read_again_and_a_broken_one_is_not() {
        for (tool, input) in [("lookup", "mug"), ("sql", "price<40"), ("calc", "\"\\")] {
            let call = call(tool, input).unwrap();
            assert_eq!(read(&written(&call)), Some(call));
        }
        for number in 0..40 {
            let line = broken(r#"{"sql":"price<40"}"#, &Seed::root(number));
            assert_eq!(read(&line), call(UNREAD, &line));
            assert_eq!(written(&read(&line).unwrap()), line);
        }
    }
}
