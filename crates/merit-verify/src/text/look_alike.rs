//! Words that look like something they are not: letters of several scripts in one word, words of another script that look
//! like a word of a reference, and characters that cannot be seen. Reported, never folded.

use super::words::word_spans;
use merit_core::printable::beginning;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use unicode_normalization::UnicodeNormalization;
use unicode_security::{MixedScript, confusable_detection::skeleton};

/// At most this many are reported, and the same number of characters of each.
const REPORTED: usize = 16;
/// Longest part of a text that is looked through, in bytes.
const LOOKED_AT: usize = 1 << 16;

/// A word that looks like something it is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookAlike {
    /// The word, cut to 16 characters.
    pub word: String,
    /// Byte offset in the response.
    pub at: usize,
    /// What is odd about it.
    pub kind: LookAlikeKind,
}

/// What is odd about a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum LookAlikeKind {
    /// Its letters belong to scripts that are not written together.
    MixedScripts,
    /// It looks like this word of a reference but is spelled with other characters.
    LooksLike {
        /// The word of the reference.
        word: String,
    },
    /// It holds a character that cannot be seen.
    Invisible {
        /// The character's code point.
        code: u32,
    },
}

impl LookAlike {
    pub(crate) fn explain(&self) -> String {
        match &self.kind {
            LookAlikeKind::MixedScripts => format!("`{}` mixes scripts", self.word),
            LookAlikeKind::LooksLike { word } => format!("`{}` looks like `{word}` but is not", self.word),
            LookAlikeKind::Invisible { code } => format!("`{}` hides U+{code:04X}", self.word.escape_debug()),
        }
    }
}

/// Odd words of the response. Plain ASCII has none.
pub(crate) fn look_alikes<S: AsRef<str>>(response: &str, references: &[S]) -> Vec<LookAlike> {
    if response.is_ascii() {
        return Vec::new();
    }
    let mut shapes: BTreeMap<String, String> = BTreeMap::new();
    let mut spelled: HashSet<String> = HashSet::new();
    for (_, word) in references.iter().flat_map(|reference| word_spans(head(reference.as_ref()))) {
        let folded = fold(word);
        shapes.entry(shape(&folded)).or_insert_with(|| word.to_owned());
        spelled.insert(folded);
    }
    let odd = |(at, word): (usize, &str)| {
        let kind = kind(word, &shapes, &spelled)?;
        Some(LookAlike { word: beginning(word, REPORTED), at, kind })
    };
    word_spans(head(response)).filter_map(odd).take(REPORTED).collect()
}

fn kind(word: &str, shapes: &BTreeMap<String, String>, spelled: &HashSet<String>) -> Option<LookAlikeKind> {
    if word.is_ascii() {
        return None;
    }
    if let Some(c) = word.chars().find(|c| is_invisible(*c)) {
        return Some(LookAlikeKind::Invisible { code: u32::from(c) });
    }
    let folded = fold(word);
    if spelled.contains(&folded) {
        return None;
    }
    if let Some(original) = shapes.get(&shape(&folded)) {
        return Some(LookAlikeKind::LooksLike { word: beginning(original, REPORTED) });
    }
    (!folded.as_str().is_single_script()).then_some(LookAlikeKind::MixedScripts)
}

fn fold(word: &str) -> String {
    word.nfkc().flat_map(char::to_lowercase).collect()
}

fn shape(folded: &str) -> String {
    skeleton(folded).collect()
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// The part of a text that is looked through.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, want: Option<LookAlikeKind>) {
        let got = look_alikes(response, &["Paris"]);
        assert_eq!(got.into_iter().next().map(|odd| odd.kind), want, "{response:?}");
    }

    #[test]
    fn odd_words_are_told_by_kind() {
        check("Pаris", Some(LookAlikeKind::LooksLike { word: "Paris".to_owned() })); // Cyrillic а
        check("Lоndоn", Some(LookAlikeKind::MixedScripts)); // Cyrillic о
        check("Pa\u{200B}ris", Some(LookAlikeKind::Invisible { code: 0x200B }));
    }

    #[test]
    fn honest_words_of_any_script_are_not_odd() {
        check("Париж", None);
        check("Zürich", None);
        check("東京タワー", None);
        check("Ｐａｒｉｓ", None); // compatibility forms are the same letters
        check("Paris", None);
    }
}
