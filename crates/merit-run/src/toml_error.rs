//! What is wrong with a recipe, where, and what was probably meant.
//!
//! In: the text and serde's error. Out: file, line, column, a sentence and the nearest known name. serde loses the place of
//! a key inside a tagged table, so the key is looked up again in the parsed document.

use merit_core::registry::nearest;
use merit_core::settings::ReadError;
use std::fmt;
use std::ops::Range;

/// An error at a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file, or what stands for it.
    pub file: String,
    /// Line and column from 1. Absent: the error is about the whole.
    pub place: Option<(usize, usize)>,
    pub message: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (did you mean `{hint}`?)"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Located {}

impl Located {
    /// An error about a part that was put together from `file`, placed where the offending name stands in `text`.
    pub(crate) fn placed_in(self, file: &str, text: &str) -> Self {
        let (_, complaint) = components_named(&self.message);
        let name = complaint.split('`').nth(1).filter(|_| complaint.starts_with("unknown "));
        let span = name.and_then(|name| find_in_document(text, name, None));
        let part = self.file.strip_prefix(file).map(|rest| rest.trim_start_matches(": ").to_owned());
        match (span, part) {
            (Some(span), Some(part)) => Self {
                file: file.to_owned(),
                place: Some(line_and_column(text, span.start)),
                message: format!("{part}: {}", self.message),
                hint: self.hint,
            },
            _ => self,
        }
    }
}

/// A complaint about a part of `file`, placed where the name it quotes stands in `text`.
pub fn complaint(file: &str, part: &str, message: &str, text: &str) -> Located {
    let (_, complaint) = components_named(message);
    let quoted: Vec<&str> = complaint.split('`').skip(1).step_by(2).collect();
    let unknown = complaint.starts_with("unknown ") && !complaint.contains("(did you mean ");
    let hint = quoted.split_first().filter(|_| unknown);
    let hint = hint.and_then(|(name, known)| nearest(name, known.iter().copied()));
    let file_and_part = format!("{file}: {part}");
    Located { file: file_and_part, place: None, message: message.to_owned(), hint }.placed_in(file, text)
}

/// Places `error` in `text`.
pub fn locate(file: &str, text: &str, error: &ReadError) -> Located {
    let message = merit_core::expected::plain(error.message(), "section");
    let (components, complaint) = components_named(&message);
    let quoted: Vec<&str> = complaint.split('`').skip(1).step_by(2).collect();
    let unknown = complaint.starts_with("unknown ");
    let hint = if unknown && !complaint.contains("(did you mean ") {
        quoted.split_first().and_then(|(name, known)| nearest(name, known.iter().copied()))
    } else {
        None
    };
    let name = if unknown { quoted.first().copied() } else { components.last().copied() };
    let span = name.and_then(|name| find_in_document(text, name, error.span())).or_else(|| error.span());
    let place = span.map(|s| line_and_column(text, s.start));
    Located { file: file.to_owned(), place, hint, message }
}

/// The components that a message names at its head, the outermost first, and what it says of the innermost:
/// "`sum`: `cost`: unknown field …".
pub(crate) fn components_named(message: &str) -> (Vec<&str>, &str) {
    let (mut components, mut rest) = (Vec::new(), message);
    while let Some((name, behind)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'))
        && let Some(behind) = behind.strip_prefix(": ")
    {
        components.push(name);
        rest = behind;
    }
    (components, rest)
}

/// The line and column of a byte offset, from 1.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
    (line, column)
}

/// Where `name` stands in the document as a key or as a string value; inside `within` when serde knew that much.
fn find_in_document(text: &str, name: &str, within: Option<Range<usize>>) -> Option<Range<usize>> {
    let document = toml::de::DeTable::parse(text).ok()?;
    let mut found = Vec::new();
    collect_table(document.get_ref(), name, &mut found);
    let inside =
        |span: &Range<usize>| within.as_ref().is_none_or(|w| w.start <= span.start && span.end <= w.end);
    found.iter().find(|span| inside(span)).or_else(|| found.first()).cloned()
}

fn collect_table(table: &toml::de::DeTable<'_>, name: &str, found: &mut Vec<Range<usize>>) {
    for (key, value) in table.iter() {
        if key.get_ref() == name {
            found.push(key.span());
        }
        collect_value(value, name, found);
    }
}

fn collect_value(value: &toml::Spanned<toml::de::DeValue<'_>>, name: &str, found: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        toml::de::DeValue::Table(table) => collect_table(table, name, found),
        toml::de::DeValue::Array(items) => items.iter().for_each(|item| collect_value(item, name, found)),
        toml::de::DeValue::String(text) if text == name => found.push(value.span()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Outer {
        steps: u32,
        credit: Credit,
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "type", rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only parsed")]
    enum Credit {
        Grpo(Grpo),
        Gae,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Grpo {
        scale_by_std: bool,
    }

    fn check(text: &str, expected: &str) {
        let error = merit_core::settings::from_toml::<Outer>(text).expect_err("the text is wrong");
        assert_eq!(locate("r.toml", text, &error).to_string(), expected);
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_place_and_the_nearest() {
        check(
            "step = 3\n[credit]\ntype = \"gae\"\n",
            "r.toml:1:1: unknown field `step`, expected `steps` or `credit` (did you mean `steps`?)",
        );
    }

    #[test]
    fn a_key_inside_a_tagged_table_keeps_its_place() {
        check(
            "steps = 3\n[credit]\ntype = \"grpo\"\nscale_by_sdt = true\n",
            "r.toml:4:1: unknown field `scale_by_sdt`, expected `scale_by_std` (did you mean `scale_by_std`?)",
        );
    }

    #[test]
    fn what_was_expected_is_said_in_plain_words() {
        check(
            "steps = \"many\"\n[credit]\ntype = \"gae\"\n",
            "r.toml:1:9: invalid type: string \"many\", expected a whole number, 0 or above",
        );
    }

    #[test]
    fn a_misspelt_component_is_named_with_its_place_and_the_nearest() {
        check(
            "steps = 3\n[credit]\ntype = \"grop\"\n",
            "r.toml:3:8: unknown variant `grop`, expected `grpo` or `gae` (did you mean `grpo`?)",
        );
    }

    #[test]
    fn what_a_component_complains_of_is_placed_where_the_component_stands() {
        let text =
            "type = \"sum\"\nof = [\n  { type = \"format\" },\n  { type = \"cost\", per_turn = -1.0 },\n]\n";
        let error = merit_graders::from_toml(text).expect_err("the cost is negative");
        let located = locate("r.toml", text, &error).to_string();
        assert!(located.starts_with("r.toml:4:12: `sum`: `cost`: `per_turn` is -1; it must be"), "{located}");
        let text = text.replace("per_turn = -1.0", "per_trun = 1.0");
        let error = merit_graders::from_toml(&text).expect_err("the key is misspelt");
        let located = locate("r.toml", &text, &error).to_string();
        let want = "r.toml:4:20: `sum`: `cost`: unknown field `per_trun`, expected one of `per_token`, `per_turn`, `per_call`, `name`, `weight`, `on_parse_failure`, `errors` (did you mean `per_turn`?)";
        assert_eq!(located, want);
        let text = text.replace("\"cost\"", "\"cots\"");
        let error = merit_graders::from_toml(&text).expect_err("the term is misspelt");
        let located = locate("r.toml", &text, &error).to_string();
        let want = "r.toml:4:12: `sum`: unknown reward term or combinator `cots` (did you mean `cost`?); `merit list` shows what there is";
        assert_eq!(located, want);
    }
}
