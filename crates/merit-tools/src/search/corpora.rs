//! The index of a task: one for all where the corpus is a file; where tasks bring their own, one per task while it is in use.

use super::SearchConfig;
use merit_core::Task;
use merit_search::{Corpus, Document, Index, IndexConfig, SearchError};
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub(super) enum Corpora {
    Shared(Arc<Index>),
    OfTasks { config: IndexConfig, open: Mutex<HashMap<String, Weak<Index>>> },
}

impl Corpora {
    pub(super) fn new(config: &SearchConfig) -> Result<Self, SearchError> {
        match &config.corpus {
            Some(path) => {
                let index = Index::build(Corpus::from_jsonl(path)?, &config.index)?;
                Ok(Self::Shared(Arc::new(index)))
            }
            None => Ok(Self::OfTasks { config: config.index.clone(), open: Mutex::default() }),
        }
    }

    /// The index that a task is searched in; the error is in words.
    pub(super) fn of(&self, task: &Task) -> Result<Arc<Index>, String> {
        let (config, open) = match self {
            Self::Shared(index) => return Ok(Arc::clone(index)),
            Self::OfTasks { config, open } => (config, open),
        };
        let corpus = Corpus::new(read(&task.payload)?).map_err(|error| error.to_string())?;
        let digest = corpus.digest();
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = open.get(&digest).and_then(Weak::upgrade) {
            return Ok(index);
        }
        let index = Arc::new(Index::build(corpus, config).map_err(|error| error.to_string())?);
        open.retain(|_, kept| kept.strong_count() > 0);
        open.insert(digest, Arc::downgrade(&index));
        Ok(index)
    }
}

fn read(payload: &Value) -> Result<Vec<Document>, String> {
    let corpus = payload.get("corpus").ok_or("its payload has no `corpus`, and no file was given")?;
    let documents = corpus.as_array().ok_or("its `corpus` is not a list of documents")?;
    let read = |(number, value): (usize, &Value)| {
        let mut value = value.clone();
        if let Some(document) = value.as_object_mut() {
            document.entry("id").or_insert_with(|| Value::String((number + 1).to_string()));
        }
        Document::deserialize(value)
            .map_err(|error| format!("document {} of its `corpus`: {error}", number + 1))
    };
    documents.iter().enumerate().map(read).collect()
}
