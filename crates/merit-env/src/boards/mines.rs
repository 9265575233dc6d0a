//! Minesweeper on five by five: what opening shows, and how likely a mine is where.

use merit_core::Stream;

pub(super) const SIDE: usize = 5;
const CELLS: usize = SIDE * SIDE;
/// Where everybody begins: the middle, which is never mined.
pub(super) const FIRST: usize = CELLS / 2;

/// A set of cells, one bit each.
type Cells = u32;

fn neighbours(cell: usize) -> impl Iterator<Item = usize> {
    let (row, column) = (cell / SIDE, cell % SIDE);
    let near = |at: usize| at.saturating_sub(1)..(at + 2).min(SIDE);
    near(row).flat_map(move |r| near(column).map(move |c| r * SIDE + c)).filter(move |other| *other != cell)
}

fn near(cell: usize) -> Cells {
    neighbours(cell).fold(0, |cells, other| cells | 1 << other)
}

/// Mines around a cell.
pub(super) fn count(mines: Cells, cell: usize) -> u32 {
    (mines & near(cell)).count_ones()
}

/// Draws this many mines, none in the middle.
pub(super) fn draw(mines: u32, rng: &mut Stream) -> Cells {
    let mut cells: Vec<usize> = (0..CELLS).filter(|cell| *cell != FIRST).collect();
    rng.shuffle(&mut cells);
    cells.iter().take(mines as usize).fold(0, |set, cell| set | 1 << cell)
}

/// What is open after a cell was opened: cells without a mine around them open their neighbours.
pub(super) fn opened(mines: Cells, mut open: Cells, cell: usize) -> Cells {
    let mut due = vec![cell];
    while let Some(cell) = due.pop() {
        if open & 1 << cell != 0 {
            continue;
        }
        open |= 1 << cell;
        if mines & 1 << cell == 0 && count(mines, cell) == 0 {
            due.extend(neighbours(cell));
        }
    }
    open
}

pub(super) fn won(mines: Cells, open: Cells) -> bool {
    open | mines == (1 << CELLS) - 1 && open & mines == 0
}

/// For every cell, the share of the layouts with this many mines that agree with what is open in which the cell is mined; 0 for open
/// cells.
pub(super) fn chances(mines: Cells, open: Cells) -> [f64; CELLS] {
    let shown: Vec<(Cells, u32)> = (0..CELLS)
        .filter(|cell| open & 1 << cell != 0)
        .map(|cell| (near(cell), count(mines, cell)))
        .collect();
    let hidden: Vec<usize> = (0..CELLS).filter(|cell| open & 1 << cell == 0).collect();
    let mut found = Agreeing { shown: &shown, hidden: &hidden, mined: [0; CELLS], layouts: 0 };
    found.place(0, mines.count_ones(), 0);
    found.mined.map(|mined| f64::from(mined) / f64::from(found.layouts.max(1)))
}

/// Layouts that agree with what is shown, counted by cell.
struct Agreeing<'a> {
    shown: &'a [(Cells, u32)],
    hidden: &'a [usize],
    mined: [u32; CELLS],
    layouts: u32,
}

impl Agreeing<'_> {
    /// Places the mines that are left among the hidden cells from `at` on.
    fn place(&mut self, at: usize, left: u32, layout: Cells) {
        if self.shown.iter().any(|(near, count)| (layout & near).count_ones() > *count) {
            return;
        }
        if left == 0 {
            if self.shown.iter().all(|(near, count)| (layout & near).count_ones() == *count) {
                self.layouts += 1;
                let mined = self.hidden.iter().filter(|cell| layout & 1 << **cell != 0);
                mined.for_each(|cell| self.mined[*cell] += 1);
            }
            return;
        }
        for next in at..self.hidden.len() {
            self.place(next + 1, left - 1, layout | 1 << self.hidden[next]);
        }
    }
}

/// The hidden cell that is least likely mined; the first of several.
pub(super) fn safest(mines: Cells, open: Cells) -> Option<usize> {
    let chances = chances(mines, open);
    let hidden = (0..CELLS).filter(|cell| open & 1 << cell == 0);
    hidden.min_by(|a, b| chances[*a].total_cmp(&chances[*b]))
}

/// Whether whoever always opens the safest cell wins.
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
    let row = |row: usize| (0..SIDE).map(|column| mark(row * SIDE + column)).collect::<String>();
    (0..SIDE).map(row).collect::<Vec<String>>().join(" ")
}
