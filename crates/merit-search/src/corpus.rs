//! The documents that are searched: plain data with distinct ids, in an order that breaks ties.

use crate::{CorpusFault, SearchError};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Longest id in bytes.
pub(crate) const MAX_ID_BYTES: usize = 512;

/// What is searched for and opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The name to open it by; differs from all others of the corpus.
    pub id: String,
    /// The title; empty where the document has none.
    #[serde(default)]
    pub title: String,
    pub text: String,
}

/// How much is taken; what is beyond is an error, never cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorpusLimits {
    /// Documents that a corpus may have.
    pub documents: usize,
    /// Most bytes of one document: of its line, or of its id, title and text together.
    pub document_bytes: usize,
    /// Most bytes of id, title and text of all documents together.
    pub bytes: usize,
}

impl Default for CorpusLimits {
    fn default() -> Self {
        Self { documents: 10_000_000, document_bytes: 8 << 20, bytes: 16 << 30 }
    }
}

/// Documents with distinct ids, in order.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    documents: Vec<Document>,
    places: HashMap<String, usize>,
    bytes: usize,
}

impl Corpus {
    /// Documents that are in memory already, within the default limits; errors name the corpus `documents` and the position.
    pub fn new(documents: Vec<Document>) -> Result<Self, SearchError> {
        let limits = CorpusLimits::default();
        let mut corpus = Self::default();
        for (at, document) in documents.into_iter().enumerate() {
            corpus.push(document, &limits, |first| first + 1).map_err(|fault| SearchError::Corpus {
                corpus: "documents".to_owned(),
                line: at + 1,
                fault,
            })?;
        }
        Ok(corpus)
    }

    /// All documents, in order.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Bytes of all ids, titles and texts.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn get(&self, id: &str) -> Option<&Document> {
        self.places.get(id).and_then(|at| self.documents.get(*at))
    }

    /// SHA-256 of every id, title and text in order, in hexadecimal.
    pub fn digest(&self) -> String {
        crate::digest::corpus(self)
    }

    /// Adds one document; `line_of` tells the line of a document added before.
    pub(crate) fn push(
        &mut self,
        document: Document,
        limits: &CorpusLimits,
        line_of: impl Fn(usize) -> usize,
    ) -> Result<(), CorpusFault> {
        let Document { id, title, text } = &document;
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            let got = format!("a string of {} bytes", id.len());
            return Err(CorpusFault::Id { got, max: MAX_ID_BYTES });
        }
        let bytes = id.len().saturating_add(title.len()).saturating_add(text.len());
        if bytes > limits.document_bytes {
            return Err(CorpusFault::DocumentTooLong { max: limits.document_bytes });
        }
        let total = self.bytes.saturating_add(bytes);
        if total > limits.bytes {
            return Err(CorpusFault::TooLong { max: limits.bytes });
        }
        // Document numbers of the word index are 32 bits wide.
        let most = limits.documents.min(u32::MAX as usize / 2);
        if self.documents.len() >= most {
            return Err(CorpusFault::TooManyDocuments { max: most });
        }
        match self.places.entry(id.clone()) {
            Entry::Occupied(first) => {
                return Err(CorpusFault::DuplicateId { id: id.clone(), first: line_of(*first.get()) });
            }
            Entry::Vacant(place) => place.insert(self.documents.len()),
        };
        self.bytes = total;
        self.documents.push(document);
        Ok(())
    }
}
