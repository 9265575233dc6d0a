//! One new position of some key heads over their pages, for AVX-512: how sampling attends.
//!
//! The same chains as whole products; what a page is made of decides how its lines are read.

// Calls functions compiled for AVX-512; the scores and the result are theirs alone.
#![allow(unsafe_code)]

use crate::attention::{Queries, room};
use crate::attention_pages::Reading;
use crate::page::{Cell, PAGE, PageLayout};
use crate::softmax_x86::softmax_alike;
use crate::target::Target;
use crate::tile::Join;
use merit_formats::DecoderConfig;
use std::ops::Range;

/// Positions `part` of one page of one head; it begins at a multiple of sixteen.
pub(crate) struct Stretch<'a, T> {
    pub(crate) layout: PageLayout,
    pub(crate) keys: &'a [T],
    pub(crate) values: &'a [T],
    pub(crate) part: Range<usize>,
    /// What will be read next; any address will do.
    pub(crate) ahead: *const T,
    /// Whether that is values and not keys.
    pub(crate) values_ahead: bool,
}

/// Rows of the left matrix of a product, and where the result goes.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) rows: usize,
    pub(crate) left: (&'a [f32], usize),
    pub(crate) to: (*mut f32, usize),
}

/// A number whose pages can be attended to.
pub(crate) trait Attended: Cell {
    /// Products of queries with the keys of a stretch, whole vectors of them; asks for what is next on the way.
    ///
    /// # Safety
    /// The processor has AVX-512; the result is writable for its rows and whole vectors of columns, by no one else now.
    unsafe fn score(stretch: &Stretch<Self>, sides: Sides);

    /// Values of a stretch mixed by the rows on the left; asks for what is next on the way.
    ///
    /// # Safety
    /// As for `score`, with a column for each dimension of a head.
    unsafe fn mix(stretch: &Stretch<Self>, sides: Sides, join: Join);

    /// Where the keys from `position` of a page on begin.
    fn keys_from(layout: PageLayout, position: usize) -> usize;

    /// Where the values from `position` of a page on begin.
    fn values_from(layout: PageLayout, position: usize) -> usize;
}

/// One position of some key heads.
pub(crate) struct One<'a> {
    pub(crate) config: &'a DecoderConfig,
    pub(crate) layout: PageLayout,
    pub(crate) layer: usize,
    pub(crate) readings: &'a [Reading<'a>],
    pub(crate) index: usize,
    pub(crate) heads: Range<usize>,
}

impl One<'_> {
    /// From and to the row of this sequence.
    ///
    /// # Safety
    /// The processor has AVX-512; `out` is writable in the columns of the query heads, by no one else now.
    pub(crate) unsafe fn attend<T: Attended>(&self, qkv: &[f32], out: Target, scores: &mut Vec<f32>) {
        let (dim, group) = (self.config.head_dim(), self.config.group());
        let window = self.config.window_of(self.layer).unwrap_or(usize::MAX);
        let seen = self.readings[self.index].start + 1;
        let queries = Queries { data: qkv, row: dim, count: group, seen, step: 0, window };
        let (first, width) = (queries.first(), queries.width());
        let scores = room(scores, self.heads.len() * group * width);
        // Where the scores of a head begin, for positions from `part.start` of a page on.
        let place = |kv: usize, run: usize, part: &Range<usize>| {
            (kv - self.heads.start) * group * width + run * PAGE + part.start - first
        };
        let all =
            || self.heads.clone().flat_map(|kv| queries.parts(PAGE).map(move |(run, part)| (kv, run, part)));
        let mut stretches = all().peekable();
        let first_values = all().next().map(|(kv, run, part)| self.values::<T>(kv, run, part.start));
        while let Some((kv, run, part)) = stretches.next() {
            let next_keys =
                stretches.peek().map(|(kv, run, part)| self.keys::<T>(self.index, *kv, *run, part.start));
            let ahead = (next_keys.flatten().or(first_values), next_keys.is_none());
            let to = scores[place(kv, run, &part)..].as_mut_ptr();
            let sides = Sides { rows: group, left: (&qkv[kv * group * dim..], dim), to: (to, width) };
            // SAFETY: `room` holds all rows of scores, in whole vectors.
            unsafe { T::score(&self.stretch((kv, run, part), ahead), sides) };
        }
        let probabilities = &mut scores[..self.heads.len() * group * width];
        // SAFETY: the processor, as promised.
        unsafe {
            softmax_alike(probabilities, seen.saturating_sub(window).saturating_sub(first), seen - first)
        };
        let mut stretches = all().peekable();
        let mut begun = None;
        while let Some((kv, run, part)) = stretches.next() {
            let next_values = stretches.peek().map(|(kv, run, part)| self.values::<T>(*kv, *run, part.start));
            let ahead = (next_values.or_else(|| self.next_keys(run, part.start)), next_values.is_some());
            let left = (&scores[place(kv, run, &part)..], width);
            let sides = Sides { rows: group, left, to: (out.from(0, kv * group * dim).data, dim) };
            let join = if begun == Some(kv) { Join::Resume } else { Join::Replace };
            begun = Some(kv);
            // SAFETY: promised by the caller; the heads of a group lie side by side.
            unsafe { T::mix(&self.stretch((kv, run, part), ahead), sides, join) };
        }
    }

    #[inline(always)]
    fn stretch<T: Attended>(
        &self,
        (kv, run, part): (usize, usize, Range<usize>),
        (ahead, values_ahead): (Option<*const T>, bool),
    ) -> Stretch<'_, T> {
        let page = self.readings[self.index].pages[run];
        let (keys, values) = self.layout.head(page, (self.layer, kv));
        let ahead = ahead.unwrap_or(keys.as_ptr());
        Stretch { layout: self.layout, keys, values, part, ahead, values_ahead }
    }

    #[inline(always)]
    fn keys<T: Attended>(&self, index: usize, kv: usize, run: usize, position: usize) -> Option<*const T> {
        let page = self.readings.get(index)?.pages.get(run)?;
        let (keys, _) = self.layout.head::<T>(page, (self.layer, kv));
        Some(keys[T::keys_from(self.layout, position)..].as_ptr())
    }

    #[inline(always)]
    fn values<T: Attended>(&self, kv: usize, run: usize, position: usize) -> *const T {
        let page = self.readings[self.index].pages[run];
        let (_, values) = self.layout.head::<T>(page, (self.layer, kv));
        values[T::values_from(self.layout, position)..].as_ptr()
    }

    /// The keys of the head that comes behind these, in the same page of its sequence.
    fn next_keys<T: Attended>(&self, run: usize, position: usize) -> Option<*const T> {
        let last = self.heads.end == self.config.kv_heads;
        let (index, kv) = if last { (self.index + 1, 0) } else { (self.index, self.heads.end) };
        self.keys(index, kv, run, position)
    }
}
