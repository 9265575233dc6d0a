//! What the agent sees of an answer: text, with everything else described in words.

use crate::text::head;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};

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

impl From<CallToolResult> for CallOutcome {
    fn from(result: CallToolResult) -> Self {
        let mut parts: Vec<String> = result.content.iter().map(in_words).collect();
        let has_text = result.content.iter().any(|block| matches!(block, ContentBlock::Text(_)));
        // A structured answer is repeated as text by servers that follow the advice of the protocol; then once is enough.
        if let Some(value) = result.structured_content.filter(|_| !has_text) {
            parts.insert(0, value.to_string());
        }
        Self { text: capped(parts.join("\n")), is_error: result.is_error.unwrap_or(false) }
    }
}

fn in_words(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => file(&image.mime_type, &image.data),
        ContentBlock::Audio(audio) => file(&audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => linked(link),
        _ => "[content of an unknown kind]".to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.as_deref().unwrap_or("unknown kind");
            format!("[resource {uri}, {kind}, {} bytes]", decoded_length(blob))
        }
        _ => "[resource of an unknown kind]".to_owned(),
    }
}

fn linked(link: &Resource) -> String {
    match &link.description {
        Some(description) => format!("[link to {}: {}, {description}]", link.uri, link.name),
        None => format!("[link to {}: {}]", link.uri, link.name),
    }
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
    use serde_json::{Value, json};

    fn check(result: Value, text: &str, is_error: bool) {
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        assert_eq!(CallOutcome::from(result), CallOutcome { text: text.to_owned(), is_error });
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
    fn a_long_answer_is_cut_with_a_note() {
        let long = "é".repeat(MAX_TEXT);
        let text = CallOutcome::wrong(&long).text;
        assert!(text.ends_with(&format!("[cut: the first {MAX_TEXT} of {} bytes]", long.len())), "no note");
        assert!(text.len() < MAX_TEXT + 100);
    }
}
