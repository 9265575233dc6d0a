//! Words that a tokenizer keeps whole: each is one token, and no merge looks into it.
//!
//! In: their texts. Out: where the first of them stands in a text. Of two that begin at the same place the longer one is found.

use crate::TokenizerError;
use std::collections::{BTreeSet, HashMap};

/// The longest word that can be kept whole, in bytes.
const LONGEST: usize = 1 << 10;

/// The words, in the order of their tokens.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct WholeWords {
    texts: Vec<String>,
    /// Places in `texts` by the first byte, longer words first.
    by_first: HashMap<u8, Vec<usize>>,
}

impl WholeWords {
    pub(super) fn new(texts: Vec<String>) -> Result<Self, TokenizerError> {
        let mut seen = BTreeSet::new();
        let mut by_first: HashMap<u8, Vec<usize>> = HashMap::new();
        for (at, text) in texts.iter().enumerate() {
            let wrong = |why: &str| Err(TokenizerError::Whole { word: text.clone(), why: why.to_owned() });
            let Some(first) = text.bytes().next() else { return wrong("is empty") };
            if text.len() > LONGEST {
                return wrong("is longer than 1024 bytes");
            }
            if !seen.insert(text.as_str()) {
                return wrong("is given twice");
            }
            by_first.entry(first).or_default().push(at);
        }
        by_first.values_mut().for_each(|places| places.sort_by_key(|at| std::cmp::Reverse(texts[*at].len())));
        Ok(Self { texts, by_first })
    }

    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The first word that stands in a text: what is before it, which word it is, and what follows.
    pub(super) fn split<'a>(&self, text: &'a str) -> Option<(&'a str, usize, &'a str)> {
        if self.texts.is_empty() {
            return None;
        }
        // A word begins with the first byte of a letter, so that it is only found where a letter begins.
        text.bytes().enumerate().find_map(|(at, byte)| {
            let here = self.by_first.get(&byte)?;
            let which = here
                .iter()
                .find(|&&which| text.as_bytes()[at..].starts_with(self.texts[which].as_bytes()))?;
            Some((&text[..at], *which, &text[at + self.texts[*which].len()..]))
        })
    }
}
