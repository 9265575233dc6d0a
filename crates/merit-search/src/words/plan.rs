//! From a query's text to the lists that are read.

use super::bm25::{idf, score, step, weight};
use super::field::Field;
use super::{AskedWord, WordIndex};

/// Most distinct words of a query that are looked up; of more, the rarest of the corpus.
pub const MAX_QUERY_TERMS: usize = 64;

/// What a query asks of the word index.
pub(crate) struct Plan<'a> {
    /// Whether the query had words at all, known to the corpus or not.
    pub(crate) has_words: bool,
    /// Words of the query that the corpus has, in order of the query.
    pub(crate) asked: Vec<AskedWord>,
    /// Lists to read, texts' before titles' for each word.
    pub(super) clauses: Vec<Clause<'a>>,
}

/// One term of one field.
pub(super) struct Clause<'a> {
    pub(super) field: &'a Field,
    pub(super) list: u32,
    /// The field's weight times the word's count in the query.
    pub(super) boost: f32,
    /// What scores are multiplied with, `boost` included.
    pub(super) weight: f32,
}

struct Word {
    term: String,
    count: u32,
    /// Its lists, by field; absent where no document has it.
    text: Option<u32>,
    title: Option<u32>,
    /// Documents that have it in the text.
    in_text: u32,
    /// Documents that have it in the title.
    in_title: u32,
}

impl WordIndex {
    /// Looks every word of the query up in the dictionaries.
    pub(crate) fn plan(&self, query: &str) -> Plan<'_> {
        let mut words = self.count(query);
        let has_words = !words.is_empty();
        words.retain(|word| word.in_text + word.in_title > 0);
        let words = rarest(words);
        let mut clauses = Vec::with_capacity(2 * words.len());
        for word in &words {
            let fields = [
                (&self.text, word.text, word.in_text, 1.0),
                (&self.title, word.title, word.in_title, self.title_boost),
            ];
            for (field, list, found, field_boost) in fields {
                let Some(list) = list else { continue };
                let boost = field_boost * word.count as f32;
                clauses.push(Clause { field, list, boost, weight: weight(found, self.all) * boost });
            }
        }
        let asked = |word: Word| AskedWord { idf: idf(word.in_text, self.all), term: word.term };
        Plan { has_words, clauses, asked: words.into_iter().map(asked).collect() }
    }

    /// The score of a text that is not in the corpus, as if its text field were this.
    pub(crate) fn score(&self, query: &str, text: &str) -> f32 {
        let mut words = self.count(query);
        let (mut counts, mut length) = (vec![0_u32; words.len()], 0_u32);
        self.analyser.terms(text, |term, _| {
            length += 1;
            if let Some(at) = words.iter().position(|word| word.term == term)
                && let Some(count) = counts.get_mut(at)
            {
                *count += 1;
            }
        });
        let norm = self.text.norms.of(step(length));
        let part = |(word, count): (Word, u32)| {
            let asked = weight(word.in_text, self.all) * word.count as f32;
            if count == 0 { 0.0 } else { score(asked, norm, count) }
        };
        words.drain(..).zip(counts).map(part).sum()
    }

    /// Distinct words in order of their first appearance.
    fn count(&self, query: &str) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut places = std::collections::HashMap::new();
        self.analyser.terms(query, |term, _| {
            let at = *places.entry(term.to_owned()).or_insert(words.len());
            match words.get_mut(at) {
                Some(word) => word.count += 1,
                None => words.push(self.word(term)),
            }
        });
        words
    }

    fn word(&self, term: &str) -> Word {
        let (text, title) = (self.text.list(term), self.title.list(term));
        let in_text = text.map_or(0, |list| self.text.lists.documents(list));
        let in_title = title.map_or(0, |list| self.title.lists.documents(list));
        Word { term: term.to_owned(), count: 1, text, title, in_text, in_title }
    }
}

fn rarest(mut words: Vec<Word>) -> Vec<Word> {
    if words.len() <= MAX_QUERY_TERMS {
        return words;
    }
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by_key(|at| words.get(*at).map(|word| u64::from(word.in_text) + u64::from(word.in_title)));
    let mut kept = vec![false; words.len()];
    for at in order.into_iter().take(MAX_QUERY_TERMS) {
        if let Some(kept) = kept.get_mut(at) {
            *kept = true;
        }
    }
    let mut kept = kept.into_iter();
    words.retain(|_| kept.next().unwrap_or(false));
    words
}
