//! The best documents of a plan, in an order that rests on the scores alone.
//!
//! Documents are visited in order of the corpus by MaxScore (Turtle and Flood, 1995): terms whose greatest possible scores
//! together cannot reach the top are only looked up in documents that the other terms bring. A document's scores are added in
//! the order of the query, so that equal documents have equal scores to the last bit and ties are those of the formula.

use super::WordIndex;
use super::plan::{Clause, Plan, WITH_COUNTS};
use crate::SearchError;
use crate::top::Top;
use tantivy::collector::TopDocs;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::TermQuery;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED};

/// A document's position and score.
pub(crate) type Ranked = (u32, f32);

/// More than rounding can move a sum of at most 128 terms, relative to it.
const ROUNDING: f32 = 2e-5;

/// Lists of at most this many documents are read beforehand to see what they can add and what it takes to reach the top; the
/// best scores of longer ones are kept with the index.
pub(super) const SHORT_LIST: u32 = 2048;

/// The documents of one clause.
struct List<'a> {
    clause: &'a Clause,
    /// The clause's place in the plan.
    place: usize,
    postings: SegmentPostings,
    lengths: FieldNormReader,
    /// No document of the list scores more.
    bound: f32,
    /// Bounds of this and all lists before it together.
    reach: f32,
}

impl WordIndex {
    /// At most `k` documents, best first, ties in order of the corpus.
    pub(crate) fn rank(&self, plan: &Plan, k: usize) -> Result<Vec<Ranked>, SearchError> {
        match plan.clauses.as_slice() {
            // Skips blocks that cannot reach the top, which a single sum allows.
            [one] if one.boost == 1.0 => {
                let query = TermQuery::new(one.term.clone(), WITH_COUNTS);
                let found = self.searcher.search(&query, &TopDocs::with_limit(k).order_by_score())?;
                Ok(found.into_iter().map(|(score, address)| (address.doc_id, score)).collect())
            }
            clauses => match self.searcher.segment_readers().first() {
                Some(segment) => self.max_score(clauses, segment, k),
                None => Ok(Vec::new()),
            },
        }
    }

    fn max_score(
        &self,
        clauses: &[Clause],
        segment: &SegmentReader,
        k: usize,
    ) -> Result<Vec<Ranked>, SearchError> {
        let mut lists = lists(clauses, segment)?;
        let mut floor = 0.0_f32;
        for list in &mut lists {
            if let Some(best) = self.bounds.get(&list.clause.term) {
                list.bound = best * list.clause.boost * (1.0 + ROUNDING);
                continue;
            }
            let best = list.best(k);
            list.bound = best.first().map_or(0.0, |(_, score)| *score);
            // At least `k` documents score more than this.
            let sure = best.get(k.saturating_sub(1)).map_or(0.0, |(_, score)| score.next_down());
            floor = floor.max(sure);
        }
        lists.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut reach = 0.0;
        for list in &mut lists {
            reach += list.bound * (1.0 + ROUNDING);
            list.reach = reach;
        }
        Ok(visit(&mut lists, k, floor))
    }
}

/// Lists of all clauses.
fn lists<'a>(clauses: &'a [Clause], segment: &SegmentReader) -> Result<Vec<List<'a>>, SearchError> {
    let mut lists = Vec::with_capacity(clauses.len());
    for (place, clause) in clauses.iter().enumerate() {
        let index = segment.inverted_index(clause.field)?;
        if let Some(postings) = index.read_postings(&clause.term, WITH_COUNTS)? {
            let lengths = segment.get_fieldnorms_reader(clause.field)?;
            lists.push(List { clause, place, postings, lengths, bound: f32::INFINITY, reach: f32::INFINITY });
        }
    }
    Ok(lists)
}

/// The best `k` above `floor` of lists sorted by what they can add.
fn visit(lists: &mut [List<'_>], k: usize, floor: f32) -> Vec<Ranked> {
    let mut top = Top::new(k, floor);
    let mut parts = vec![0.0; lists.iter().map(|list| list.place + 1).max().unwrap_or(0)];
    let mut weak = lists.partition_point(|list| list.reach <= top.floor());
    while let Some((lookups, drivers)) = lists.split_at_mut_checked(weak) {
        let Some(doc) = drivers.iter().map(List::doc).min().filter(|doc| *doc != TERMINATED) else { break };
        parts.fill(0.0);
        let mut sum = 0.0;
        for list in drivers {
            if list.doc() == doc {
                sum += list.put(doc, &mut parts);
                list.postings.advance();
            }
        }
        let mut hopeful = true;
        for list in lookups.iter_mut().rev() {
            if sum * (1.0 + ROUNDING) + list.reach <= top.floor() {
                hopeful = false;
                break;
            }
            if list.seek(doc) {
                sum += list.put(doc, &mut parts);
            }
        }
        if hopeful && top.offer(doc, parts.iter().sum()) {
            weak = lists.partition_point(|list| list.reach <= top.floor());
        }
    }
    top.into_ranked()
}

impl List<'_> {
    fn doc(&self) -> DocId {
        self.postings.doc()
    }

    /// Goes to the first document at or after `doc`; whether it is `doc`.
    fn seek(&mut self, doc: DocId) -> bool {
        if self.postings.doc() < doc {
            self.postings.seek(doc);
        }
        self.postings.doc() == doc
    }

    fn score(&self, doc: DocId) -> f32 {
        self.clause.weight.score(self.lengths.fieldnorm_id(doc), self.postings.term_freq())
    }

    /// Notes the score of the document it stands on.
    fn put(&self, doc: DocId, parts: &mut [f32]) -> f32 {
        let score = self.score(doc);
        if let Some(part) = parts.get_mut(self.place) {
            *part = score;
        }
        score
    }

    /// The best `k` documents of this list alone; made for short lists.
    fn best(&self, k: usize) -> Vec<Ranked> {
        let (mut list, mut top) = (self.postings.clone(), Top::new(k, 0.0));
        while list.doc() != TERMINATED {
            let doc = list.doc();
            top.offer(doc, self.clause.weight.score(self.lengths.fieldnorm_id(doc), list.term_freq()));
            list.advance();
        }
        top.into_ranked()
    }
}
