//! Words of a normalised text, and the words that carry little of its content.

use super::normalise::is_punctuation;

/// Splits at white space.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// Splits at white space, and every ideograph, kana or Hangul syllable is a word of its own.
pub(crate) fn words_and_ideographs(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        let mut start = 0;
        for (at, c) in word.char_indices().filter(|(_, c)| is_ideograph(*c)) {
            found.extend(word.get(start..at).filter(|piece| !piece.is_empty()));
            start = at + c.len_utf8();
            found.extend(word.get(at..start));
        }
        found.extend(word.get(start..).filter(|piece| !piece.is_empty()));
    }
    found
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// English words that carry little content. Words of negation are not among them.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "both", "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has",
    "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "may", "might", "more",
    "most", "of", "on", "or", "our", "over", "she", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "under", "up", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "will", "with", "would", "you", "your",
];

/// Whether a lower-case word carries little content.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether a lower-case word, with or without its apostrophe, turns a statement round.
pub(crate) fn is_negation(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "never"
            | "neither"
            | "nor"
            | "cannot"
            | "isnt"
            | "arent"
            | "wasnt"
            | "werent"
            | "dont"
            | "doesnt"
            | "didnt"
            | "cant"
            | "wont"
            | "wouldnt"
            | "shouldnt"
            | "couldnt"
            | "hasnt"
            | "havent"
            | "hadnt"
            | "nt"
    )
}

/// Runs of letters and digits, with the byte each starts at.
pub(crate) fn word_spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let tail = text.get(rest..)?;
        let start = rest + tail.find(|c: char| !c.is_whitespace() && !is_punctuation(c))?;
        let tail = text.get(start..)?;
        let end = start + tail.find(|c: char| c.is_whitespace() || is_punctuation(c)).unwrap_or(tail.len());
        rest = end;
        text.get(start..end).map(|word| (start, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_so_that_they_are_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_stop_word("your") && !is_stop_word("not"));
    }

    #[test]
    fn ideographs_are_words_of_their_own() {
        assert_eq!(words_and_ideographs("abc北京x 2"), ["abc", "北", "京", "x", "2"]);
    }

    #[test]
    fn word_spans_skip_punctuation() {
        let found: Vec<_> = word_spans("“Hi”, you-all.").collect();
        assert_eq!(found, [(3, "Hi"), (10, "you"), (14, "all")]);
    }
}
