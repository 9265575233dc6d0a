//! Deadlines of the episodes in flight, earliest first. Stale entries are harmless: the machine looks again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

#[derive(Default)]
pub(crate) struct Deadlines(BinaryHeap<Reverse<(Instant, usize)>>);

impl Deadlines {
    pub(crate) fn push(&mut self, at: Instant, slot: usize) {
        self.0.push(Reverse((at, slot)));
    }

    /// The slot of a deadline that has passed.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<usize> {
        let Reverse((at, slot)) = *self.0.peek()?;
        (at <= now).then(|| {
            self.0.pop();
            slot
        })
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }
}
