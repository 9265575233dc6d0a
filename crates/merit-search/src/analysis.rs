//! What is a word? Splits text into the terms that are indexed and asked for.
//!
//! A word is a run of letters and digits with the marks combined to them; Chinese and Japanese, which are written without
//! spaces, give one word per character. Words are brought to the compatibility form NFKC, lowercased, stripped of the accents
//! of Latin letters, then (as configured) stop words are dropped and the rest is stemmed. Words of [`MAX_WORD_BYTES`] or more
//! are not indexed. Offsets refer to the text as it was.

use crate::{Stemming, StopWords};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, Stemmer, StopWordFilter, TextAnalyzer, Token,
    TokenStream, Tokenizer,
};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words of this many bytes or more are not indexed.
pub(crate) const MAX_WORD_BYTES: usize = 128;

/// The chain from text to terms.
pub(crate) fn analyser(stemming: Stemming, stop_words: StopWords) -> TextAnalyzer {
    let chain = TextAnalyzer::builder(Words::default())
        .filter(RemoveLongFilter::limit(MAX_WORD_BYTES))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter);
    let stop = match stop_words {
        StopWords::English => StopWordFilter::new(Language::English),
        StopWords::None => None,
    };
    match (stop, stemming) {
        (Some(stop), Stemming::English) => chain.filter(stop).filter(Stemmer::new(Language::English)).build(),
        (Some(stop), Stemming::None) => chain.filter(stop).build(),
        (None, Stemming::English) => chain.filter(Stemmer::new(Language::English)).build(),
        (None, Stemming::None) => chain.build(),
    }
}

/// Splits text into words in NFKC.
#[derive(Clone, Default)]
struct Words {
    token: Token,
}

struct WordStream<'a> {
    text: &'a str,
    /// Where the search for the next word goes on, in bytes.
    at: usize,
    token: &'a mut Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, at: 0, token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((start, word)) = next_word(self.text, self.at) else { return false };
        self.at = start + word.len();
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = start;
        self.token.offset_to = self.at;
        self.token.text.clear();
        if word.is_ascii() {
            self.token.text.push_str(word);
        } else {
            // A word is as long as its text allows; the filter for long ones only needs to see that it is one.
            self.token.text.extend(word.nfkc().take(MAX_WORD_BYTES));
        }
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
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

fn is_mark(c: char) -> bool {
    !c.is_ascii() && is_combining_mark(c)
}

/// Characters that are words by themselves: Han, Hiragana, Katakana.
fn is_lone(c: char) -> bool {
    !c.is_ascii()
        && matches!(c,
            '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{323af}')
}

/// Words as they are compared before stemming; for those who count their characters.
pub(crate) fn plain_words(text: &str, mut each: impl FnMut(&str)) {
    let mut chain = analyser(Stemming::None, StopWords::None);
    chain.token_stream(text).process(&mut |token| each(&token.text));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stemming: Stemming, stop_words: StopWords, text: &str, want: &[&str]) {
        let mut terms = Vec::new();
        let mut chain = analyser(stemming, stop_words);
        chain.token_stream(text).process(&mut |token| {
            assert!(text.get(token.offset_from..token.offset_to).is_some());
            terms.push(token.text.clone());
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
    }

    #[test]
    fn words_too_long_to_index_are_dropped() {
        let (fits, long) = ("x".repeat(MAX_WORD_BYTES - 1), "é".repeat(5000));
        check(Stemming::None, StopWords::None, &format!("a {fits} {long} b"), &["a", &fits, "b"]);
    }
}
