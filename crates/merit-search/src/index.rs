//! The index itself: a corpus, its words and its vectors, ready to be asked from any number of threads.

use crate::dense::DenseIndex;
use crate::fusion::{FUSION_DEPTH, fuse};
use crate::snippet::snippet;
use crate::words::{Plan, WordIndex};
use crate::{Corpus, Document, IndexConfig, Mode, QueryRefusal, SearchError, digest};
use merit_core::embedder::{Embedder, embedder};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Longest query in bytes.
pub const MAX_QUERY_BYTES: usize = 16 << 10;

/// Most hits of one query.
pub const MAX_HITS: usize = 1000;

/// One document that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The id by which the document is opened.
    pub id: String,
    /// The title; empty where the document has none.
    pub title: String,
    /// The passage of the text that shows best why it was found.
    pub snippet: String,
    /// Above 0; what it measures is said at [`Mode`].
    pub score: f32,
}

/// An index over a corpus, in memory.
pub struct Index {
    corpus: Arc<Corpus>,
    config: IndexConfig,
    words: WordIndex,
    dense: Option<DenseIndex>,
    digest: String,
}

impl Index {
    /// Indexes a corpus, with an embedder that needs no model when the config asks for vectors.
    pub fn build(corpus: impl Into<Arc<Corpus>>, config: &IndexConfig) -> Result<Self, SearchError> {
        config.check()?;
        let embedder = match &config.dense {
            Some(dense) => Some(Arc::from(embedder(&dense.role, dense.dimensions, crate::words)?)),
            None => None,
        };
        Self::assemble(corpus.into(), config, embedder)
    }

    /// Indexes a corpus with an embedder made elsewhere, which the config must describe by name and dimensions.
    pub fn build_with_embedder(
        corpus: impl Into<Arc<Corpus>>,
        config: &IndexConfig,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, SearchError> {
        config.check()?;
        let refuse = |key, got: String, want: String| Err(SearchError::Config { key, got, want });
        let Some(dense) = &config.dense else {
            return refuse("dense", "absent".to_owned(), format!("a table for `{}`", embedder.name()));
        };
        if dense.role != embedder.name() {
            return refuse("dense.role", format!("`{}`", dense.role), format!("`{}`", embedder.name()));
        }
        if dense.dimensions != embedder.dimensions() {
            let want = format!("{}, as `{}` gives", embedder.dimensions(), embedder.name());
            return refuse("dense.dimensions", dense.dimensions.to_string(), want);
        }
        Self::assemble(corpus.into(), config, Some(embedder))
    }

    fn assemble(
        corpus: Arc<Corpus>,
        config: &IndexConfig,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Result<Self, SearchError> {
        if corpus.is_empty() {
            return Err(SearchError::EmptyCorpus);
        }
        let words = WordIndex::build(&corpus, config);
        let dense = embedder.map(|embedder| DenseIndex::build(&corpus, embedder)).transpose()?;
        let digest = digest::index(&corpus, config)?;
        Ok(Self { corpus, config: config.clone(), words, dense, digest })
    }

    /// At most `k` documents for a query in plain words, best first, in the config's mode; none when nothing matches.
    pub fn search(&self, query: &str, k: usize) -> Result<Vec<Hit>, SearchError> {
        self.search_by(self.config.default_mode(), query, k)
    }

    /// As [`Index::search`], in the mode named.
    pub fn search_by(&self, mode: Mode, query: &str, k: usize) -> Result<Vec<Hit>, SearchError> {
        refuse(query, k)?;
        let plan = self.words.plan(query);
        let ranked = self.rank(mode, &plan, query, k)?;
        let hit = |(at, score): (u32, f32)| {
            self.corpus.documents().get(at as usize).map(|document| Hit {
                id: document.id.clone(),
                title: document.title.clone(),
                snippet: snippet(
                    &document.text,
                    &plan.asked,
                    self.words.analyser(),
                    self.config.snippet_chars,
                ),
                score,
            })
        };
        Ok(ranked.into_iter().filter_map(hit).collect())
    }

    /// The BM25 score for a query of a text that is not in the corpus, by the corpus's own statistics; 0 where they share no word.
    pub fn score(&self, query: &str, text: &str) -> f32 {
        self.words.score(query, text)
    }

    fn rank(
        &self,
        mode: Mode,
        plan: &Plan<'_>,
        query: &str,
        k: usize,
    ) -> Result<Vec<(u32, f32)>, SearchError> {
        match mode {
            Mode::Words if !plan.has_words => Err(QueryRefusal::NoWords.into()),
            Mode::Words => Ok(self.words.rank(plan, k)),
            Mode::Dense => Ok(self.nearest(mode, query, k)?.ok_or(QueryRefusal::NoWords)?),
            Mode::Hybrid => self.hybrid(plan, query, k),
        }
    }

    /// The nearest vectors; nothing when the query has no direction.
    fn nearest(&self, mode: Mode, query: &str, k: usize) -> Result<Option<Vec<(u32, f32)>>, SearchError> {
        let dense = self.dense.as_ref().ok_or(QueryRefusal::NoVectors { mode: mode.name() })?;
        Ok(dense.embed(query)?.map(|vector| dense.rank(&vector, k)))
    }

    /// Refused only when neither words nor vector say anything.
    fn hybrid(&self, plan: &Plan<'_>, query: &str, k: usize) -> Result<Vec<(u32, f32)>, SearchError> {
        let depth = k.max(FUSION_DEPTH);
        let nearest = self.nearest(Mode::Hybrid, query, depth)?;
        if nearest.is_none() && !plan.has_words {
            return Err(QueryRefusal::NoWords.into());
        }
        let words = self.words.rank(plan, depth);
        let weight = self.config.dense.as_ref().map_or(0.0, |dense| f64::from(dense.weight));
        Ok(fuse(&[(&words, 1.0), (&nearest.unwrap_or_default(), weight)], k))
    }

    /// The whole document called `id`.
    pub fn get(&self, id: &str) -> Option<&Document> {
        self.corpus.get(id)
    }

    /// The documents that are searched.
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// The settings it was made with.
    pub fn config(&self) -> &IndexConfig {
        &self.config
    }

    /// SHA-256 of corpus, settings and kind of index in hexadecimal: equal digests give equal answers, as long as an embedder
    /// handed in keeps its vectors under its name.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let documents = self.corpus.len();
        f.debug_struct("Index").field("documents", &documents).field("digest", &self.digest).finish()
    }
}

pub(crate) fn refuse(query: &str, k: usize) -> Result<(), QueryRefusal> {
    if !(1..=MAX_HITS).contains(&k) {
        return Err(QueryRefusal::Hits { asked: k, max: MAX_HITS });
    }
    if query.len() > MAX_QUERY_BYTES {
        return Err(QueryRefusal::TooLong { bytes: query.len(), max: MAX_QUERY_BYTES });
    }
    match query.trim().is_empty() {
        true => Err(QueryRefusal::Empty),
        false => Ok(()),
    }
}
