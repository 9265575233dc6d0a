//! One field of all documents, indexed: its words, the list of each, and how long the field is in every document.
//!
//! Parts of the corpus are read side by side and put together in order of the corpus. The numbers of the lists depend on
//! neither, and no answer depends on the numbers.

use super::bm25::{Norms, step, weight};
use super::postings::{END, Growing, Lists};
use crate::analysis::{Analyser, plain_words};
use rayon::prelude::*;
use std::collections::HashMap;

/// Documents that one thread reads at a time.
const PART: usize = 4096;

/// A field, ready to be asked.
pub(super) struct Field {
    pub(super) words: HashMap<Box<str>, u32>,
    pub(super) lists: Lists,
    /// The step of its length, by document.
    pub(super) lengths: Vec<u8>,
    pub(super) norms: Norms,
}

impl Field {
    /// Indexes what `text` gives of each document.
    pub(super) fn build<'a, T: Sync>(
        documents: &'a [T],
        analyser: &Analyser,
        text: impl Fn(&'a T) -> &'a str + Sync,
    ) -> Self {
        let mut whole = Part::default();
        for group in documents.chunks(PART * 2 * rayon::current_num_threads()) {
            let first = whole.lengths.len();
            let parts: Vec<Part> = group
                .par_chunks(PART)
                .enumerate()
                .map(|(at, part)| Part::read(part.iter().map(&text), first + at * PART, analyser))
                .collect();
            parts.into_iter().for_each(|part| whole.append(part));
        }
        whole.finish()
    }

    /// The list of a term; nothing when no document has it.
    pub(super) fn list(&self, term: &str) -> Option<u32> {
        self.words.get(term).copied()
    }

    #[inline]
    pub(super) fn norm(&self, document: u32) -> f32 {
        self.lengths.get(document as usize).map_or(0.0, |step| self.norms.of(*step))
    }
}

/// A run of documents that is still being read.
#[derive(Default)]
struct Part {
    words: HashMap<Box<str>, u32>,
    lists: Vec<Growing>,
    lengths: Vec<u8>,
    /// Words of all documents together.
    tokens: u64,
}

impl Part {
    fn read<'a>(texts: impl Iterator<Item = &'a str>, first: usize, analyser: &Analyser) -> Self {
        let mut part = Self::default();
        // What every plain word of the part is indexed as, so that it is stemmed once.
        let mut seen: HashMap<Box<str>, u32> = HashMap::new();
        let (mut counts, mut touched): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (document, text) in (first as u32..).zip(texts) {
            let mut length = 0_u32;
            plain_words(text, |word, _| {
                let list = match seen.get(word) {
                    Some(list) => *list,
                    None => {
                        let list = analyser.term(word).map_or(END, |term| part.list(&term));
                        seen.insert(word.into(), list);
                        list
                    }
                };
                if list == END {
                    return;
                }
                length += 1;
                counts.resize(part.lists.len(), 0);
                if let Some(count) = counts.get_mut(list as usize) {
                    *count += 1;
                    if *count == 1 {
                        touched.push(list);
                    }
                }
            });
            for list in touched.drain(..) {
                let at = list as usize;
                if let (Some(list), Some(count)) = (part.lists.get_mut(at), counts.get_mut(at)) {
                    list.push(document, std::mem::take(count));
                }
            }
            part.lengths.push(step(length));
            part.tokens += u64::from(length);
        }
        part
    }

    /// The list of a term, a new one where there is none.
    fn list(&mut self, term: &str) -> u32 {
        if let Some(list) = self.words.get(term) {
            return *list;
        }
        let list = self.lists.len() as u32;
        self.words.insert(term.into(), list);
        self.lists.push(Growing::default());
        list
    }

    /// Adds the documents that come after its own.
    fn append(&mut self, later: Self) {
        for (word, at) in later.words {
            let list = self.list(&word);
            if let (Some(list), Some(more)) =
                (self.lists.get_mut(list as usize), later.lists.get(at as usize))
            {
                list.append(more);
            }
        }
        self.lengths.extend(later.lengths);
        self.tokens += later.tokens;
    }

    fn finish(self) -> Field {
        let all = self.lengths.len() as u32;
        let norms = Norms::new(self.tokens as f32 / all as f32);
        let mut words = self.words;
        words.shrink_to_fit();
        let mut field = Field { words, lists: Lists::default(), lengths: self.lengths, norms };
        let mut lists = Lists::default();
        for list in self.lists {
            let weight = weight(list.documents(), all);
            lists.push(list, weight, |document| field.norm(document));
        }
        lists.shrink();
        field.lists = lists;
        field
    }
}
