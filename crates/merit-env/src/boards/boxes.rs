//! A box to be pushed to its place on six by six: walls, moves, and how many moves are left.

use merit_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

pub(super) const SIDE: i32 = 6;
/// Places of a player and a box.
const PLACES: usize = (SIDE * SIDE * SIDE * SIDE) as usize;
pub(super) const MOVES: [(&str, i32, i32); 4] =
    [("up", -1, 0), ("down", 1, 0), ("left", 0, -1), ("right", 0, 1)];

/// Where somebody or something stands: row and column.
pub(super) type Cell = (i32, i32);

/// A room with a box and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    pub walls: Vec<Cell>,
    pub goal: Cell,
    pub start: Place,
}

/// Where the player and the box stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    pub player: Cell,
    pub goods: Cell,
}

impl Place {
    /// A number for each place in which both stand inside.
    fn number(self) -> usize {
        let cell = |cell: Cell| (cell.0 * SIDE + cell.1) as usize;
        cell(self.player) * (SIDE * SIDE) as usize + cell(self.goods)
    }
}

impl Room {
    fn free(&self, cell: Cell) -> bool {
        let inside = (0..SIDE).contains(&cell.0) && (0..SIDE).contains(&cell.1);
        inside && !self.walls.contains(&cell)
    }

    /// Where a move leads; absent where a wall, or a box before a wall, is in the way.
    pub(super) fn moved(&self, place: Place, by: Cell) -> Option<Place> {
        let step = |cell: Cell| (cell.0 + by.0, cell.1 + by.1);
        let player = step(place.player);
        let goods = if player == place.goods { step(place.goods) } else { place.goods };
        (self.free(player) && self.free(goods)).then_some(Place { player, goods })
    }

    /// The moves of the shortest way to have the box in its place; absent where it cannot get there any more.
    pub(super) fn way(&self, from: Place) -> Option<Vec<&'static str>> {
        // For each place that was reached, the one before it and the move.
        let mut came: Vec<Option<(Place, &'static str)>> = vec![None; PLACES];
        let mut due = VecDeque::from([from]);
        while let Some(place) = due.pop_front() {
            if place.goods == self.goal {
                let mut way = Vec::new();
                let mut at = place;
                while let Some((before, name)) = came[at.number()].filter(|_| at != from) {
                    way.push(name);
                    at = before;
                }
                way.reverse();
                return Some(way);
            }
            for (name, row, column) in MOVES {
                if let Some(next) = self.moved(place, (row, column))
                    && next != from
                    && came[next.number()].is_none()
                {
                    came[next.number()] = Some((place, name));
                    due.push_back(next);
                }
            }
        }
        None
    }

    /// Draws a room in which the box is `size` times three moves away, or up to two more.
    pub(super) fn draw(size: u32, rng: &mut Stream) -> Self {
        loop {
            let mut any = || (rng.below(SIDE as u64) as i32, rng.below(SIDE as u64) as i32);
            let mut cells: Vec<Cell> = (0..9).map(|_| any()).collect();
            let (goal, goods, player) = (cells.remove(0), cells.remove(0), cells.remove(0));
            cells.sort_unstable();
            cells.dedup();
            let room = Self { walls: cells, goal, start: Place { player, goods } };
            if room.check(size).is_ok() {
                return room;
            }
        }
    }

    /// What is wrong with a room that comes from a file.
    pub(super) fn check(&self, size: u32) -> Result<(), String> {
        let Place { player, goods } = self.start;
        if self.walls.len() > 36 || ![player, goods, self.goal].into_iter().all(|cell| self.free(cell)) {
            return Err("something stands in a wall or outside the room".to_owned());
        }
        if player == goods {
            return Err("the player stands where the box is".to_owned());
        }
        let least = 3 * size as usize;
        match self.way(self.start).map(|way| way.len()) {
            Some(moves) if (least..least + 3).contains(&moves) => Ok(()),
            Some(moves) => Err(format!("it takes {moves} moves, its size is {size}")),
            None => Err("the box cannot be brought to its place".to_owned()),
        }
    }

    /// The room in rows: `#` wall, `x` place of the box, `o` box, `a` player.
    pub(super) fn shown(&self, place: Place) -> String {
        let mark = |cell: Cell| match cell {
            _ if cell == place.player => 'a',
            _ if cell == place.goods => 'o',
            _ if cell == self.goal => 'x',
            _ if self.free(cell) => '.',
            _ => '#',
        };
        let mut rows = String::with_capacity((SIDE * SIDE + SIDE) as usize);
        for cell in 0..SIDE * SIDE {
            if cell > 0 && cell % SIDE == 0 {
                rows.push(' ');
            }
            rows.push(mark((cell / SIDE, cell % SIDE)));
        }
        rows
    }
}
