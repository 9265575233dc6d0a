//! A matrix of bf16 as tiles: one run of tiles along the sum for each sixteen of its rows or columns.

use crate::bf16::{BLANK, Cut, Cutter, DEPTH, LINES, Line, Source};
use crate::{Isa, Workers};

/// Runs that one thread fills together.
const GROUP: usize = 16;

/// `[places / 16][depth / 32]` tiles of sixteen lines, padded with zeros.
#[derive(Debug, Clone, Default)]
pub(crate) struct TileRuns {
    lines: Vec<Line>,
    steps: usize,
}

impl TileRuns {
    /// Makes room for `places` rows or columns with a sum of `depth`; what is in it is left over. Memory only grows.
    pub(crate) fn make_room(&mut self, places: usize, depth: usize) {
        self.steps = depth.div_ceil(DEPTH);
        let want = places.div_ceil(LINES) * self.run();
        if self.lines.len() < want {
            self.lines.resize(want, BLANK);
        }
    }

    /// Tiles along the sum.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Lines from one run to the next.
    pub(crate) fn run(&self) -> usize {
        self.steps * LINES
    }

    /// Everything from the tile number `step` of the run number `run` on.
    pub(crate) fn from(&self, run: usize, step: usize) -> &[Line] {
        &self.lines[run * self.run() + step * LINES..]
    }

    /// Fills the tiles with the first `places` rows (along) or columns (across) of the source.
    pub(crate) fn fill(&mut self, isa: Isa, cut: Cut, source: Source, places: usize) {
        self.fill_on(&Workers::single(), isa, cut, source, places);
    }

    /// The same on several threads.
    pub(crate) fn fill_on(&mut self, workers: &Workers, isa: Isa, cut: Cut, source: Source, places: usize) {
        let (cutter, run) = (Cutter::new(isa, cut), self.run());
        if run == 0 {
            return;
        }
        let lines = &mut self.lines[..places.div_ceil(LINES) * run];
        if workers.threads() == 1 {
            return cutter.runs(source, 0, run, lines);
        }
        let mut groups: Vec<&mut [Line]> = lines.chunks_mut(GROUP * run).collect();
        workers.for_each(&mut groups, |i, lines| cutter.runs(source, i * GROUP * LINES, run, lines));
    }
}
