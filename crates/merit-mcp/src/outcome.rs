//! What the agent sees of an answer: text, with everything else described in words.

use merit_net::text::head;
use serde_json::Value;

/// The longest text of one answer that is passed on, in bytes; the rest is cut, with a note.
pub const MAX_TEXT: usize = 1 << 20;

/// What came of a call that the server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOutcome {
    /// The text of the answer; images, audio and other files described in words.
    pub text: String,
    /// The tool says that the call was wrong: the agent's doing, and the text says what to do better.
    pub is_error: bool,
}

impl CallOutcome {
    pub(crate) fn wrong(text: &str) -> Self {
        Self { text: capped(text.to_owned()), is_error: true }
    }
}

impl CallOutcome {
    /// Nothing when the result is not one of a call.
    pub(crate) fn of_result(result: &Value) -> Option<Self> {
        let structured = result.get("structuredContent").filter(|value| !value.is_null());
        let blocks = match result.get("content") {
            Some(content) => content.as_array()?.as_slice(),
            None => structured.map(|_| Default::default())?,
        };
        let mut parts: Vec<String> = blocks.iter().map(in_words).collect::<Option<_>>()?;
        let has_text = blocks.iter().any(|block| field(block, "type") == Some("text"));
        // A structured answer is repeated as text by servers that follow the advice of the protocol; then once is enough.
        if let Some(value) = structured.filter(|_| !has_text) {
            parts.insert(0, value.to_string());
        }
        let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
        Some(Self { text: capped(parts.join("\n")), is_error })
    }
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// A part of an answer; nothing when it lacks what its kind has.
fn in_words(block: &Value) -> Option<String> {
    match field(block, "type")? {
        "text" => field(block, "text").map(str::to_owned),
        "image" | "audio" => Some(file(field(block, "mimeType")?, field(block, "data")?)),
        "resource" => resource(block.get("resource")?),
        "resource_link" => linked(block),
        _ => Some("[content of an unknown kind]".to_owned()),
    }
}

fn resource(contents: &Value) -> Option<String> {
    let uri = field(contents, "uri")?;
    if let Some(text) = field(contents, "text") {
        return Some(format!("[resource {uri}]\n{text}"));
    }
    let (kind, blob) = (field(contents, "mimeType").unwrap_or("unknown kind"), field(contents, "blob")?);
    Some(format!("[resource {uri}, {kind}, {} bytes]", decoded_length(blob)))
}

fn linked(link: &Value) -> Option<String> {
    let (uri, name) = (field(link, "uri")?, field(link, "name")?);
    Some(match field(link, "description") {
        Some(description) => format!("[link to {uri}: {name}, {description}]"),
        None => format!("[link to {uri}: {name}]"),
    })
}

fn file(kind: &str, base64: &str) -> String {
    format!("[{kind}, {} bytes]", decoded_length(base64))
}

/// How many bytes base64 text stands for: three for every four characters, less the padding.
fn decoded_length(base64: &str) -> usize {
    let significant = base64.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    significant / 4 * 3 + (significant % 4).saturating_sub(1)
}

fn capped(text: String) -> String {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let kept = head(&text, MAX_TEXT);
    format!("{kept}\n[cut: the first {} of {} bytes]", kept.len(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(result: Value, text: &str, is_error: bool) {
        let got = CallOutcome::of_result(&result);
        assert_eq!(got, Some(CallOutcome { text: text.to_owned(), is_error }));
    }

    #[test]
    fn an_answer_is_text_and_the_rest_is_described() {
        check(
            json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            "a\nb",
            false,
        );
        check(
            json!({"content": [{"type": "text", "text": "no"}], "isError": true, "structuredContent": {"x": 1}}),
            "no",
            true,
        );
        check(json!({"content": [], "structuredContent": {"x": 1}}), r#"{"x":1}"#, false);
        // "aGVsbG8=" is "hello".
        check(
            json!({"content": [{"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}]}),
            "[image/png, 5 bytes]",
            false,
        );
        check(
            json!({"content": [{"type": "resource", "resource": {"uri": "file:///x", "text": "hi"}}]}),
            "[resource file:///x]\nhi",
            false,
        );
        check(
            json!({"content": [{"type": "resource_link", "uri": "file:///x", "name": "x"}]}),
            "[link to file:///x: x]",
            false,
        );
    }

    #[test]
    fn what_is_no_result_of_a_call_is_none() {
        assert_eq!(CallOutcome::of_result(&json!({"colour": "green"})), None);
        assert_eq!(CallOutcome::of_result(&json!({"content": "green"})), None);
        assert_eq!(CallOutcome::of_result(&json!({"content": [{"type": "text"}]})), None);
        assert_eq!(CallOutcome::of_result(&json!({"content": [{"type": "image", "data": "aaaa"}]})), None);
    }

    #[test]
    fn a_long_answer_is_cut_with_a_note() {
        let long = "é".repeat(MAX_TEXT);
        let text = CallOutcome::wrong(&long).text;
        assert!(text.ends_with(&format!("[cut: the first {MAX_TEXT} of {} bytes]", long.len())), "no note");
        assert!(text.len() < MAX_TEXT + 100);
    }
}
