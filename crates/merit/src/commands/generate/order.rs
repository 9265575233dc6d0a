//! Results in the order of the input, whatever the order in which they are done.

use std::collections::VecDeque;

/// Lines under way, oldest first, each with room for its results.
#[derive(Debug)]
pub(super) struct InOrder<L, R> {
    first: u64,
    lines: VecDeque<Waiting<L, R>>,
}

#[derive(Debug)]
struct Waiting<L, R> {
    line: L,
    results: Vec<Option<R>>,
}

/// Where a result belongs: which line, counted from 0, and which of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    pub(super) line: u64,
    pub(super) result: usize,
}

impl<L, R> InOrder<L, R> {
    pub(super) fn new() -> Self {
        Self { first: 0, lines: VecDeque::new() }
    }

    /// Lines that are not done, or wait for one that is not.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// One more line with so many results to come.
    pub(super) fn push(&mut self, line: L, results: usize) -> u64 {
        self.lines.push_back(Waiting { line, results: (0..results).map(|_| None).collect() });
        self.first + self.lines.len() as u64 - 1
    }

    /// A result for its place. What belongs nowhere is dropped.
    pub(super) fn put(&mut self, slot: Slot, result: R) {
        let at = slot.line.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        let line = at.and_then(|at| self.lines.get_mut(at));
        if let Some(place) = line.and_then(|line| line.results.get_mut(slot.result)) {
            *place = Some(result);
        }
    }

    /// The oldest line, if all its results are there.
    pub(super) fn pop(&mut self) -> Option<(L, Vec<R>)> {
        self.lines.front().filter(|line| line.results.iter().all(Option::is_some))?;
        let Waiting { line, results } = self.lines.pop_front()?;
        self.first += 1;
        Some((line, results.into_iter().flatten().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_in_order_and_only_when_they_are_whole() {
        let mut order = InOrder::new();
        let (a, b, c) = (order.push("a", 1), order.push("b", 2), order.push("c", 0));
        order.put(Slot { line: b, result: 1 }, 11);
        assert_eq!(order.pop(), None);
        order.put(Slot { line: a, result: 0 }, 0);
        assert_eq!(order.pop(), Some(("a", vec![0])));
        assert_eq!(order.pop(), None);
        order.put(Slot { line: b, result: 0 }, 10);
        order.put(Slot { line: a, result: 0 }, 99);
        assert_eq!(order.pop(), Some(("b", vec![10, 11])));
        assert_eq!((order.pop(), order.pop(), c), (Some(("c", vec![])), None, 2));
    }
}
