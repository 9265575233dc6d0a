//! The best documents of a plan, in an order that rests on the scores alone.
//!
//! Documents are visited in order of the corpus by MaxScore (Turtle and Flood, 1995): terms whose greatest possible scores
//! together cannot reach the top are only looked up in documents that the other terms bring, and only where the best scores of
//! the blocks leave hope (block-max indexes, Ding and Suel, 2011). A document's scores are added in the order of the query, so that equal documents have equal scores
//! to the last bit and ties are those of the formula.

use super::WordIndex;
use super::bm25::score;
use super::plan::{Clause, Plan};
use super::postings::{Cursor, END};
use crate::top::Top;

/// A document's position and score.
pub(crate) type Ranked = (u32, f32);

/// More than rounding can move a sum of at most 128 terms, relative to it.
const ROUNDING: f32 = 2e-5;

/// Lists of at most this many documents are read beforehand to see what it takes to reach the top; of longer ones the best
/// scores of the blocks say it nearly as well.
const SHORT_LIST: u32 = 2048;

/// The documents of one clause.
struct List<'a> {
    clause: &'a Clause<'a>,
    /// The clause's place in the plan.
    place: usize,
    cursor: Cursor<'a>,
    /// No document of the list scores more.
    bound: f32,
    /// Bounds of all lists before it together.
    before: f32,
    /// Bounds of this and all lists before it together.
    reach: f32,
}

impl WordIndex {
    /// At most `k` documents, best first, ties in order of the corpus.
    pub(crate) fn rank(&self, plan: &Plan<'_>, k: usize) -> Vec<Ranked> {
        let lists = plan.clauses.iter().enumerate().map(|(place, clause)| List::new(clause, place));
        let mut lists: Vec<List<'_>> = lists.collect();
        let floor = lists.iter().map(|list| list.sure(k)).fold(0.0, f32::max);
        if let [one] = lists.as_mut_slice() {
            return one.best(k, floor);
        }
        lists.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut reach = 0.0;
        for list in &mut lists {
            list.before = reach;
            reach += list.bound * (1.0 + ROUNDING);
            list.reach = reach;
        }
        visit(&mut lists, k, floor)
    }
}

/// The best `k` above `floor` of lists sorted by what they can add.
fn visit(lists: &mut [List<'_>], k: usize, floor: f32) -> Vec<Ranked> {
    let mut top = Top::new(k, floor);
    let mut parts = vec![0.0; lists.iter().map(|list| list.place + 1).max().unwrap_or(0)];
    let mut weak = lists.partition_point(|list| list.reach <= top.floor());
    // Documents before this one are worth a look.
    let mut window = 0;
    while let Some((lookups, drivers)) = lists.split_at_mut_checked(weak) {
        let document = drivers.iter().map(|list| list.cursor.document()).min().unwrap_or(END);
        if document == END {
            break;
        }
        if document >= window {
            let before = drivers.first().map_or(0.0, |list| list.before);
            let Some((from, to)) = hopeful(drivers, document, before, top.floor()) else { break };
            window = to;
            if from > document {
                drivers.iter_mut().for_each(|list| _ = list.cursor.seek(from));
                continue;
            }
        }
        if let Some(score) = scored(lookups, drivers, document, &mut parts, top.floor())
            && top.offer(document, score)
        {
            weak = lists.partition_point(|list| list.reach <= top.floor());
            window = 0;
        }
    }
    top.into_ranked()
}

/// The first run of documents at or after `from` in which the blocks of the drivers, and what others add to them at best, leave
/// hope to pass the floor; its end is not part of it.
fn hopeful(drivers: &mut [List<'_>], mut from: u32, others: f32, floor: f32) -> Option<(u32, u32)> {
    loop {
        let (mut sum, mut last) = (others, None);
        for list in drivers.iter_mut() {
            if let Some(block) = list.cursor.block_near(from) {
                sum += most(block.best, list.clause.boost);
                last = Some(last.map_or(block.last, |last: u32| last.min(block.last)));
            }
        }
        let end = last? + 1;
        if sum * (1.0 + ROUNDING) > floor {
            return Some((from, end));
        }
        from = end;
    }
}

/// The score of a document that a driver stands on, and the drivers moved past it; nothing when it cannot pass the floor.
fn scored(
    lookups: &mut [List<'_>],
    drivers: &mut [List<'_>],
    document: u32,
    parts: &mut [f32],
    floor: f32,
) -> Option<f32> {
    parts.fill(0.0);
    let mut sum = 0.0;
    for list in drivers {
        if list.cursor.document() == document {
            sum += list.put(document, parts);
            list.cursor.advance();
        }
    }
    for list in lookups.iter_mut().rev() {
        // What this list can add at best here, and those before it anywhere.
        let block = list.cursor.block_near(document);
        let here = block.map_or(0.0, |block| most(block.best, list.clause.boost)) + list.before;
        if (sum + here) * (1.0 + ROUNDING) <= floor {
            return None;
        }
        if list.cursor.seek(document) {
            sum += list.put(document, parts);
        }
    }
    Some(parts.iter().sum())
}

impl<'a> List<'a> {
    fn new(clause: &'a Clause<'a>, place: usize) -> Self {
        let cursor = clause.field.lists.cursor(clause.list);
        let best = cursor.blocks().iter().map(|block| block.best).fold(0.0, f32::max);
        Self { clause, place, cursor, bound: most(best, clause.boost), before: 0.0, reach: 0.0 }
    }

    /// Notes the score of the document it stands on.
    fn put(&self, document: u32, parts: &mut [f32]) -> f32 {
        let score = score(self.clause.weight, self.clause.field.norm(document), self.cursor.count());
        if let Some(part) = parts.get_mut(self.place) {
            *part = score;
        }
        score
    }

    /// A score that at least `k` documents pass by this list alone; 0 when that cannot be said cheaply.
    fn sure(&self, k: usize) -> f32 {
        let place = k.saturating_sub(1);
        if self.clause.field.lists.documents(self.clause.list) <= SHORT_LIST {
            let mut list = Self { cursor: self.cursor.clone(), ..*self };
            return list.best(k, 0.0).get(place).map_or(0.0, |(_, score)| score.next_down());
        }
        // Each of these scores is that of another document.
        let mut best: Vec<f32> = self.cursor.blocks().iter().map(|block| block.best).collect();
        if place >= best.len() {
            return 0.0;
        }
        let (_, score, _) = best.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
        match self.clause.boost == 1.0 {
            true => score.next_down(),
            false => *score * self.clause.boost * (1.0 - ROUNDING),
        }
    }

    /// The best `k` documents above `floor` of this list alone. Blocks that cannot reach the top are not read.
    fn best(&mut self, k: usize, floor: f32) -> Vec<Ranked> {
        let mut top = Top::new(k, floor);
        let (clause, blocks) = (self.clause, self.cursor.blocks());
        for (at, block) in blocks.iter().enumerate() {
            if most(block.best, clause.boost) > top.floor() {
                self.cursor.read_block(at, |document, count| {
                    top.offer(document, score(clause.weight, clause.field.norm(document), count));
                });
            }
        }
        top.into_ranked()
    }
}

/// The most that a score becomes with its boost, which is multiplied with the weight and not with the score.
fn most(best: f32, boost: f32) -> f32 {
    if boost == 1.0 { best } else { best * boost * (1.0 + ROUNDING) }
}
