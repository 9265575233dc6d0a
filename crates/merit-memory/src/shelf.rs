//! What is searched: an index over the keys as they were when it was made, and the keys that came since, which are read one by one.
//!
//! The index is never changed. Items that are forgotten are passed over; once the items that came or went are an eighth of all, the
//! shelf is worn and is made anew.

use crate::lists::Lists;
use crate::{MemoryError, Retrieval};
use merit_search::{Corpus, Document, Index, IndexConfig, MAX_HITS, Mode, SearchError, fuse};
use std::collections::BTreeSet;

/// A shelf is not worn before so many items came or went.
const FRESH: usize = 1024;

/// Places by words that are also held against the vector of a query, and the depth to which the two lists are fused.
const DEEP: usize = 32;

/// No item has this number.
const NOBODY: i64 = -1;

/// The searchable side of a memory.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// The item at every place: those of the index, then those that came since.
    ids: Vec<i64>,
    /// Absent where nothing was there to index.
    index: Option<Index>,
    /// Made when vectors are first asked for.
    lists: Option<Lists>,
    /// Keys that came since the index was made.
    tail: Vec<String>,
    gone: BTreeSet<i64>,
    /// What the database said of changes by others when this was read.
    seen: i64,
}

/// What keys are compared by: their words, lowercase and without accents, with one space between.
pub(crate) fn name_of(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    merit_search::words(text, &mut |word| {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    });
    name
}

impl Shelf {
    pub(crate) fn build(keys: Vec<(i64, String)>, seen: i64) -> Result<Self, MemoryError> {
        let (ids, keys): (Vec<i64>, Vec<String>) = keys.into_iter().unzip();
        let document =
            |(at, text): (usize, String)| Document { id: at.to_string(), title: String::new(), text };
        let corpus = Corpus::new(keys.into_iter().enumerate().map(document).collect())?;
        let config = IndexConfig { title_boost: 0.0, ..IndexConfig::default() };
        let index = if ids.is_empty() { None } else { Some(Index::build(corpus, &config)?) };
        Ok(Self { ids, index, seen, ..Self::default() })
    }

    pub(crate) fn push(&mut self, id: i64, key: &str) -> Result<(), MemoryError> {
        if let Some(lists) = &mut self.lists {
            lists.push(self.ids.len() as u32, key)?;
        }
        self.ids.push(id);
        self.tail.push(key.to_owned());
        Ok(())
    }

    /// The newest place of this item holds nothing any more.
    pub(crate) fn void(&mut self, id: i64) {
        if let Some(at) = self.ids.iter_mut().rev().find(|at| **at == id) {
            *at = NOBODY;
        }
    }

    pub(crate) fn remove(&mut self, id: i64) {
        self.gone.insert(id);
    }

    /// Whether others changed the items, or reading what came since costs more than a new index.
    pub(crate) fn is_worn(&self, seen: i64) -> bool {
        let changed = self.tail.len() + self.gone.len();
        self.seen != seen || (self.index.is_none() && changed > 0) || changed > FRESH.max(self.ids.len() / 8)
    }

    /// At most `k` items, best first.
    pub(crate) fn rank(
        &mut self,
        by: Retrieval,
        query: &str,
        k: usize,
    ) -> Result<Vec<(i64, f64)>, MemoryError> {
        let ranked = match by {
            Retrieval::Dense => {
                let words = self.words(query, k.max(DEEP))?;
                self.nearest(query, k, &words)?
            }
            Retrieval::Hybrid => {
                let depth = k.max(DEEP);
                let words = self.words(query, depth)?;
                let dense = self.nearest(query, depth, &words)?;
                fuse(&[(&words, 1.0), (&dense, 1.0)], k)
            }
            Retrieval::Words | Retrieval::Exact | Retrieval::Graph => self.words(query, k)?,
        };
        Ok(ranked.into_iter().map(|(at, score)| (self.ids[at as usize], f64::from(score))).collect())
    }

    fn words(&self, query: &str, k: usize) -> Result<Vec<(u32, f32)>, MemoryError> {
        let Some(index) = &self.index else { return Ok(Vec::new()) };
        let deep = k.saturating_add(self.gone.len()).min(MAX_HITS);
        let mut found = match index.rank_by(Mode::Words, query, deep) {
            // A query without words finds nothing.
            Err(SearchError::Query(_)) => return Ok(Vec::new()),
            found => found?,
        };
        let first = (self.ids.len() - self.tail.len()) as u32;
        let fresh = (first..).zip(&self.tail).map(|(at, key)| (at, index.score(query, key)));
        found.extend(fresh.filter(|(_, score)| *score > 0.0));
        Ok(self.best(found, k))
    }

    fn nearest(
        &mut self,
        query: &str,
        k: usize,
        also: &[(u32, f32)],
    ) -> Result<Vec<(u32, f32)>, MemoryError> {
        let lists = match self.lists.take() {
            Some(lists) => lists,
            None => {
                let indexed = self.index.as_ref().map_or(&[][..], |index| index.corpus().documents());
                let mut lists = Lists::build(indexed.len(), |at| &indexed[at].text)?;
                for (at, key) in (indexed.len() as u32..).zip(&self.tail) {
                    lists.push(at, key)?;
                }
                lists
            }
        };
        let found = lists.rank(query, k.saturating_add(self.gone.len().min(MAX_HITS)), also);
        self.lists = Some(lists);
        Ok(self.best(found?, k))
    }

    /// The best `k` that are still there; of equals, the one that was made first.
    fn best(&self, mut found: Vec<(u32, f32)>, k: usize) -> Vec<(u32, f32)> {
        found.retain(|(at, _)| {
            self.ids[*at as usize] != NOBODY && !self.gone.contains(&self.ids[*at as usize])
        });
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(k);
        found
    }
}
