//! Which passage of a document shows best why it was found?
//!
//! The stretch of at most `max_chars` characters with the greatest sum of inverse document frequencies over the distinct
//! query words in it; of equal ones that with more occurrences, then the earlier. Without an occurrence, the beginning.
//! White space and control characters become single spaces, cuts fall between words where they can, and `…` marks them.

use crate::analysis::Analyser;
use crate::words::AskedWord;
use std::collections::HashMap;
use std::ops::Range;

/// How far into a text passages are looked for, in bytes.
const LOOK_BYTES: usize = 1 << 17;

/// An occurrence of a query word: bytes and characters from the beginning of the text.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    word: usize,
    from: usize,
    to: usize,
    first_char: usize,
    end_char: usize,
}

pub(crate) fn snippet(text: &str, asked: &[AskedWord], analyser: &Analyser, max_chars: usize) -> String {
    let text = text.trim_end();
    if text.chars().nth(max_chars).is_none() {
        return flatten(text);
    }
    let room = max_chars.saturating_sub(2);
    let seen = text.get(..text.floor_char_boundary(LOOK_BYTES)).unwrap_or(text);
    let found = occurrences(seen, asked, analyser);
    let (from, to) = best(&found, asked, room).unwrap_or((0, 0));
    let (start, end) = widen(text, from, to, room);
    let passage = flatten(text.get(start..end).unwrap_or_default());
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{passage}{after}")
}

fn flatten(text: &str) -> String {
    let parts = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

fn occurrences(text: &str, asked: &[AskedWord], analyser: &Analyser) -> Vec<Occurrence> {
    let words: HashMap<&str, usize> =
        asked.iter().enumerate().map(|(at, word)| (word.term.as_str(), at)).collect();
    let mut found = Vec::new();
    if words.is_empty() {
        return found;
    }
    let (mut at, mut chars) = (0, 0);
    let mut walk = |to: usize| {
        chars += text.get(at..to).map_or(0, |part| part.chars().count());
        at = to;
        chars
    };
    analyser.terms(text, |term, Range { start: from, end: to }| {
        if let Some(&word) = words.get(term) {
            found.push(Occurrence { word, from, to, first_char: walk(from), end_char: walk(to) });
        }
    });
    found
}

/// First and last byte of the best window.
fn best(found: &[Occurrence], asked: &[AskedWord], room: usize) -> Option<(usize, usize)> {
    // Whole millionths, so that sums do not depend on the order of additions.
    let weight = |word: usize| asked.get(word).map_or(0, |word| (word.idf * 1e6) as u64);
    let mut counts = vec![0_usize; asked.len()];
    let (mut left, mut sum) = (0, 0);
    let mut best: Option<((u64, usize), (usize, usize))> = None;
    for (right, last) in found.iter().enumerate() {
        let count = counts.get_mut(last.word)?;
        *count += 1;
        sum += if *count == 1 { weight(last.word) } else { 0 };
        while left < right && found.get(left).is_some_and(|first| last.end_char - first.first_char > room) {
            let word = found.get(left)?.word;
            let count = counts.get_mut(word)?;
            *count -= 1;
            sum -= if *count == 0 { weight(word) } else { 0 };
            left += 1;
        }
        let worth = (sum, right - left + 1);
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, (found.get(left)?.from, last.to)));
        }
    }
    best.map(|(_, window)| window)
}

/// Room that the window leaves is filled: a third of it before, the rest after, or more before where the text ends.
fn widen(text: &str, from: usize, to: usize, room: usize) -> (usize, usize) {
    let chars = |from: usize, to: usize| text.get(from..to).map_or(0, |part| part.chars().count());
    let (head, tail) = (text.get(..from).unwrap_or_default(), text.get(from..).unwrap_or_default());
    let spare = room.saturating_sub(chars(from, to));
    let after = text.get(to..).map_or(0, |part| part.chars().take(spare - spare / 3).count());
    let before = spare - after;
    let cut =
        if before == 0 { from } else { head.char_indices().rev().nth(before - 1).map_or(0, |(at, _)| at) };
    let starts_word = cut == 0 || text.get(..cut).is_some_and(|part| part.ends_with(char::is_whitespace));
    let lead = head.get(cut..).unwrap_or_default();
    let start = match lead.find(char::is_whitespace) {
        Some(gap) if !starts_word => cut + gap,
        _ => cut,
    };
    let left = room.saturating_sub(chars(start, from));
    let Some((cut, _)) = tail.char_indices().nth(left) else { return (start, text.len()) };
    let end = from + cut;
    let ends_word = text.get(end..).is_some_and(|part| part.starts_with(char::is_whitespace));
    let last_gap = text.get(to.min(end)..end).and_then(|part| part.rfind(char::is_whitespace));
    match last_gap {
        Some(gap) if !ends_word && to.min(end) + gap > start => (start, to.min(end) + gap),
        _ => (start, end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stemming, StopWords};

    fn check(text: &str, asked: &[(&str, f32)], max_chars: usize, want: &str) {
        let asked: Vec<AskedWord> =
            asked.iter().map(|(term, idf)| AskedWord { term: (*term).to_owned(), idf: *idf }).collect();
        let got = snippet(text, &asked, &Analyser::new(Stemming::None, StopWords::None), max_chars);
        assert_eq!(got, want);
        assert!(got.chars().count() <= max_chars);
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        check(" one\n\ttwo\0three  ", &[("two", 1.0)], 20, "one two three");
    }

    #[test]
    fn the_passage_with_the_rarest_words_is_shown() {
        let text =
            "common words here and then nothing for long, but at last a rare owl in the forest of words";
        check(text, &[("common", 0.5), ("rare", 2.0), ("owl", 2.0)], 24, "…a rare owl in the…");
        check(text, &[("common", 5.0), ("rare", 2.0), ("owl", 2.0)], 24, "common words here and…");
        check(text, &[], 24, "common words here and…");
    }

    #[test]
    fn text_without_spaces_is_cut_between_characters() {
        check(&"日本語".repeat(20), &[], 20, "日本語日本語日本語日本語日本語日本語…");
        check(&"é".repeat(200), &[(&"e".repeat(200), 1.0)], 20, "éééééééééééééééééé…");
    }
}
