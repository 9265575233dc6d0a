//! What a reader expected, in the words of a file rather than of a program.

use crate::registry::nearest;

/// The message of serde's with plain words for what was expected; `table` is what keys with values are called in the format.
///
/// ```
/// use merit_core::expected::plain;
/// assert_eq!(plain("invalid type: string \"a\", expected f64", "section"), "invalid type: string \"a\", expected a number");
/// assert_eq!(plain("invalid length 1, expected struct Line with 3 elements", "object"), "invalid length 1, expected an object");
/// ```
pub fn plain(message: &str, table: &str) -> String {
    let Some((head, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let article = if table.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let of = |words: &str| format!("{head}, expected {words}");
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => of(whole(head, expected)),
        "f32" | "f64" => of("a number"),
        "a boolean" => of("true or false"),
        "a string" => of("a text"),
        "a sequence" => of("a list"),
        "a map" => of(&format!("{article} {table}")),
        shape if shape.starts_with("struct ") => of(&format!("{article} {table}")),
        shape if shape.starts_with("internally tagged enum ") => {
            of(&format!("{article} {table} with a `type`"))
        }
        shape if shape.starts_with("enum ") => of(&format!("a name, or {article} {table}")),
        _ => message.to_owned(),
    }
}

/// A whole number that is refused although it is not below 0 is too large.
fn whole(head: &str, width: &str) -> &'static str {
    let number = head.split('`').nth(1).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    match (number, width) {
        (Some(_), "u8") => "a whole number from 0 to 255",
        (Some(_), "u16") => "a whole number from 0 to 65535",
        (Some(_), "u32") => "a whole number from 0 to 4294967295",
        _ => "a whole number, 0 or above",
    }
}

/// The same for a line of JSON, with the column in place of the line that is always the first, and the name that was probably meant.
pub fn of_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, column) = match text.rsplit_once(" at line 1 column ") {
        Some((what, "0")) => (what, None),
        Some((what, column)) => (what, Some(column)),
        None => (text.as_str(), None),
    };
    let mut words = plain(what, "object");
    if what.starts_with("unknown ") {
        let quoted: Vec<&str> = what.split('`').skip(1).step_by(2).collect();
        let meant = quoted.split_first().and_then(|(name, known)| nearest(name, known.iter().copied()));
        words.extend(meant.map(|name| format!(" (did you mean `{name}`?)")));
    }
    words.extend(column.map(|column| format!(" (column {column})")));
    words
}
