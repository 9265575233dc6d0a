//! What is a word? Splits text into the terms that are indexed and asked for.
//!
//! A word is a run of letters and digits with the marks combined to them; Chinese and Japanese, which are written without
//! spaces, give one word per character. Words are brought to the compatibility form NFKC, lowercased, stripped of the accents
//! of Latin letters, then (as configured) stop words are dropped and the rest is stemmed. Words of [`MAX_WORD_BYTES`] or more
//! are not indexed. Offsets refer to the text as it was.

use crate::folding::fold;
use crate::{Stemming, StopWords};
use frostem::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words of this many bytes or more are not indexed.
pub(crate) const MAX_WORD_BYTES: usize = 128;

/// Lucene's English stop words, sorted.
const ENGLISH: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
];

/// Longer words need not be looked for.
const LONGEST_STOP_WORD: usize = 5;

/// The chain from text to terms.
#[derive(Clone, Copy)]
pub(crate) struct Analyser {
    /// Absent: words are not stemmed.
    stemmer: Option<Stemmer>,
    stop_words: &'static [&'static str],
}

impl Analyser {
    pub(crate) fn new(stemming: Stemming, stop_words: StopWords) -> Self {
        let stemmer = match stemming {
            Stemming::English => Some(Stemmer::new(Algorithm::English)),
            Stemming::None => None,
        };
        let stop_words: &[&str] = match stop_words {
            StopWords::English => &ENGLISH,
            StopWords::None => &[],
        };
        Self { stemmer, stop_words }
    }

    /// Calls `each` with every term of the text and the bytes that its word takes.
    pub(crate) fn terms(&self, text: &str, mut each: impl FnMut(&str, Range<usize>)) {
        plain_words(text, |word, place| {
            if let Some(term) = self.term(word) {
                each(&term, place);
            }
        });
    }

    /// What a plain word is indexed as; nothing for a stop word.
    pub(crate) fn term<'a>(&self, word: &'a str) -> Option<Cow<'a, str>> {
        if word.len() <= LONGEST_STOP_WORD && self.stop_words.binary_search(&word).is_ok() {
            return None;
        }
        Some(self.stemmer.map_or(Cow::Borrowed(word), |stemmer| stemmer.stem(word)))
    }
}

/// Calls `each` with every word as it is compared before stop words and stemming, and the bytes that it takes in the text.
pub(crate) fn plain_words(text: &str, mut each: impl FnMut(&str, Range<usize>)) {
    let (mut at, mut plain) = (0, String::new());
    while let Some((start, word)) = next_word(text, at) {
        at = start + word.len();
        plain.clear();
        if word.is_ascii() {
            if word.len() < MAX_WORD_BYTES {
                plain.push_str(word);
                plain.make_ascii_lowercase();
                each(&plain, start..at);
            }
            continue;
        }
        // A word is as long as its text allows; its first part shows whether it is too long.
        let whole: String = word.nfkc().take(MAX_WORD_BYTES).collect();
        if whole.len() < MAX_WORD_BYTES {
            whole.chars().flat_map(char::to_lowercase).for_each(|letter| fold(letter, &mut plain));
            each(&plain, start..at);
        }
    }
}

/// The first word of `text` at or after `from`, with its place.
fn next_word(text: &str, from: usize) -> Option<(usize, &str)> {
    let rest = text.get(from..)?;
    let mut chars = rest.char_indices().skip_while(|(_, c)| !c.is_alphanumeric());
    let (start, first) = chars.next()?;
    let inside = |c: char| match is_lone(first) {
        true => is_mark(c),
        false => (c.is_alphanumeric() && !is_lone(c)) || is_mark(c),
    };
    let end = chars.find(|(_, c)| !inside(*c)).map_or(rest.len(), |(at, _)| at);
    rest.get(start..end).map(|word| (from + start, word))
}

#[inline]
fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_combining_mark(c)
}

/// Characters that are words by themselves: Han, Hiragana, Katakana.
#[inline]
fn is_lone(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
            '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stemming: Stemming, stop_words: StopWords, text: &str, want: &[&str]) {
        let mut terms = Vec::new();
        Analyser::new(stemming, stop_words).terms(text, |term, place| {
            assert!(text.get(place).is_some());
            terms.push(term.to_owned());
        });
        assert_eq!(terms, want, "{text:?}");
    }

    #[test]
    fn words_lose_case_accents_and_composition() {
        let check = |text, want: &[&str]| check(Stemming::None, StopWords::None, text, want);
        check("Café, CAFE\u{301}! don't", &["cafe", "cafe", "don", "t"]);
        check("ﬁne x² Ⅷ ＡＢＣ", &["fine", "x2", "viii", "abc"]);
        check("Straße Ελλάδα", &["strasse", "ελλάδα"]);
        check("日本語のtext", &["日", "本", "語", "の", "text"]);
        check("a\0b 🦉🦉", &["a", "b"]);
        check("\u{301}", &[]);
    }

    #[test]
    fn stemming_and_stop_words_are_apart() {
        check(Stemming::English, StopWords::English, "The owls were hunting", &["owl", "were", "hunt"]);
        check(Stemming::English, StopWords::None, "the owls", &["the", "owl"]);
        check(Stemming::None, StopWords::English, "the owls", &["owls"]);
        assert!(ENGLISH.is_sorted() && ENGLISH.iter().all(|word| word.len() <= LONGEST_STOP_WORD));
    }

    #[test]
    fn words_too_long_to_index_are_dropped() {
        let (fits, long) = ("x".repeat(MAX_WORD_BYTES - 1), "é".repeat(5000));
        check(Stemming::None, StopWords::None, &format!("a {fits} {long} b"), &["a", &fits, "b"]);
    }
}
