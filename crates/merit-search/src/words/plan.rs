//! From a query's text to the terms that are looked up.

use super::{AskedWord, WordIndex};
use crate::SearchError;
use tantivy::query::Bm25Weight;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};

/// Most distinct words of a query that are looked up; of more, the rarest of the corpus.
pub const MAX_QUERY_TERMS: usize = 64;

/// What a query asks of the word index.
pub(crate) struct Plan {
    /// Whether the query had words at all, known to the corpus or not.
    pub(crate) has_words: bool,
    /// Words of the query that the corpus has, in order of the query.
    pub(crate) asked: Vec<AskedWord>,
    /// Terms to look up, texts' before titles' for each word.
    pub(super) clauses: Vec<Clause>,
}

/// One term of one field.
pub(super) struct Clause {
    pub(super) field: Field,
    pub(super) term: Term,
    /// The field's weight times the word's count in the query.
    pub(super) boost: f32,
    /// Scores one occurrence list; `boost` included.
    pub(super) weight: Bm25Weight,
}

struct Word {
    term: String,
    count: u32,
    /// Documents that have it, by field.
    in_text: u64,
    in_title: u64,
}

impl WordIndex {
    /// Looks every word of the query up in the dictionaries.
    pub(crate) fn plan(&self, query: &str) -> Result<Plan, SearchError> {
        let mut words = self.count(query);
        let has_words = !words.is_empty();
        for segment in self.searcher.segment_readers() {
            for word in &mut words {
                word.in_text = self.frequency(segment, self.text, &word.term)?;
                word.in_title = self.frequency(segment, self.title, &word.term)?;
            }
        }
        words.retain(|word| word.in_text + word.in_title > 0);
        let words = rarest(words);
        let (text, title) = (self.average_length(self.text)?, self.average_length(self.title)?);
        let all = self.searcher.num_docs();
        let mut clauses = Vec::with_capacity(2 * words.len());
        for word in &words {
            let fields =
                [(self.text, word.in_text, 1.0, text), (self.title, word.in_title, self.title_boost, title)];
            for (field, found, field_boost, average) in fields {
                if found == 0 {
                    continue;
                }
                let boost = field_boost * word.count as f32;
                let weight = Bm25Weight::for_one_term_without_explain(found, all, average).boost_by(boost);
                clauses.push(Clause { field, term: Term::from_field_text(field, &word.term), boost, weight });
            }
        }
        let asked = |word: Word| AskedWord { idf: idf(word.in_text, all), term: word.term };
        Ok(Plan { has_words, clauses, asked: words.into_iter().map(asked).collect() })
    }

    /// Distinct words in order of their first appearance.
    fn count(&self, query: &str) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut places = std::collections::HashMap::new();
        self.analyser().token_stream(query).process(&mut |token| {
            let at = *places.entry(token.text.clone()).or_insert(words.len());
            match words.get_mut(at) {
                Some(word) => word.count += 1,
                None => words.push(Word { term: token.text.clone(), count: 1, in_text: 0, in_title: 0 }),
            }
        });
        words
    }

    fn frequency(&self, segment: &SegmentReader, field: Field, word: &str) -> Result<u64, SearchError> {
        let index = segment.inverted_index(field)?;
        Ok(u64::from(index.doc_freq(&Term::from_field_text(field, word))?))
    }

    /// Words per document; only asked of fields where a word was found, so never divided by.
    fn average_length(&self, field: Field) -> Result<f32, SearchError> {
        let mut tokens = 0;
        for segment in self.searcher.segment_readers() {
            tokens += segment.inverted_index(field)?.total_num_tokens();
        }
        Ok(tokens as f32 / self.searcher.num_docs() as f32)
    }
}

/// How the occurrences of a clause are read.
pub(super) const WITH_COUNTS: IndexRecordOption = IndexRecordOption::WithFreqs;

fn rarest(mut words: Vec<Word>) -> Vec<Word> {
    if words.len() <= MAX_QUERY_TERMS {
        return words;
    }
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by_key(|at| words.get(*at).map(|word| word.in_text + word.in_title));
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

fn idf(found: u64, all: u64) -> f32 {
    let (found, all) = (found as f32, all as f32);
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
}
