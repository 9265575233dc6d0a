//! An 8 × 8 grid with fog in its middle: outside, an agent sees where it is; inside, only that it is in the fog. Moves may fail.

use crate::tabular::Pomdp;

pub const SIDE: usize = 8;
const CELLS: usize = SIDE * SIDE;
/// The goal; agents start in the opposite corner.
pub const GOAL: usize = CELLS - 1;

/// Whether a cell lies in the fog. Shortest paths lead through it and around it.
pub fn in_fog(cell: usize) -> bool {
    (2..6).contains(&(cell / SIDE)) && (2..6).contains(&(cell % SIDE))
}

/// Steps to the goal.
pub fn distance(cell: usize) -> usize {
    2 * (SIDE - 1) - cell / SIDE - cell % SIDE
}

fn neighbour(cell: usize, action: usize) -> usize {
    let (row, col) = (cell / SIDE, cell % SIDE);
    match action {
        0 => row.saturating_sub(1) * SIDE + col,
        1 => (row + 1).min(SIDE - 1) * SIDE + col,
        2 => row * SIDE + col.saturating_sub(1),
        3 => row * SIDE + (col + 1).min(SIDE - 1),
        _ => cell,
    }
}

/// The grid; with chance `slip` a move leads nowhere. (A slip sideways would make the border the better way.)
pub fn fog_grid(slip: f64) -> Pomdp {
    let fog = (0..CELLS).filter(|&c| in_fog(c)).count() as f64;
    let seen = |cell: usize, o: usize| match (in_fog(cell), in_fog(o)) {
        (true, true) => 1.0 / fog,
        (false, false) => f64::from(cell == o),
        _ => 0.0,
    };
    let to = |action: usize, cell: usize| vec![(neighbour(cell, action), 1.0 - slip), (cell, slip)];
    let mut start = vec![0.0; CELLS];
    start[0] = 1.0;
    Pomdp {
        likelihood: (0..CELLS).map(|s| (0..CELLS).map(|o| seen(s, o)).collect()).collect(),
        moves: (0..5).map(|a| (0..CELLS).map(|s| to(a, s)).collect()).collect(),
        start,
    }
}
