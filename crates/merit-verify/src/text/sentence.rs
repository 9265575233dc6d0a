//! Sentences of a text, each with the citation markers that follow its full stop.

use std::ops::Range;

/// Abbreviations that do not end a sentence.
const ABBREVIATIONS: &[&str] =
    &["al", "cf", "dr", "e.g", "etc", "fig", "i.e", "mr", "mrs", "ms", "no", "prof", "st", "vs"];

/// The sentences of `text` as byte ranges. `marker_end` says where a marker that starts at a byte ends, if one does.
pub(crate) fn sentences(text: &str, marker_end: impl Fn(usize) -> Option<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        if at < start || !ends_sentence(text, start, at, c) {
            continue;
        }
        let end = if c == '\n' { at } else { trailing_markers(text, after, &marker_end) };
        found.push(start..end);
        start = end.max(after);
    }
    found.push(start..text.len());
    found.retain(|range| text.get(range.clone()).is_some_and(|s| !s.trim().is_empty()));
    found
}

fn ends_sentence(text: &str, start: usize, at: usize, c: char) -> bool {
    match c {
        '\n' | '。' | '！' | '？' => return true,
        '.' | '!' | '?' => {}
        _ => return false,
    }
    let rest = text.get(at + 1..).unwrap_or_default();
    let rest = rest.trim_start_matches(['"', '”', '»', ')', '\'', '’']);
    let stops_here =
        rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with(['[', '(', '{']);
    if !stops_here {
        return false;
    }
    if c != '.' {
        return true;
    }
    let before = text.get(start..at).unwrap_or_default();
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let continues = rest.trim_start().starts_with(char::is_lowercase);
    !(initial || continues || ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

/// Where the quotes and markers behind a full stop end.
fn trailing_markers(text: &str, from: usize, marker_end: &impl Fn(usize) -> Option<usize>) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let closed = rest.trim_start_matches(['"', '”', '»', ')', '\'', '’']);
    let mut end = from + (rest.len() - closed.len());
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let next = end + (rest.len() - rest.trim_start_matches(' ').len());
        match marker_end(next) {
            Some(marker) if marker > end => end = marker,
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: &[&str]) {
        let marker = |at: usize| {
            let rest = text.get(at..)?.strip_prefix('[')?;
            Some(at + 1 + rest.find(']')? + 1)
        };
        let got: Vec<&str> = sentences(text, marker).into_iter().map(|r| text[r].trim()).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn full_stops_end_sentences_and_points_do_not() {
        check("It is 3.5 m. It is big! Is it?", &["It is 3.5 m.", "It is big!", "Is it?"]);
        check(
            "Dr. Who met J. Smith, e.g. at noon. Then left.",
            &["Dr. Who met J. Smith, e.g. at noon.", "Then left."],
        );
        check("one\ntwo", &["one", "two"]);
        check("是的。不是。", &["是的。", "不是。"]);
        check("", &[]);
    }

    #[test]
    fn markers_behind_the_full_stop_belong_to_the_sentence() {
        check("It is big.[1][2] It is red. [3] End", &["It is big.[1][2]", "It is red. [3]", "End"]);
        check("He said “no.” [1] She left.", &["He said “no.” [1]", "She left."]);
    }
}
