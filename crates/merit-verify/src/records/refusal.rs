//! What is wrong with a piece of JSON from outside, in words: the sentence, the column, and what was probably meant.

use merit_core::registry::nearest;

/// The longest message; keys and strings of the input are part of it.
const MOST_CHARS: usize = 400;

/// The words of an error in one line of input.
pub fn words(error: &serde_json::Error) -> String {
    let full = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = full.strip_suffix(&place).unwrap_or(&full);
    let mut text: String = message.chars().take(MOST_CHARS).collect();
    if message.chars().nth(MOST_CHARS).is_some() {
        text.push('…');
    }
    if full.len() > message.len() {
        text = format!("column {}: {text}", error.column());
    }
    if error.is_syntax() || error.is_eof() {
        text = format!("not JSON: {text}");
    }
    match hint(message) {
        Some(name) => format!("{text} (did you mean `{name}`?)"),
        None => text,
    }
}

/// The nearest of the names that an error about an unknown one lists.
fn hint(message: &str) -> Option<String> {
    let (unknown, known) = message.strip_prefix("unknown ")?.rsplit_once("`, expected ")?;
    let (_, name) = unknown.split_once('`')?;
    nearest(name.get(..64).unwrap_or(name), known.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Record {
        gold: String,
        response: String,
    }

    fn check(text: &str, expected: &str) {
        let error = serde_json::from_str::<Record>(text).expect_err("the text is wrong");
        assert_eq!(words(&error), expected);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_column_and_the_nearest() {
        check(
            r#"{"gold": "1", "respone": "1"}"#,
            "column 23: unknown field `respone`, expected `gold` or `response` (did you mean `response`?)",
        );
    }

    #[test]
    fn a_key_of_a_megabyte_is_not_repeated() {
        let error = serde_json::from_str::<Record>(&format!("{{\"{}\": 1}}", "é`".repeat(1 << 20)));
        assert!(words(&error.expect_err("the key is unknown")).chars().count() < 500);
    }

    #[test]
    fn what_is_no_json_keeps_its_column() {
        check("{\"gold\": ", "not JSON: column 9: EOF while parsing a value");
    }
}
