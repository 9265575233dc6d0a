//! Which of these texts share words with the query? The word side of an [`Index`](crate::Index) alone: texts are known by their place, are
//! not kept, and the index can be written down.
//!
//! Ranks and scores are those of an index whose documents have these texts and no titles, with the usual settings.

use crate::index::refuse;
use crate::words::WordIndex;
use crate::{IndexConfig, QueryRefusal, SearchError};

/// An index of the words of texts.
///
/// ```
/// let index = merit_search::TextIndex::build(&["Owls hunt at night.", "Bats sleep by day."]);
/// assert_eq!(index.rank("who hunts", 5)?[0].0, 0);
/// let mut bytes = Vec::new();
/// index.write(&mut bytes);
/// let again = merit_search::TextIndex::read(&bytes).expect("these bytes were just written");
/// assert_eq!(again.rank("sleeping bats", 5)?, index.rank("sleeping bats", 5)?);
/// assert!(merit_search::TextIndex::read(&bytes[1..]).is_none());
/// # Ok::<(), merit_search::SearchError>(())
/// ```
pub struct TextIndex(WordIndex);

impl TextIndex {
    pub fn build<T: AsRef<str> + Sync>(texts: &[T]) -> Self {
        Self(WordIndex::over(texts, &IndexConfig::default()))
    }

    /// At most `k` places, best first, of equals the earlier. Refused where the query has no words, or cannot be asked.
    pub fn rank(&self, query: &str, k: usize) -> Result<Vec<(u32, f32)>, SearchError> {
        refuse(query, k)?;
        let plan = self.0.plan(query);
        if !plan.has_words {
            return Err(QueryRefusal::NoWords.into());
        }
        Ok(self.0.rank(&plan, k))
    }

    /// The score for a query of a text that is not among them, by their statistics; 0 where they share no word.
    pub fn score(&self, query: &str, text: &str) -> f32 {
        self.0.score(query, text)
    }

    /// Appends what [`TextIndex::read`] makes the same index of.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        self.0.write(bytes);
    }

    /// Nothing where the bytes are cut or of another format. Bytes that were altered are not told from others.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        WordIndex::read(bytes, &IndexConfig::default()).map(Self)
    }
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextIndex").finish_non_exhaustive()
    }
}
