//! What an answer rests on, in 64 characters: recordings keep it to say which corpus and settings they were made with.
//!
//! Every string is preceded by its length, so that no two corpora share their bytes. `FORMAT` changes whenever the same
//! corpus and config would be indexed otherwise: another way to split words, another version of the word index.

use crate::{Corpus, IndexConfig, SearchError};
use sha2::{Digest as _, Sha256};

pub(crate) const FORMAT: &str = "merit-search 2";

pub(crate) fn corpus(corpus: &Corpus) -> String {
    let mut sha = Sha256::new();
    for document in corpus.documents() {
        for part in [&document.id, &document.title, &document.text] {
            sha.update((part.len() as u64).to_le_bytes());
            sha.update(part.as_bytes());
        }
    }
    hex(sha)
}

pub(crate) fn index(corpus: &Corpus, config: &IndexConfig) -> Result<String, SearchError> {
    let config = serde_json::to_string(config).map_err(|error| SearchError::Engine(error.to_string()))?;
    let mut sha = Sha256::new();
    for part in [FORMAT, &config, &corpus.digest()] {
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    Ok(hex(sha))
}

fn hex(sha: Sha256) -> String {
    merit_core::hex(&sha.finalize())
}
