//! Boards that are seen whole after every move: mines to be avoided by reasoning, a box to be pushed to its place, pairs of letters to
//! be written.
//!
//! `mines`: five by five, the middle is open; `open b4` opens row b, column 4. An agent that opens a mine has lost, one that has opened everything
//! else has won. `push`: six by six, `up`, `down`, `left` and `right` move the player `a`, who pushes the box `o` to `x` and may get it
//! stuck. `strings`: twelve moves, `add b` and `cut`, to have every wanted pair of letters in a string, and the unwanted letter nowhere. How
//! good a move was is known exactly, by counting layouts or by search, and told as info.

mod boxes;
mod mines;
mod settings;
mod strings;

pub use boxes::{Place, Room};
pub use settings::{Boards, Kind};
pub use strings::Wish;

use boxes::MOVES;
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::{Action, CallRecord, Split, Stream};
use serde::{Deserialize, Serialize};

/// Most moves that are kept; rollouts end long before.
const MOST_MOVES: usize = 500;

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Board {
    /// Mined cells, one bit each, row by row.
    Mines {
        mines: u32,
    },
    Push {
        room: Room,
    },
    Strings {
        wish: Wish,
    },
}

/// The moves so far: cells that were opened, places in the list of directions, or letters and cuts. Moves that could not be made are not
/// among them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trail {
    pub moves: Vec<u8>,
}

impl Trail {
    fn open(&self, mines: u32) -> u32 {
        let first = mines::opened(mines, 0, mines::FIRST);
        self.moves.iter().fold(first, |open, cell| mines::opened(mines, open, usize::from(*cell).min(24)))
    }

    fn place(&self, room: &Room) -> Place {
        self.moves.iter().fold(room.start, |place, at| {
            let moved =
                MOVES.get(usize::from(*at)).and_then(|(_, row, column)| room.moved(place, (*row, *column)));
            moved.unwrap_or(place)
        })
    }
}

/// The cell that `b4` names.
fn cell(word: &str) -> Option<usize> {
    let (row, column) = (word.chars().next()?, word.get(1..)?.parse::<usize>().ok()?);
    let row = (row as usize).checked_sub('a' as usize)?;
    (row < mines::SIDE && (1..=mines::SIDE).contains(&column)).then(|| row * mines::SIDE + column - 1)
}

fn named(cell: usize) -> String {
    let row = char::from(b'a' + (cell / mines::SIDE) as u8);
    format!("open {row}{}", cell % mines::SIDE + 1)
}

impl Boards {
    fn hint(&self) -> &'static str {
        match self.kind {
            Kind::Mines => "say open and a cell, as in open b4",
            Kind::Push => "say up, down, left or right",
            Kind::Strings => "say add and a letter, or cut",
        }
    }

    /// The move that a line names, as it is kept.
    fn read(&self, said: &str) -> Option<u8> {
        let words: Vec<&str> = said.split_whitespace().collect();
        match (self.kind, &words[..]) {
            (Kind::Mines, ["open", word]) => cell(word).map(|cell| cell as u8),
            (Kind::Push, [word]) => MOVES.iter().position(|(name, ..)| name == word).map(|at| at as u8),
            (Kind::Strings, words) => strings::read(words, self.letters(), self.spelling()),
            _ => None,
        }
    }

    fn swept(&self, mines: u32, trail: &mut Trail, cell: u8) -> StepResult {
        let open = trail.open(mines);
        let chances = mines::chances(mines, open);
        let hidden = |cell: &usize| open & 1 << cell == 0;
        let least = (0..chances.len()).filter(hidden).map(|cell| chances[cell]).fold(1.0, f64::min);
        let chance = chances[usize::from(cell)];
        let news = hidden(&usize::from(cell));
        if trail.moves.len() < MOST_MOVES {
            trail.moves.push(cell);
        }
        let (now, hit) = (trail.open(mines), mines & 1 << cell != 0);
        let won = mines::won(mines, now);
        let result = StepResult::saying(if hit { "boom".to_owned() } else { mines::shown(mines, now) });
        let result = if hit || won { result.done() } else { result };
        let flag = |holds: bool| f64::from(u8::from(holds));
        result.with_info([
            ("read", 1.0),
            ("good", flag(news && chance <= least + 1e-9)),
            ("chance", if news { chance } else { 0.0 }),
            ("least_chance", least),
            ("news", flag(news)),
            ("won", flag(won)),
        ])
    }

    fn pushed(&self, room: &Room, trail: &mut Trail, at: u8) -> StepResult {
        let before = trail.place(room);
        let left = |place: Place| room.way(place).map(|way| way.len() as f64);
        let by = MOVES.get(usize::from(at)).map_or((0, 0), |(_, row, column)| (*row, *column));
        let moved = room.moved(before, by);
        if moved.is_some() && trail.moves.len() < MOST_MOVES {
            trail.moves.push(at);
        }
        let now = trail.place(room);
        let won = now.goods == room.goal;
        let flag = |holds: bool| f64::from(u8::from(holds));
        let result = StepResult::saying(room.shown(now));
        let result = if won { result.done() } else { result };
        let (had, has) = (left(before), left(now));
        result.with_info([
            ("read", 1.0),
            ("good", flag(matches!((had, has), (Some(had), Some(has)) if has < had))),
            ("moved", flag(moved.is_some())),
            ("stuck", flag(has.is_none())),
            ("left", has.unwrap_or(36.0)),
            ("won", flag(won)),
        ])
    }
}

impl TextGame for Boards {
    type Puzzle = Board;
    type State = Trail;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Opens the cell that is least likely mined, or takes the shortest way: right."),
        Manner::new("reckless", "Opens any hidden cell, or goes anywhere."),
        Manner::new("mixed", "Half of its moves are right, the others reckless."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Board {
        match self.kind {
            Kind::Push => Board::Push { room: Room::draw(size, rng) },
            Kind::Strings => Board::Strings { wish: Wish::draw(size as usize, self.letters(), rng) },
            Kind::Mines => loop {
                let mines = mines::draw(size, rng);
                if mines::solvable(mines) && !mines::won(mines, mines::opened(mines, 0, mines::FIRST)) {
                    return Board::Mines { mines };
                }
            },
        }
    }

    fn check_puzzle(&self, board: &Board, size: u32) -> Result<(), String> {
        match (self.kind, board) {
            (Kind::Push, Board::Push { room }) => room.check(size),
            (Kind::Strings, Board::Strings { wish }) => wish.check(size as usize, self.letters()),
            (Kind::Mines, Board::Mines { mines }) => {
                let known = mines >> 25 == 0 && mines & 1 << mines::FIRST == 0 && mines.count_ones() == size;
                if known { Ok(()) } else { Err(format!("its mines are not {size} cells beside the middle")) }
            }
            _ => Err("it is of another kind of board".to_owned()),
        }
    }

    fn check_state(&self, board: &Board, trail: &Trail) -> Result<(), String> {
        if let Board::Strings { wish } = board {
            return wish.check_moves(&trail.moves, self.letters());
        }
        let most = if self.kind == Kind::Mines { 25 } else { 4 };
        match trail.moves.iter().find(|at| **at >= most) {
            Some(at) => Err(format!("a move {at} that there is not")),
            None if trail.moves.len() > MOST_MOVES => Err(format!("more than {MOST_MOVES} moves")),
            None => Ok(()),
        }
    }

    fn prompt(&self, board: &Board) -> String {
        let none = Trail::default();
        match board {
            Board::Mines { mines } => mines::shown(*mines, none.open(*mines)),
            Board::Push { room } => room.shown(room.start),
            Board::Strings { wish } => wish.prompt(),
        }
    }

    fn instructions(&self) -> Option<String> {
        let text = match self.kind {
            Kind::Mines => {
                "Minesweeper on five rows (a to e) and five columns (1 to 5). You see the rows one after another: `.` is hidden, a number counts \
                 the mines in the cells around. Open every cell that is not mined. Say one line per turn, as in `open b4`."
            }
            Kind::Push => {
                "Push the box `o` to `x`. You are `a`, `#` is a wall; you see the six rows one after another. You push by walking against the box, \
                 and cannot pull. Say one line per turn: `up`, `down`, `left` or `right`."
            }
            Kind::Strings => {
                "Write a string that has every wanted pair of letters side by side, and nowhere the letter that is not wanted. You have twelve \
                 moves. Say one line per turn: `add b` writes a letter at the end, `cut` takes the last one off."
            }
        };
        self.instructions.then(|| text.to_owned())
    }

    fn commands(&self) -> Vec<CommandCard> {
        match self.kind {
            Kind::Mines => {
                let open = CommandCard::new("open", "Open a cell.");
                vec![open.word("cell", "its row, a to e, and its column, 1 to 5").example("open b4")]
            }
            Kind::Push => {
                let walk =
                    CommandCard::unspoken("walk", "Go a step, and push the box where it is in the way.");
                vec![walk.one_of("way", "where to", MOVES.map(|(name, ..)| name)).example("up")]
            }
            Kind::Strings => {
                let letters: Vec<String> =
                    (0..self.letters()).map(|at| strings::spelled(at, self.spelling())).collect();
                let example = format!("add {}", letters[0]);
                let add = CommandCard::new("add", "Write a letter at the end.");
                let cut = CommandCard::new("cut", "Take the last letter off.").example("cut");
                vec![add.one_of("letter", "as it is said", letters).example(&example), cut]
            }
        }
    }

    fn parse(&self, text: &str) -> Action {
        match self.read(line(text)) {
            Some(_) => Action::Say { text: line(text).trim().to_owned() },
            None => Action::Malformed { why: self.hint().to_owned() },
        }
    }

    fn step(&self, board: &Board, trail: &mut Trail, action: &Action, _: &[CallRecord]) -> StepResult {
        let read = match action {
            Action::Say { text } => self.read(text),
            _ => None,
        };
        match (board, read) {
            (Board::Mines { mines }, Some(cell)) => self.swept(*mines, trail, cell),
            (Board::Push { room }, Some(at)) => self.pushed(room, trail, at),
            (Board::Strings { wish }, Some(at)) => wish.wrote(&mut trail.moves, at),
            (_, None) => {
                StepResult::saying(self.hint()).with_info([("read", 0.0), ("good", 0.0), ("won", 0.0)])
            }
        }
    }

    fn expert(&self, board: &Board, play: &Demonstration<'_>) -> Option<String> {
        let moves = play.turns.iter().filter_map(|turn| self.read(turn.said.trim()));
        let mut rng = play.seed.child("move", play.turns.len() as u64).stream();
        let right = match play.manner.unwrap_or(if play.is_correct() { "exact" } else { "reckless" }) {
            "exact" => true,
            "mixed" => rng.chance(0.5),
            _ => false,
        };
        match board {
            Board::Mines { mines } => {
                let open = Trail { moves: moves.collect() }.open(*mines);
                let hidden: Vec<usize> = (0..25).filter(|cell| open & 1 << cell == 0).collect();
                let cell = if right { mines::safest(*mines, open) } else { rng.pick(&hidden).copied() };
                cell.map(named)
            }
            Board::Push { room } => {
                // Moves into walls change nothing, so the trail may hold them here.
                let place = Trail { moves: moves.collect() }.place(room);
                let any = rng.pick(&MOVES).map(|(name, ..)| *name);
                let way = room.way(place).filter(|_| right);
                way.and_then(|way| way.first().copied()).or(any).map(str::to_owned)
            }
            Board::Strings { wish } => {
                // Cuts of nothing change nothing, so the moves may hold them here.
                let way = wish.way(&wish.text(&moves.collect::<Vec<u8>>()));
                let any = rng.below(self.letters() as u64 + 1) as u8;
                let at = way.first().copied().filter(|_| right).unwrap_or(any);
                Some(strings::line_of(at, self.letters(), self.spelling()))
            }
        }
    }
}
