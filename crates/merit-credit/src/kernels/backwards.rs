//! The recursion of token-level credit, backwards over the trainable entries of rows:
//!   delta_t = r_t + gamma · V_{t+1} − V_t
//!   adv_t   = delta_t + gamma · lambda · adv_{t+1}
//! where t + 1 is the next trainable entry: what the policy did not choose is skipped as if it were not there. With values of
//! 0 and lambda 1 the advantage is the discounted return.
//!
//! Whitening needs the moments of all estimates before the first can be written. The recursion is so cheap that it is run
//! twice instead of keeping a second matrix in `f64`; only the last rounding to `f32` is left as error.

use super::{Moments, Rows};
use std::ops::Range;

/// Rows that go through the recursion side by side: each step of one row waits for the step before, so that one row alone
/// leaves the processor idle.
const SIDE_BY_SIDE: usize = 8;

/// What the recursion runs over. `reward` and `value` are by entry, `last_value` by row.
pub(crate) struct Backwards<'a, R, V, L> {
    pub(crate) rows: &'a Rows<'a>,
    pub(crate) reward: R,
    pub(crate) value: V,
    pub(crate) last_value: L,
    pub(crate) gamma: f64,
    pub(crate) lambda: f64,
}

impl<R: Fn(usize) -> f64, V: Fn(usize) -> f64, L: Fn(usize) -> f64> Backwards<'_, R, V, L> {
    /// Calls `sink(entry, advantage, value)` for every trainable entry.
    pub(crate) fn each(&self, mut sink: impl FnMut(usize, f64, f64)) {
        self.blocks().for_each(|block| self.block(block, &mut sink));
    }

    /// The moments of all advantages; `sink` sees every trainable entry.
    pub(crate) fn moments(&self, mut sink: impl FnMut(usize, f64, f64)) -> Moments {
        let mut all = Moments::default();
        let mut estimates: Vec<f64> = Vec::new();
        for block in self.blocks() {
            let start = self.rows.range(block.start).start;
            estimates.resize(self.rows.range(block.end - 1).end - start, 0.0);
            self.block(block.clone(), &mut |at, advantage, value| {
                estimates[at - start] = advantage;
                sink(at, advantage, value);
            });
            // While the block is still in the nearest cache.
            for span in block.map(|row| self.rows.trainable_span(row)) {
                let near = span.start - start..span.end - start;
                all = all.merge(Moments::of(&estimates[near], &self.rows.mask()[span]));
            }
        }
        all
    }

    fn blocks(&self) -> impl Iterator<Item = Range<usize>> {
        let rows = self.rows.len();
        (0..rows).step_by(SIDE_BY_SIDE).map(move |first| first..(first + SIDE_BY_SIDE).min(rows))
    }

    fn block(&self, block: Range<usize>, sink: &mut impl FnMut(usize, f64, f64)) {
        if block.len() == SIDE_BY_SIDE {
            self.walk::<SIDE_BY_SIDE>(block.start, sink);
        } else {
            block.for_each(|row| self.walk::<1>(row, sink));
        }
    }

    /// `N` rows from `first` on, side by side from their last trainable entries for as long as all of them last.
    #[inline(always)]
    fn walk<const N: usize>(&self, first: usize, sink: &mut impl FnMut(usize, f64, f64)) {
        let spans: [Range<usize>; N] = std::array::from_fn(|lane| self.rows.trainable_span(first + lane));
        let shared = spans.iter().map(Range::len).min().unwrap_or(0);
        let mut next: [f64; N] = std::array::from_fn(|lane| (self.last_value)(first + lane));
        let mut carried = [0.0; N];
        let mask = self.rows.mask();
        let decay = self.gamma * self.lambda;
        let mut step = |at: usize, next: &mut f64, carried: &mut f64| {
            if mask[at] {
                let value = (self.value)(at);
                let delta = (self.reward)(at) + self.gamma * *next - value;
                *carried = delta + decay * *carried;
                *next = value;
                sink(at, *carried, value);
            }
        };
        for back in 1..=shared {
            for lane in 0..N {
                step(spans[lane].end - back, &mut next[lane], &mut carried[lane]);
            }
        }
        for lane in 0..N {
            for at in (spans[lane].start..spans[lane].end - shared).rev() {
                step(at, &mut next[lane], &mut carried[lane]);
            }
        }
    }
}
