//! A bounded three-dimensional grid with sources that emit a scalar field, and barriers. Only the field nearby is sensed.

use merit_core::Stream;

/// Cells along each side of the box.
pub const SIDE: i64 = 20;
/// Width of a source's field: 0.15 of the side.
const WIDTH: f64 = 0.15 * SIDE as f64;
/// A source closer than this is reached.
const HIT: f64 = 1.5;
/// Differences of two readings below this share of their sum count as level.
const LEVEL: f64 = 0.05;
/// States that a robot can tell apart: gradient signs, concentration level, blocked directions.
pub const STATES: usize = 27 * 5 * 64;
/// Moves: −x, +x, −y, +y, −z, +z.
pub const ACTIONS: usize = 6;

pub type Cell = [i64; 3];

/// A layout: where sources and barriers are and where the robot is.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Sources that are not found yet.
    pub sources: Vec<Cell>,
    walls: Vec<bool>,
    pub robot: Cell,
    /// Relative standard deviation of a reading.
    pub noise: f64,
}

/// What a robot senses.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Readings at the six neighbours, in the order of the moves.
    pub around: [f64; 6],
    /// The reading where the robot is.
    pub here: f64,
    pub blocked: [bool; 6],
}

/// What a move did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    pub collided: bool,
    /// Sources reached by it, now switched off.
    pub found: usize,
    /// The noiseless concentration on arrival, before reached sources went off.
    pub arrived: f64,
}

fn index(cell: Cell) -> Option<usize> {
    let inside = cell.iter().all(|c| (0..SIDE).contains(c));
    inside.then(|| ((cell[0] * SIDE + cell[1]) * SIDE + cell[2]) as usize)
}

/// The cell next to `cell` by a move.
pub fn neighbour(cell: Cell, action: usize) -> Cell {
    let mut next = cell;
    next[action / 2] += if action.is_multiple_of(2) { -1 } else { 1 };
    next
}

fn distance(a: Cell, b: Cell) -> f64 {
    a.iter().zip(b).map(|(a, b)| ((a - b) * (a - b)) as f64).sum::<f64>().sqrt()
}

impl Field {
    /// A random layout of `sources` sources and `blocks` plates of 3 × 3 cells. With `traps`, a cup open towards the robot's
    /// start stands before each source.
    pub fn random(sources: usize, blocks: usize, traps: bool, noise: f64, stream: &mut Stream) -> Self {
        let mut cell = |margin: i64| [0; 3].map(|_: i64| stream.between(margin, SIDE - 1 - margin));
        let robot = cell(1);
        let mut placed = Vec::new();
        while placed.len() < sources {
            let at = cell(3);
            if distance(at, robot) >= 8.0 {
                placed.push(at);
            }
        }
        let walls = vec![false; (SIDE * SIDE * SIDE) as usize];
        let mut field = Self { sources: placed, walls, robot, noise };
        for _ in 0..blocks {
            let centre = cell(2);
            field.plate(centre, (centre[0] % 3) as usize, 1);
        }
        if traps {
            field.sources.clone().iter().for_each(|&source| field.cup(source));
        }
        // Neither the robot nor a source stands in a wall.
        for free in field.sources.iter().chain([&field.robot]) {
            index(*free).into_iter().for_each(|i| field.walls[i] = false);
        }
        field
    }

    fn wall(&mut self, cell: Cell) {
        index(cell).into_iter().for_each(|i| self.walls[i] = true);
    }

    /// A plate across `axis`, `reach` cells to each side of its centre.
    fn plate(&mut self, centre: Cell, axis: usize, reach: i64) {
        for u in -reach..=reach {
            for v in -reach..=reach {
                let mut cell = centre;
                cell[(axis + 1) % 3] += u;
                cell[(axis + 2) % 3] += v;
                self.wall(cell);
            }
        }
    }

    /// A plate of 5 × 5 cells two cells before a source, with a rim two cells deep towards the start.
    fn cup(&mut self, source: Cell) {
        let away: Vec<i64> = (0..3).map(|i| self.robot[i] - source[i]).collect();
        let axis = (0..3).max_by_key(|&i| away[i].abs()).unwrap_or(0);
        let towards = away[axis].signum();
        let mut bottom = source;
        bottom[axis] += 2 * towards;
        self.plate(bottom, axis, 2);
        for depth in 1..=2 {
            for u in -2..=2_i64 {
                for v in -2..=2_i64 {
                    if u.abs() == 2 || v.abs() == 2 {
                        let mut cell = bottom;
                        cell[axis] += depth * towards;
                        cell[(axis + 1) % 3] += u;
                        cell[(axis + 2) % 3] += v;
                        self.wall(cell);
                    }
                }
            }
        }
    }

    fn blocked(&self, cell: Cell) -> bool {
        index(cell).is_none_or(|i| self.walls[i])
    }

    /// The field without noise: `sum_j exp(−|x − x_j|² / (2 s²))`.
    pub fn concentration(&self, cell: Cell) -> f64 {
        let from = |source: &Cell| (-distance(cell, *source).powi(2) / (2.0 * WIDTH * WIDTH)).exp();
        self.sources.iter().map(from).sum()
    }

    pub fn sense(&self, stream: &mut Stream) -> Reading {
        let mut read =
            |cell: Cell| (self.concentration(cell) * (1.0 + self.noise * stream.normal())).max(0.0);
        let mut around = [0.0; 6];
        (0..6).for_each(|a| around[a] = read(neighbour(self.robot, a)));
        let here = read(self.robot);
        let blocked = [0, 1, 2, 3, 4, 5].map(|a| self.blocked(neighbour(self.robot, a)));
        Reading { around, here, blocked }
    }

    /// One move; a robot that collides stays where it is. Sources that are reached are switched off.
    pub fn go(&mut self, action: usize) -> Moved {
        let next = neighbour(self.robot, action);
        let collided = self.blocked(next);
        if !collided {
            self.robot = next;
        }
        let (before, arrived) = (self.sources.len(), self.concentration(self.robot));
        let robot = self.robot;
        self.sources.retain(|source| distance(robot, *source) >= HIT);
        Moved { collided, found: before - self.sources.len(), arrived }
    }

    /// Each source takes a random step with chance `p`, where nothing is in its way.
    pub fn drift(&mut self, p: f64, stream: &mut Stream) {
        for i in 0..self.sources.len() {
            if stream.chance(p) {
                let next = neighbour(self.sources[i], stream.below(6) as usize);
                if !self.blocked(next) {
                    self.sources[i] = next;
                }
            }
        }
    }
}

impl Reading {
    /// Falling, level or rising along an axis: 0, 1, 2.
    fn trend(&self, axis: usize) -> usize {
        let (low, high) = (self.around[2 * axis], self.around[2 * axis + 1]);
        let rise = (high - low) / (high + low).max(f64::MIN_POSITIVE);
        if rise > LEVEL {
            2
        } else if rise < -LEVEL {
            0
        } else {
            1
        }
    }

    /// The table's index: trends, level of the concentration, blocked directions.
    pub fn state(&self) -> usize {
        let trends = (0..3).fold(0, |sum, axis| sum * 3 + self.trend(axis));
        let level = [1e-4, 1e-2, 0.1, 0.4].iter().filter(|bound| self.here > **bound).count();
        let bits = self.blocked.iter().fold(0, |sum, b| 2 * sum + usize::from(*b));
        (trends * 5 + level) * 64 + bits
    }

    /// The move up the steepest gradient, barriers or not.
    pub fn steepest(&self) -> usize {
        let rise = |a: usize| self.around[a] - self.around[a ^ 1];
        (0..6).max_by(|&a, &b| rise(a).total_cmp(&rise(b))).unwrap_or(0)
    }
}
