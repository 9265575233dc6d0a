//! Which documents speak of this? An index over a corpus, by words and by vectors.
//!
//! In: a [`Corpus`] (JSON lines or documents in memory) and an [`IndexConfig`]. Out: an [`Index`] in memory that answers plain
//! text with [`Hit`]s: BM25 over the words, cosine over the vectors of an [`Embedder`], or both fused. The same corpus, config
//! and query give the same hits, scores and order on any number of threads. A query is never parsed as a language: what an
//! agent writes is searched for, or refused in words ([`SearchError::Query`]). Knows nothing of tools, episodes or networks.
//!
//! ```
//! use merit_search::{Corpus, Index, IndexConfig};
//! let lines = r#"{"id": "owl", "title": "Owls", "text": "Owls hunt at night and sleep by day."}
//! {"id": "bat", "text": "Bats sleep hanging by their feet."}"#;
//! let corpus = Corpus::from_reader(lines.as_bytes(), "animals")?;
//! let index = Index::build(corpus, &IndexConfig::default())?;
//! let hits = index.search("Who is hunting at night?", 5)?;
//! assert_eq!(hits[0].id, "owl");
//! assert_eq!(index.get("bat").map(|document| document.text.len()), Some(33));
//! # Ok::<(), merit_search::SearchError>(())
//! ```
//!
//! [`Embedder`]: merit_core::embedder::Embedder

mod analysis;
mod config;
mod corpus;
mod dense;
mod digest;
mod error;
mod folding;
mod fusion;
pub mod graph;
mod index;
mod jsonl;
mod snippet;
mod texts;
mod top;
mod words;

pub use config::{DenseConfig, IndexConfig, Mode, Stemming, StopWords};
pub use corpus::{Corpus, CorpusLimits, Document};
pub use error::{CorpusFault, QueryRefusal, SearchError};
pub use fusion::{FUSION_CONSTANT, FUSION_DEPTH, fuse};
pub use index::{Hit, Index, MAX_HITS, MAX_QUERY_BYTES};
pub use texts::TextIndex;
pub use words::MAX_QUERY_TERMS;

/// Calls `each` with every word of a text as words are compared here: lowercase, without accents.
pub fn words(text: &str, each: &mut dyn FnMut(&str)) {
    analysis::plain_words(text, |word, _| each(word));
}
