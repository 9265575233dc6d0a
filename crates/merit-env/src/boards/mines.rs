//! Minesweeper on five by five: what opening shows, and how likely a mine is where.

use merit_core::Stream;
use std::cmp::Ordering;

pub(super) const SIDE: usize = 5;
const CELLS: usize = SIDE * SIDE;
/// Where everybody begins: the middle, which is never mined.
pub(super) const FIRST: usize = CELLS / 2;

/// A set of cells, one bit each.
type Cells = u32;
const ALL: Cells = (1 << CELLS) - 1;

/// The cells around each cell.
const NEAR: [Cells; CELLS] = {
    let mut near = [0; CELLS];
    let mut cell = 0;
    while cell < CELLS {
        let mut other = 0;
        while other < CELLS {
            let rows = (cell / SIDE).abs_diff(other / SIDE);
            let columns = (cell % SIDE).abs_diff(other % SIDE);
            if other != cell && rows <= 1 && columns <= 1 {
                near[cell] |= 1 << other;
            }
            other += 1;
        }
        cell += 1;
    }
    near
};

/// The places of a set of cells, in order.
fn places(mut cells: Cells) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = cells.trailing_zeros() as usize;
        (cells != 0).then(|| {
            cells &= cells - 1;
            place
        })
    })
}

/// Mines around a cell.
pub(super) fn count(mines: Cells, cell: usize) -> u32 {
    (mines & NEAR[cell]).count_ones()
}

/// Draws this many mines, none in the middle.
pub(super) fn draw(mines: u32, rng: &mut Stream) -> Cells {
    let mut cells: Vec<usize> = (0..CELLS).filter(|cell| *cell != FIRST).collect();
    rng.shuffle(&mut cells);
    cells.iter().take(mines as usize).fold(0, |set, cell| set | 1 << cell)
}

/// What is open after a cell was opened: cells without a mine around them open their neighbours.
pub(super) fn opened(mines: Cells, mut open: Cells, cell: usize) -> Cells {
    let mut due: Cells = 1 << cell & !open;
    while due != 0 {
        let cell = due.trailing_zeros() as usize;
        open |= 1 << cell;
        if mines & 1 << cell == 0 && count(mines, cell) == 0 {
            due |= NEAR[cell];
        }
        due &= !open;
    }
    open
}

pub(super) fn won(mines: Cells, open: Cells) -> bool {
    open | mines == ALL && open & mines == 0
}

/// For every cell, the share of the layouts with this many mines that agree with what is open in which the cell is mined; 0 for open
/// cells.
pub(super) fn chances(mines: Cells, open: Cells) -> [f64; CELLS] {
    let hidden = !open & ALL;
    let mut found = Agreeing { shown: [(0, 0); CELLS], count: 0, sea: hidden, mined: [0; CELLS], layouts: 0 };
    for cell in places(open) {
        let told = (NEAR[cell] & hidden, count(mines, cell));
        // Where nothing is hidden around a cell and nothing mined, it says nothing.
        if told != (0, 0) {
            found.shown[found.count] = told;
            found.count += 1;
            found.sea &= !NEAR[cell];
        }
    }
    found.place(0, hidden & !found.sea, mines.count_ones());
    found.mined.map(|mined| f64::from(mined) / f64::from(found.layouts.max(1)))
}

/// Layouts that agree with what is shown, counted by cell.
struct Agreeing {
    /// For every open cell the hidden ones around it, and how many of them are mined; the first `count` of these.
    shown: [(Cells, u32); CELLS],
    count: usize,
    /// Hidden cells of which nothing is shown.
    sea: Cells,
    mined: [u32; CELLS],
    layouts: u32,
}

impl Agreeing {
    /// Places the mines that are left: those that a number asks for among the cells that are free, and the others anywhere in the sea.
    fn place(&mut self, layout: Cells, mut free: Cells, left: u32) {
        let mut asked = 0;
        for (near, count) in &self.shown[..self.count] {
            match (layout & near).count_ones().cmp(count) {
                Ordering::Greater => return,
                // A number that has its mines has no other mine beside it.
                Ordering::Equal => free &= !near,
                Ordering::Less => asked = *near,
            }
        }
        if asked == 0 {
            return self.fill_sea(layout, left);
        }
        // Each set of mines is met once: with the first of its cells around this number placed, and none before it.
        for cell in places(if left == 0 { 0 } else { asked & free }) {
            free &= !(1 << cell);
            self.place(layout | 1 << cell, free, left - 1);
        }
    }

    /// Counts the layouts that have these mines and the ones that are left anywhere in the sea.
    fn fill_sea(&mut self, layout: Cells, left: u32) {
        let size = self.sea.count_ones();
        let ways = choose(size, left);
        self.layouts += ways;
        places(layout).for_each(|cell| self.mined[cell] += ways);
        if left > 0 && ways > 0 {
            let with_one = choose(size - 1, left - 1);
            places(self.sea).for_each(|cell| self.mined[cell] += with_one);
        }
    }
}

/// In how many ways so many of `all` can be chosen.
fn choose(all: u32, some: u32) -> u32 {
    if some > all { 0 } else { (0..some).fold(1, |ways, at| ways * (all - at) / (at + 1)) }
}

/// The hidden cell that is least likely mined; the first of several.
pub(super) fn safest(mines: Cells, open: Cells) -> Option<usize> {
    let chances = chances(mines, open);
    let hidden = (0..CELLS).filter(|cell| open & 1 << cell == 0);
    hidden.min_by(|a, b| chances[*a].total_cmp(&chances[*b]))
}

/// Whether a player that always opens the safest cell wins.
pub(super) fn solvable(mines: Cells) -> bool {
    let mut open = opened(mines, 0, FIRST);
    while !won(mines, open) {
        match safest(mines, open) {
            Some(cell) if mines & 1 << cell == 0 => open = opened(mines, open, cell),
            _ => return false,
        }
    }
    true
}

/// The board in rows: `.` is hidden, a number counts the mines around.
pub(super) fn shown(mines: Cells, open: Cells) -> String {
    let mark = |cell: usize| match open & 1 << cell {
        0 => '.',
        _ => char::from_digit(count(mines, cell), 10).unwrap_or('.'),
    };
    let mut rows = String::with_capacity(CELLS + SIDE);
    for cell in 0..CELLS {
        if cell > 0 && cell % SIDE == 0 {
            rows.push(' ');
        }
        rows.push(mark(cell));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Seed;

    /// By looking at every set of as many cells.
    fn by_all_layouts(mines: Cells, open: Cells) -> [f64; CELLS] {
        let agrees = |layout: &Cells| {
            layout & open == 0 && places(open).all(|cell| count(*layout, cell) == count(mines, cell))
        };
        // The next larger number with as many bits.
        let next = |layout: &Cells| {
            let lowest = layout & layout.wrapping_neg();
            let ripple = layout + lowest;
            Some((((ripple ^ layout) >> 2) / lowest) | ripple).filter(|layout| *layout <= ALL)
        };
        let (mut mined, mut layouts) = ([0_u32; CELLS], 0_u32);
        for layout in std::iter::successors(Some((1 << mines.count_ones()) - 1), next).filter(agrees) {
            layouts += 1;
            places(layout).for_each(|cell| mined[cell] += 1);
        }
        mined.map(|mined| f64::from(mined) / f64::from(layouts.max(1)))
    }

    #[test]
    fn chances_are_the_shares_of_all_layouts_that_agree() {
        let mut rng = Seed::root(1).stream();
        for count in [1, 2, 3, 5] {
            let mines = draw(count, &mut rng);
            // Nothing is open, then the middle, then a cell that may be mined.
            let first = opened(mines, 0, FIRST);
            let then = opened(mines, first, rng.below(CELLS as u64) as usize);
            for open in [0, first, then] {
                assert_eq!(chances(mines, open), by_all_layouts(mines, open), "{mines:b} {open:b}");
            }
        }
    }
}
