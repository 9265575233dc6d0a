//! What is searched: an index over the keys as they were when it was made, and the keys that came since, which are read one by one.
//!
//! The index is never changed. Items that are forgotten are passed over; once the items that came or went are an eighth of all, the
//! shelf is worn and is made anew.

use crate::kept::KeptWords;
use crate::vectors::Vectors;
use crate::{MemoryError, Retrieval};
use merit_search::{MAX_HITS, SearchError, TextIndex, fuse};
use std::collections::BTreeSet;

/// A shelf is not worn before so many items came or went.
const FRESH: usize = 1024;

/// The depth to which words and vectors are fused, at least.
const DEEP: usize = 32;

/// No item has this number.
const NOBODY: i64 = -1;

/// The searchable side of a memory.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// The item at every place: those of the index, then those that came since.
    ids: Vec<i64>,
    /// Absent where nothing was there to index.
    index: Option<TextIndex>,
    /// Made when vectors are first asked for.
    pub(crate) vectors: Option<Vectors>,
    /// Keys that came since the index was made.
    tail: Vec<String>,
    gone: BTreeSet<i64>,
    /// What the database said of changes by others when this was read.
    seen: i64,
    /// The file that the index is kept in.
    pub(crate) kept: Option<String>,
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
    pub(crate) fn build(keys: Vec<(i64, String)>, seen: i64) -> Self {
        let (ids, keys): (Vec<i64>, Vec<String>) = keys.into_iter().unzip();
        let index = (!ids.is_empty()).then(|| TextIndex::build(&keys));
        Self { ids, index, seen, ..Self::default() }
    }

    pub(crate) fn of_kept(words: KeptWords, seen: i64) -> Self {
        let KeptWords { ids, index, digest, .. } = words;
        Self { ids, index: Some(index), seen, kept: Some(digest), ..Self::default() }
    }

    /// The items of the index and the index, where there is one.
    pub(crate) fn indexed(&self) -> (&[i64], Option<&TextIndex>) {
        (&self.ids[..self.ids.len() - self.tail.len()], self.index.as_ref())
    }

    /// The vectors of the index; those of keys that came since are added.
    pub(crate) fn put_vectors(&mut self, mut vectors: Vectors) -> Result<(), MemoryError> {
        self.tail.iter().try_for_each(|key| vectors.push(key))?;
        self.vectors = Some(vectors);
        Ok(())
    }

    pub(crate) fn push(&mut self, id: i64, key: &str) -> Result<(), MemoryError> {
        if let Some(vectors) = &mut self.vectors {
            vectors.push(key)?;
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
    pub(crate) fn rank(&self, by: Retrieval, query: &str, k: usize) -> Result<Vec<(i64, f64)>, MemoryError> {
        let ranked = match by {
            Retrieval::Dense => self.nearest(query, k)?,
            Retrieval::Hybrid => {
                let depth = k.max(DEEP);
                fuse(&[(&self.words(query, depth)?, 1.0), (&self.nearest(query, depth)?, 1.0)], k)
            }
            Retrieval::Words | Retrieval::Exact | Retrieval::Graph => self.words(query, k)?,
        };
        Ok(ranked.into_iter().map(|(at, score)| (self.ids[at as usize], f64::from(score))).collect())
    }

    fn words(&self, query: &str, k: usize) -> Result<Vec<(u32, f32)>, MemoryError> {
        let Some(index) = &self.index else { return Ok(Vec::new()) };
        let deep = k.saturating_add(self.gone.len()).min(MAX_HITS);
        let mut found = match index.rank(query, deep) {
            // A query without words finds nothing.
            Err(SearchError::Query(_)) => return Ok(Vec::new()),
            found => found?,
        };
        let first = (self.ids.len() - self.tail.len()) as u32;
        let fresh = (first..).zip(&self.tail).map(|(at, key)| (at, index.score(query, key)));
        found.extend(fresh.filter(|(_, score)| *score > 0.0));
        Ok(self.best(found, k))
    }

    fn nearest(&self, query: &str, k: usize) -> Result<Vec<(u32, f32)>, MemoryError> {
        let here = |place: u32| self.here(place);
        self.vectors.as_ref().map_or(Ok(Vec::new()), |vectors| vectors.rank(query, k, here))
    }

    /// Whether the item at this place is still there.
    fn here(&self, place: u32) -> bool {
        self.ids.get(place as usize).is_some_and(|id| *id != NOBODY && !self.gone.contains(id))
    }

    /// The best `k` that are still there; of equals, the one that was made first.
    fn best(&self, mut found: Vec<(u32, f32)>, k: usize) -> Vec<(u32, f32)> {
        found.retain(|(place, _)| self.here(*place));
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(k);
        found
    }
}
