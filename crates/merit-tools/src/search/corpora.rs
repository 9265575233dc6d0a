//! The index of a task: one for all where the corpus is a file; where tasks bring their own, one per task while it is in use.

use super::SearchConfig;
use super::meaning::describe;
use merit_core::Task;
use merit_core::embedder::Embedder;
use merit_encoder::ByMeaning;
use merit_search::{Corpus, Document, Index, IndexConfig, SearchError};
use serde::Deserialize as _;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub(super) enum Corpora {
    Shared(Arc<Index>),
    OfTasks { builder: Builder, open: Mutex<HashMap<String, Weak<Index>>> },
}

/// Makes indexes as the settings say.
pub(super) struct Builder {
    config: IndexConfig,
    /// Absent: the words alone, or an embedder that needs no model.
    embedder: Option<Arc<dyn Embedder>>,
}

impl Builder {
    fn new(config: &SearchConfig) -> Result<Self, String> {
        let Some(embedding) = &config.embedding else {
            config.index.check().map_err(|error| error.to_string())?;
            return Ok(Self { config: config.index.clone(), embedder: None });
        };
        if config.index.dense.is_some() {
            return Err("`embedding` and `index.dense` both make vectors; remove one of them".to_owned());
        }
        let encoder = ByMeaning::open(&embedding.model).map_err(|error| format!("`embedding`: {error}"))?;
        let config = describe(&encoder, &config.index, embedding.weight);
        config.check().map_err(|error| error.to_string())?;
        Ok(Self { config, embedder: Some(Arc::new(encoder)) })
    }

    fn build(&self, corpus: Corpus) -> Result<Arc<Index>, SearchError> {
        let index = match &self.embedder {
            Some(embedder) => Index::build_with_embedder(corpus, &self.config, Arc::clone(embedder)),
            None => Index::build(corpus, &self.config),
        };
        index.map(Arc::new)
    }
}

impl Corpora {
    pub(super) fn new(config: &SearchConfig) -> Result<Self, String> {
        let builder = Builder::new(config)?;
        let Some(path) = &config.corpus else {
            return Ok(Self::OfTasks { builder, open: Mutex::default() });
        };
        let index = Corpus::from_jsonl(path).and_then(|corpus| builder.build(corpus));
        index.map(Self::Shared).map_err(|error| error.to_string())
    }

    /// The index that a task is searched in; the error is in words.
    pub(super) fn of(&self, task: &Task) -> Result<Arc<Index>, String> {
        let (builder, open) = match self {
            Self::Shared(index) => return Ok(Arc::clone(index)),
            Self::OfTasks { builder, open } => (builder, open),
        };
        let corpus = Corpus::new(read(&task.payload)?).map_err(|error| error.to_string())?;
        let digest = corpus.digest();
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = open.get(&digest).and_then(Weak::upgrade) {
            return Ok(index);
        }
        let index = builder.build(corpus).map_err(|error| error.to_string())?;
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
