//! How much can a frequent word matter? The best score of every long list, found once when the index is built.

use super::rank::SHORT_LIST;
use crate::SearchError;
use std::collections::HashMap;
use tantivy::postings::Postings;
use tantivy::query::Bm25Weight;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

/// The best score of a term without boost, for terms of more documents than a short list has.
pub(super) type Bounds = HashMap<Term, f32>;

pub(super) fn bounds(segment: &SegmentReader, fields: &[Field]) -> Result<Bounds, SearchError> {
    let mut bounds = Bounds::new();
    let all = u64::from(segment.max_doc());
    for field in fields {
        let index = segment.inverted_index(*field)?;
        let lengths = segment.get_fieldnorms_reader(*field)?;
        let average = index.total_num_tokens() as f32 / all as f32;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            let found = terms.value().doc_freq;
            let (true, Ok(word)) = (found > SHORT_LIST, std::str::from_utf8(terms.key())) else { continue };
            let weight = Bm25Weight::for_one_term_without_explain(u64::from(found), all, average);
            let mut list = index.read_postings_from_terminfo(terms.value(), IndexRecordOption::WithFreqs)?;
            let mut best = 0.0_f32;
            while list.doc() != TERMINATED {
                best = best.max(weight.score(lengths.fieldnorm_id(list.doc()), list.term_freq()));
                list.advance();
            }
            bounds.insert(Term::from_field_text(*field, word), best);
        }
    }
    Ok(bounds)
}
