//! Edits of small pictures: a grid of colours, an instruction to paint a block, and candidates with faults.
//!
//! Thirty predicates look at a candidate: ten say something about whether the instruction was followed, twenty do not, and some of
//! these mislead. What people prefer is a weighted sum of four of the ten. A fixed author wrote all three, which a reader should keep
//! in mind.

use merit_core::Stream;

/// Cells of a side.
const SIDE: usize = 6;
const COLOURS: u64 = 6;
/// Predicates that say something.
pub const USEFUL: usize = 10;
pub const PREDICATES: usize = 30;
/// Ways of editing that an editor chooses among.
pub const MANNERS: usize = 8;

/// A grid, by rows.
pub type Grid = [u8; SIDE * SIDE];

/// Paint the block of two by two at `row`, `column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub row: usize,
    pub column: usize,
    pub colour: u8,
}

/// A picture and what is to be done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    pub source: Grid,
    pub instruction: Instruction,
}

/// What went wrong with an edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Cells of the block that were not painted, from 0 to 4.
    pub missing: usize,
    /// Cells outside it that were changed.
    pub collateral: usize,
    /// Painted in another colour.
    pub wrong_colour: bool,
}

impl Work {
    pub fn draw(stream: &mut Stream) -> Self {
        let mut source = [0; SIDE * SIDE];
        source.iter_mut().for_each(|cell| *cell = stream.below(COLOURS) as u8);
        let place = |stream: &mut Stream| stream.below(SIDE as u64 - 1) as usize;
        let (row, column) = (place(stream), place(stream));
        Self { source, instruction: Instruction { row, column, colour: stream.below(COLOURS) as u8 } }
    }

    /// The places of the block.
    fn block(&self) -> [usize; 4] {
        let corner = self.instruction.row * SIDE + self.instruction.column;
        [corner, corner + 1, corner + SIDE, corner + SIDE + 1]
    }

    /// The picture with the edit and its faults.
    pub fn edited(&self, faults: Faults, stream: &mut Stream) -> Grid {
        let mut grid = self.source;
        let mut block = self.block();
        stream.shuffle(&mut block);
        let other = |colour: u8, stream: &mut Stream| {
            ((u64::from(colour) + 1 + stream.below(COLOURS - 1)) % COLOURS) as u8
        };
        let colour = match faults.wrong_colour {
            true => other(self.instruction.colour, stream),
            false => self.instruction.colour,
        };
        block.iter().skip(faults.missing).for_each(|place| grid[*place] = colour);
        let mut outside: Vec<usize> = (0..grid.len()).filter(|place| !block.contains(place)).collect();
        stream.shuffle(&mut outside);
        for place in outside.into_iter().take(faults.collateral) {
            grid[place] = other(grid[place], stream);
        }
        grid
    }

    /// The value of every predicate, from 0 to 1.
    pub fn predicates(&self, grid: &Grid) -> [f64; PREDICATES] {
        let yes = |flag: bool| f64::from(u8::from(flag));
        let block = self.block();
        let painted =
            block.iter().filter(|place| grid[**place] == self.instruction.colour).count() as f64 / 4.0;
        let outside: Vec<usize> = (0..grid.len()).filter(|place| !block.contains(place)).collect();
        let touched = outside.iter().filter(|place| grid[**place] != self.source[**place]).count();
        let changed = (0..grid.len()).filter(|place| grid[*place] != self.source[*place]).count();
        let row_touched = |row: usize| (0..SIDE).any(|c| grid[row * SIDE + c] != self.source[row * SIDE + c]);
        let rows_outside =
            (0..SIDE).filter(|row| !(self.instruction.row..=self.instruction.row + 1).contains(row));
        let count = |colour: u8| grid.iter().filter(|cell| **cell == colour).count();
        let share = |n: usize| n as f64 / grid.len() as f64;
        let one_colour = block.iter().all(|place| grid[*place] == grid[block[0]]);
        let mut all = [0.0; PREDICATES];
        let useful = [
            painted,
            yes(painted == 1.0),
            yes(touched == 0),
            1.0 - (touched as f64 / 8.0).min(1.0),
            yes(painted > 0.0),
            yes(one_colour),
            yes(!rows_outside.into_iter().any(row_touched)),
            yes(changed <= 6),
            yes(grid[block[0]] == self.instruction.colour),
            yes(grid[block[3]] == self.instruction.colour),
        ];
        all[..USEFUL].copy_from_slice(&useful);
        // What misleads: much paint, many changes, many colours, bright corners.
        all[10] = share(changed).min(0.5) * 2.0;
        all[11] = (share(count(self.instruction.colour)) * 2.0).min(1.0);
        all[12] = yes(changed >= 5);
        all[13] = yes(touched >= 2);
        all[14] = yes(grid[0] != self.source[0]);
        let corners = [0, SIDE - 1, grid.len() - SIDE, grid.len() - 1];
        all[15] = corners.iter().filter(|place| grid[**place] > 2).count() as f64 / 4.0;
        // What says nothing: parities, symmetries, counts of single colours, single cells.
        all[16] = yes(changed.is_multiple_of(2));
        all[17] = (0..SIDE * SIDE).filter(|place| grid[*place] == grid[grid.len() - 1 - place]).count()
            as f64
            / 36.0;
        (0..6).for_each(|colour| all[18 + colour] = (share(count(colour as u8)) * 3.0).min(1.0));
        (0..6).for_each(|at| all[24 + at] = yes(grid[at * 7].is_multiple_of(2)));
        all
    }

    /// How good people find it: four of the ten, weighted; from 0 to 1.
    pub fn worth(&self, grid: &Grid) -> f64 {
        let p = self.predicates(grid);
        0.4 * p[0] + 0.3 * p[3] + 0.2 * p[5] + 0.1 * p[1]
    }
}

/// What one of the [`MANNERS`] does: 0 is right, the others have faults.
pub fn manner(which: usize) -> Faults {
    let (missing, collateral, wrong_colour) = [
        (0, 0, false),
        (4, 0, false),
        (2, 0, false),
        (0, 3, false),
        (0, 8, false),
        (0, 0, true),
        (2, 3, false),
        (0, 8, true),
    ][which % MANNERS];
    Faults { missing, collateral, wrong_colour }
}

/// Faults as a candidate has them: some by chance, often none of a kind.
pub fn some_faults(stream: &mut Stream) -> Faults {
    Faults {
        missing: if stream.chance(0.5) { stream.below(5) as usize } else { 0 },
        collateral: if stream.chance(0.5) { stream.below(9) as usize } else { 0 },
        wrong_colour: stream.chance(0.25),
    }
}
