//! What can go wrong, and whose fault it is: the corpus, the config, the question, or the machinery.

use merit_core::embedder::EmbedderError;
use merit_core::registry::UnknownName;

/// Why there is no corpus, no index or no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// A file that cannot be read.
    #[error("cannot read corpus {corpus}: {why}")]
    Io {
        /// The file, or the name given to the reader.
        corpus: String,
        /// What the system said.
        why: String,
    },
    /// A corpus that cannot be used.
    #[error("corpus {corpus}, line {line}: {fault}")]
    Corpus {
        /// The file, or the name given to the reader.
        corpus: String,
        /// The line, or the position of the document, from 1.
        line: usize,
        fault: CorpusFault,
    },
    /// A corpus in which nothing can ever be found.
    #[error("the corpus has no documents")]
    EmptyCorpus,
    /// A setting that cannot work.
    #[error("`{key}` is {got}, but it must be {want}")]
    Config {
        key: &'static str,
        got: String,
        /// What is allowed, and what to do.
        want: String,
    },
    #[error(transparent)]
    UnknownEmbedder(#[from] UnknownName),
    /// The question cannot be answered: the asker can read this and ask better.
    #[error("{0}")]
    Query(#[from] QueryRefusal),
    /// The embedder failed or broke its contract.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
    #[error("the word index failed: {0}")]
    Engine(String),
}

/// What is wrong with a line of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusFault {
    /// Not a JSON object of the expected shape.
    #[error("not a JSON object with a text: {0}")]
    Json(String),
    #[error("the document has no `text` (or `contents`)")]
    NoText,
    #[error("`id` must be a string of 1 to {max} bytes or a whole number, but it is {got}")]
    Id {
        got: String,
        /// The longest id in bytes.
        max: usize,
    },
    #[error(
        "id `{id}` was given to line {first} already; ids must differ (a line without one gets its number)"
    )]
    DuplicateId {
        id: String,
        /// The line that has it.
        first: usize,
    },
    /// A document too long to take.
    #[error("the document is longer than {max} bytes; split it into passages")]
    DocumentTooLong { max: usize },
    #[error("the corpus has more than {max} documents; raise the limit or take a part of it")]
    TooManyDocuments { max: usize },
    #[error("the corpus is longer than {max} bytes; raise the limit or take a part of it")]
    TooLong { max: usize },
}

/// Why a question is not answered, in words for the asker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryRefusal {
    #[error("the query is empty; write the words to search for")]
    Empty,
    /// Nothing that can be searched for.
    #[error(
        "the query has no word to search for (only punctuation or words like `the` and `of`); \
         name what you look for"
    )]
    NoWords,
    #[error("the query has {bytes} bytes, more than {max}; ask with fewer words")]
    TooLong { bytes: usize, max: usize },
    #[error("{asked} hits were asked for, but it must be from 1 to {max}")]
    Hits { asked: usize, max: usize },
    /// A mode that needs vectors, asked of an index without.
    #[error("this index has no vectors, so it cannot be searched in mode `{mode}`; use `words`")]
    NoVectors { mode: &'static str },
}
