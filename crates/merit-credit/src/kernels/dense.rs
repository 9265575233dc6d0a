//! Trainable entries packed without gaps, worked on in `f64`, and put back.
//!
//! Token-level credit skips what the policy did not choose. Packing a row's trainable entries first makes every loop after it
//! a plain one over contiguous numbers, whatever the mask looks like.

use super::Rows;
use std::ops::Range;

/// The runs of trainable entries of every row, found once.
pub(crate) struct Runs<'a> {
    rows: &'a Rows<'a>,
    runs: Vec<Range<usize>>,
    /// Runs of row `i` are `ends[i]..ends[i + 1]`.
    ends: Vec<usize>,
}

impl<'a> Runs<'a> {
    pub(crate) fn of(rows: &'a Rows<'a>) -> Self {
        let (mut runs, mut ends) = (Vec::with_capacity(rows.len()), vec![0]);
        for row in 0..rows.len() {
            let range = rows.range(row);
            let mask = &rows.mask()[range.clone()];
            let mut at = 0;
            while let Some(skipped) = mask[at..].iter().position(|&m| m) {
                let start = at + skipped;
                at = start + mask[start..].iter().position(|&m| !m).unwrap_or(mask.len() - start);
                runs.push(range.start + start..range.start + at);
            }
            ends.push(runs.len());
        }
        Self { rows, runs, ends }
    }

    /// How many entries are trainable.
    pub(crate) fn entries(&self) -> usize {
        self.runs.iter().map(Range::len).sum()
    }

    fn row(&self, row: usize) -> &[Range<usize>] {
        &self.runs[self.ends[row]..self.ends[row + 1]]
    }

    /// Appends the trainable entries of a row.
    pub(crate) fn pack<T: Copy + Into<f64>>(&self, row: usize, stream: &[T], out: &mut Vec<f64>) {
        for run in self.row(row) {
            out.extend(stream[run.clone()].iter().map(|&x| x.into()));
        }
    }

    /// Writes packed numbers back to a row through `f`, and 0 between.
    pub(crate) fn unpack(&self, row: usize, packed: &[f64], out: &mut [f32], f: impl Fn(f64) -> f32) {
        let (mut at, mut rest) = (self.rows.range(row).start, packed);
        for run in self.row(row) {
            out[at..run.start].fill(0.0);
            let (here, after) = rest.split_at(run.len());
            out[run.clone()].iter_mut().zip(here).for_each(|(o, &x)| *o = f(x));
            (at, rest) = (run.end, after);
        }
        out[at..self.rows.range(row).end].fill(0.0);
    }
}

/// `x_t ← x_t + decay · x_{t+1}`, backwards, in place.
///
/// Four at a time: `x_t + decay · x_{t+1} + … + decay⁴ · carried`, so that only one multiplication and one addition in four
/// entries wait for those before.
pub(crate) fn discounted_sums(numbers: &mut [f64], decay: f64) {
    let (decay2, decay3, decay4) = (decay * decay, decay * decay * decay, decay * decay * decay * decay);
    let mut carried = 0.0;
    let mut chunks = numbers.rchunks_exact_mut(4);
    for chunk in &mut chunks {
        let d3 = chunk[3];
        let d2 = chunk[2] + decay * d3;
        let d1 = chunk[1] + decay * d2;
        let d0 = chunk[0] + decay * d1;
        chunk[3] = d3 + decay * carried;
        chunk[2] = d2 + decay2 * carried;
        chunk[1] = d1 + decay3 * carried;
        carried = d0 + decay4 * carried;
        chunk[0] = carried;
    }
    for number in chunks.into_remainder().iter_mut().rev() {
        carried = *number + decay * carried;
        *number = carried;
    }
}
