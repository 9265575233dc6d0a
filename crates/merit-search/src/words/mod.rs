//! Which documents share words with the query, and how much? BM25 over titles and texts.
//!
//! Formula per field and word, summed over both fields and all words of the query (a word asked twice counts twice):
//!   idf = ln(1 + (N - n + 0.5) / (n + 0.5))
//!   score = boost * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average length)),  k1 = 1.2, b = 0.75
//! where a field of more than 40 words counts as long as the next smaller of 215 steps (at most an eighth shorter).
//! A document's number is its position in the corpus.
//!
//! The lists are our own and in memory. SQLite's FTS5, which is linked for other reasons and keeps its index on disk, was
//! measured beside them: it scores every document that has any of the words, so that queries take hundreds of times as long
//! over 100,000 documents (`docs/benchmarks.md`).

mod bm25;
mod field;
mod plan;
mod postings;
mod rank;
mod stored;

pub use plan::MAX_QUERY_TERMS;
pub(crate) use plan::Plan;

use crate::analysis::Analyser;
use crate::{Corpus, IndexConfig};
use field::Field;

/// A word of a query with its weight, for finding passages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AskedWord {
    pub(crate) term: String,
    /// Inverse document frequency in the text field.
    pub(crate) idf: f32,
}

pub(crate) struct WordIndex {
    analyser: Analyser,
    title: Field,
    text: Field,
    title_boost: f32,
    /// How many documents there are.
    all: u32,
}

impl WordIndex {
    pub(crate) fn build(corpus: &Corpus, config: &IndexConfig) -> Self {
        let analyser = Analyser::new(config.stemming, config.stop_words);
        let documents = corpus.documents();
        let titles = config.title_boost > 0.0;
        Self {
            title: Field::build(documents, &analyser, |document| if titles { &document.title } else { "" }),
            text: Field::build(documents, &analyser, |document| &document.text),
            analyser,
            title_boost: config.title_boost,
            all: documents.len() as u32,
        }
    }

    /// Over texts without titles.
    pub(crate) fn over<T: AsRef<str> + Sync>(texts: &[T], config: &IndexConfig) -> Self {
        let analyser = Analyser::new(config.stemming, config.stop_words);
        Self {
            title: Field::build(&[], &analyser, |none: &String| none),
            text: Field::build(texts, &analyser, T::as_ref),
            analyser,
            title_boost: 0.0,
            all: texts.len() as u32,
        }
    }

    pub(crate) fn analyser(&self) -> &Analyser {
        &self.analyser
    }
}
