//! A grid of glyphs that is seen from afar, and the tool that shows a part of it in full.
//!
//! The grid is made of square tiles. From afar each tile is one word, its tint; the one cell of another glyph in it, its mark, is seen
//! only close by. `tint red or jade` asks which of the two is there, `mark 5 8` for the mark in the tile that has this cell.

use super::{Mode, Puzzle};
use merit_api::{Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, ToolSpec, no_state};
use merit_core::{Stream, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// What a tile can be from afar; no two tiles of a grid are the same.
pub const TINTS: [&str; 20] = [
    "red", "blue", "gold", "pink", "grey", "lime", "tan", "teal", "white", "black", "brown", "rose", "jade",
    "plum", "sand", "rust", "navy", "mint", "coal", "snow",
];
/// The glyphs that are seen only close by.
pub const MARKS: [&str; 8] = ["dot", "bar", "ring", "star", "box", "cone", "hook", "moon"];

/// The puzzle of a task about a grid: the tiles row by row, and which of them is asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Tiles from side to side, 2 to 4.
    pub side: u8,
    /// Cells of a tile from side to side, 2 to 4.
    pub tile: u8,
    /// The place of each tile's tint in [`TINTS`].
    pub tints: Vec<u8>,
    /// The place of each tile's mark in [`MARKS`].
    pub marks: Vec<u8>,
    /// The cell of each tile in which its mark is.
    pub cells: Vec<u8>,
    /// The tile that is asked about.
    pub ask: u8,
    /// The cell of it by which it is asked for.
    pub by: u8,
    /// The wrong answer of two. Absent where there is no choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Rival>,
}

/// A wrong answer beside the right one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rival {
    /// The place of its word among tints or marks.
    pub word: u8,
    /// Whether it is the first of the two.
    pub first: bool,
}

impl Scene {
    pub(super) fn draw(mode: Mode, needs_zoom: bool, side: u32, tile: u32, rng: &mut Stream) -> Self {
        let mut tints: Vec<u8> = (0..TINTS.len() as u8).collect();
        rng.shuffle(&mut tints);
        let count = (side * side) as usize;
        tints.truncate(count);
        let marks: Vec<u8> = (0..count).map(|_| rng.below(MARKS.len() as u64) as u8).collect();
        let cells = (0..count).map(|_| rng.below(u64::from(tile * tile)) as u8).collect();
        let ask = rng.below(count as u64) as u8;
        let by = rng.below(u64::from(tile * tile)) as u8;
        let scene = Self { side: side as u8, tile: tile as u8, tints, marks, cells, ask, by, rival: None };
        let wrong = |word: &u8| match needs_zoom {
            true => *word != scene.marks[usize::from(ask)],
            false => !scene.tints.contains(word),
        };
        let words: Vec<u8> = (0..Self::words(needs_zoom).len() as u8).filter(wrong).collect();
        let word = rng.pick(&words).copied().unwrap_or_default();
        let offers = mode == Mode::Judge || !needs_zoom;
        let rival = offers.then_some(Rival { word, first: rng.chance(0.5) });
        Self { rival, ..scene }
    }

    pub(super) fn check(&self, needs_zoom: bool) -> Result<(), String> {
        let (count, tile) = (usize::from(self.side).pow(2), usize::from(self.tile).pow(2));
        if !(2..=4).contains(&self.side) || !(2..=4).contains(&self.tile) {
            return Err("sides of the view and of tiles are 2 to 4".to_owned());
        }
        let within =
            |of: &[u8], end: usize| of.len() == count && of.iter().all(|one| usize::from(*one) < end);
        if !within(&self.tints, TINTS.len())
            || !within(&self.marks, MARKS.len())
            || !within(&self.cells, tile)
        {
            return Err(format!("a grid of {count} tiles has a known tint, mark and cell for each"));
        }
        if self.tints.iter().enumerate().any(|(at, tint)| self.tints[..at].contains(tint)) {
            return Err("two tiles have the same tint".to_owned());
        }
        if usize::from(self.ask) >= count || usize::from(self.by) >= tile {
            return Err(format!("it asks about cell {} of tile {}", self.by, self.ask));
        }
        let fits = |rival: &Rival| match needs_zoom {
            true => usize::from(rival.word) < MARKS.len() && rival.word != self.marks[usize::from(self.ask)],
            false => usize::from(rival.word) < TINTS.len() && !self.tints.contains(&rival.word),
        };
        match &self.rival {
            Some(rival) if !fits(rival) => Err("its wrong answer is unknown or right".to_owned()),
            None if !needs_zoom => Err("it has no wrong answer beside the right one".to_owned()),
            _ => Ok(()),
        }
    }

    /// The answers that a question can have.
    pub(super) fn words(needs_zoom: bool) -> &'static [&'static str] {
        if needs_zoom { &MARKS } else { &TINTS }
    }

    /// The right answer: the word of a mark, or of a tint.
    pub(super) fn right(&self, needs_zoom: bool) -> &'static str {
        let of = if needs_zoom { &self.marks } else { &self.tints };
        Self::words(needs_zoom)[usize::from(of[usize::from(self.ask)])]
    }

    /// The answers that are offered, in their order.
    pub(super) fn offered(&self, needs_zoom: bool, swap: bool) -> Vec<&'static str> {
        let right = self.right(needs_zoom);
        let wrong = |rival: &Rival| Self::words(needs_zoom)[usize::from(rival.word)];
        match &self.rival {
            None => Vec::new(),
            Some(rival) if rival.first != swap => vec![wrong(rival), right],
            Some(rival) => vec![right, wrong(rival)],
        }
    }

    /// Row and column, from 1, of the first cell of the tile that is asked about.
    pub(super) fn target(&self) -> [u8; 2] {
        [self.ask / self.side, self.ask % self.side].map(|at| at * self.tile + 1)
    }

    /// The last row or column at which a part can begin.
    pub(super) fn last(&self) -> u8 {
        (self.side - 1) * self.tile + 1
    }

    pub(super) fn prompt(&self, needs_zoom: bool, swap: bool) -> String {
        let tints: Vec<&str> = self.tints.iter().map(|tint| TINTS[usize::from(*tint)]).collect();
        let rows: Vec<String> = tints.chunks(usize::from(self.side)).map(|row| row.join(" ")).collect();
        let [row, column] = self.target();
        let ask = match needs_zoom {
            true => format!("mark {} {}", row + self.by / self.tile, column + self.by % self.tile),
            false => "tint".to_owned(),
        };
        let offered = self.offered(needs_zoom, swap);
        let choice = if offered.is_empty() { String::new() } else { format!(" {}", offered.join(" or ")) };
        format!("{}, {ask}{choice}", rows.join(" / "))
    }

    /// A part of the size of a tile, as words. The row and column, from 1, are those of its first cell.
    fn part(&self, row: u8, column: u8) -> String {
        let cell = |row: u8, column: u8| {
            let tile = usize::from(row / self.tile * self.side + column / self.tile);
            let marked = self.cells[tile] == row % self.tile * self.tile + column % self.tile;
            if marked { MARKS[usize::from(self.marks[tile])] } else { TINTS[usize::from(self.tints[tile])] }
        };
        let rows = (row - 1..row - 1 + self.tile).map(|row| {
            let cells: Vec<&str> =
                (column - 1..column - 1 + self.tile).map(|column| cell(row, column)).collect();
            cells.join(" ")
        });
        rows.collect::<Vec<_>>().join(" / ")
    }

    /// Reads where a part begins.
    fn place(&self, input: &str) -> Option<[u8; 2]> {
        let numbers: Vec<u8> = input.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let [row, column] = numbers[..] else { return None };
        let fits = input.split_whitespace().count() == 2
            && [row, column].iter().all(|at| (1..=self.last()).contains(at));
        fits.then_some([row, column])
    }

    /// How many cells a part has in common with the tile that is asked about; absent where there is no such part.
    pub(super) fn overlap(&self, input: &str) -> Option<u32> {
        let shared = |from: u8, to: u8| u32::from(self.tile.saturating_sub(from.abs_diff(to)));
        let ([row, column], [to_row, to_column]) = (self.place(input)?, self.target());
        Some(shared(row, to_row) * shared(column, to_column))
    }
}

static CARD: LazyLock<ToolSpec> = LazyLock::new(|| {
    let summary = "A part of the grid in full.";
    ToolSpec::text("zoom", summary, "place", "ROW COLUMN of its first cell", "1 3")
});

/// The tool that shows a part of the grid in full.
pub struct Zoom;

struct Session(Scene);

impl Tool for Zoom {
    fn spec(&self) -> &ToolSpec {
        &CARD
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        no_state("zoom", state)?;
        let scene = match Puzzle::deserialize(&task.payload).map_err(|error| error.to_string()) {
            Ok(Puzzle::Plain(scene)) => scene.check(false).map(|()| scene),
            Ok(Puzzle::Zoom(scene)) => scene.check(true).map(|()| scene),
            Ok(Puzzle::Video(_) | Puzzle::Count(_)) => Err("there is nothing to zoom into".to_owned()),
            Err(why) => Err(why),
        };
        let refused = |why: String| ToolError::Task { tool: "zoom".to_owned(), task: task.id.clone(), why };
        Ok(Arc::new(Session(scene.map_err(refused)?)))
    }
}

impl ToolSession for Session {
    fn call(self: Arc<Self>, input: String) -> ToolFuture {
        let answer = match self.0.place(&input) {
            Some([row, column]) => ToolAnswer::Ok(self.0.part(row, column)),
            None => ToolAnswer::Refused(format!("rows and columns are 1 to {}", self.0.last())),
        };
        Box::pin(std::future::ready(answer))
    }
}
