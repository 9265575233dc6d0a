//! A row of boxes whose notes lead to a key: a world without tools, in which every action changes the state.
//!
//! `open 3` shows a note with the number of another box, or the key; `take` takes the key out of the open box; `go` leaves,
//! which the locked door allows only with the key. The world ends by itself, and only when the goal is reached.

use merit_api::{CommandCard, Demonstration, ExpertTurn, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const HINT: &str = "say open NUMBER, take or go";
const MAX_BOXES: u32 = 9;

/// The settings of `vault`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vault {
    /// Boxes in the row, 4 to 9.
    pub boxes: u32,
    /// Boxes on the way to the key in training tasks, dealt in turn.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
}

impl Default for Vault {
    fn default() -> Self {
        Self { boxes: 6, sizes: vec![2, 3], held_out_sizes: Vec::new() }
    }
}

impl Component for Vault {
    const ABOUT: About =
        About { name: "vault", summary: "Boxes whose notes lead to a key; no tools, real state.", paper: "" };

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((4..=MAX_BOXES).contains(&self.boxes), "boxes", self.boxes, "4 to 9")?;
        if self.sizes.is_empty() {
            return Err(Refusal::new("`sizes` is empty; list the sizes to train on, as in [2, 3]"));
        }
        match self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(2..=self.boxes).contains(size)) {
            Some(size) => Err(Refusal::new(format!(
                "a way of {size} boxes; give 2 to {}, the boxes in the row",
                self.boxes
            ))),
            None => Ok(()),
        }
    }
}

/// The puzzle of a task. Boxes are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boxes {
    /// The box named in the prompt.
    pub start: u32,
    /// For each box the box its note names; 0 is the key.
    pub notes: Vec<u32>,
}

impl Boxes {
    /// What lies in a box; `None` when there is no such box.
    fn note(&self, number: u32) -> Option<u32> {
        self.notes.get((number as usize).checked_sub(1)?).copied()
    }

    /// The boxes from the start to the key; `None` when the notes run in a circle or out of the row.
    pub fn way(&self) -> Option<Vec<u32>> {
        let mut way = vec![self.start];
        while let Some(next) = way.last().and_then(|&at| self.note(at)) {
            if next == 0 {
                return Some(way);
            }
            if way.len() > self.notes.len() {
                return None;
            }
            way.push(next);
        }
        None
    }

    /// Acts that somebody who knows all notes still needs: open the box of the key, take it, go.
    fn acts_left(&self, state: &VaultState) -> u32 {
        match (state.key, self.note(state.open)) {
            (true, _) => 1,
            (false, Some(0)) => 2,
            (false, _) => 3,
        }
    }
}

/// What the actions change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VaultState {
    /// The open box; 0 while all are closed. Opening one closes the other.
    pub open: u32,
    /// Whether the agent holds the key.
    pub key: bool,
}

enum Command {
    Open(u32),
    Take,
    Go,
}

fn command(text: &str) -> Option<Command> {
    match text {
        "take" => Some(Command::Take),
        "go" => Some(Command::Go),
        _ => {
            let number = text.strip_prefix("open ")?;
            let plain = (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
            number.parse().ok().filter(|_| plain).map(Command::Open)
        }
    }
}

impl TextGame for Vault {
    type Puzzle = Boxes;
    type State = VaultState;

    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Follows the notes, takes the key and leaves."),
        Manner::new("hasty", "Tries the door after every note, and follows the notes all the same."),
        Manner::new("wander", "Opens any box until it meets the key."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Boxes {
        let mut order: Vec<u32> = (1..=self.boxes).collect();
        rng.shuffle(&mut order);
        let (way, rest) = order.split_at(size as usize);
        let mut notes = vec![0; self.boxes as usize];
        way.windows(2).for_each(|pair| notes[pair[0] as usize - 1] = pair[1]);
        rest.iter().for_each(|&at| notes[at as usize - 1] = 1 + rng.below(u64::from(self.boxes)) as u32);
        Boxes { start: way[0], notes }
    }

    /// The row and the way; notes off the way do not matter.
    fn identity(&self, boxes: &Boxes) -> String {
        format!("{} boxes, way {:?}", boxes.notes.len(), boxes.way().unwrap_or_default())
    }

    fn check_puzzle(&self, boxes: &Boxes, size: u32) -> Result<(), String> {
        if boxes.notes.len() > MAX_BOXES as usize {
            return Err(format!("{} boxes; at most {MAX_BOXES}", boxes.notes.len()));
        }
        match boxes.way() {
            Some(way) if way.len() == size as usize => Ok(()),
            Some(way) => Err(format!("its way has {} boxes, its size is {size}", way.len())),
            None => Err("its notes do not lead to the key".to_owned()),
        }
    }

    fn check_state(&self, boxes: &Boxes, state: &VaultState) -> Result<(), String> {
        let count = boxes.notes.len();
        if state.open as usize <= count {
            Ok(())
        } else {
            Err(format!("box {} is open, but there are {count}", state.open))
        }
    }

    fn prompt(&self, boxes: &Boxes) -> String {
        format!("{} boxes. note {}. get out.", boxes.notes.len(), boxes.start)
    }

    fn commands(&self) -> Vec<CommandCard> {
        vec![
            CommandCard::new("open", "Open a box.").number("number", "which box").example("open 3"),
            CommandCard::new("take", "Take what lies in the open box.").example("take"),
            CommandCard::new("go", "Leave by the door.").example("go"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        match command(line(text)) {
            Some(_) => Action::Say { text: line(text).to_owned() },
            None => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, boxes: &Boxes, state: &mut VaultState, action: &Action, _: &[CallRecord]) -> StepResult {
        let command = match action {
            Action::Say { text } => command(text),
            Action::Answer { .. } | Action::Calls { .. } | Action::Malformed { .. } => None,
        };
        let read = command.is_some();
        let result = self.done(boxes, state, command);
        let left = if result.is_last() { 0 } else { boxes.acts_left(state) };
        let told = [("read", u32::from(read)), ("key", u32::from(state.key)), ("left", left)];
        result.with_info(told.map(|(name, value)| (name, f64::from(value))))
    }

    /// The right way follows the notes.
    fn expert(&self, boxes: &Boxes, play: &Demonstration<'_>) -> Option<String> {
        let manner = play.manner.unwrap_or(if play.is_correct() { "exact" } else { "wander" });
        let noted = |text: &str| text.strip_prefix("note ").and_then(|number| number.parse::<u64>().ok());
        let seen = play.last_observation();
        let next = match (manner, seen) {
            (_, "key") => return Some("take".to_owned()),
            (_, "taken") => return Some("go".to_owned()),
            ("hasty", text) if noted(text).is_some() => return Some("go".to_owned()),
            ("hasty", "locked") => {
                let told = |turn: &ExpertTurn| turn.observed.iter().find_map(|seen| noted(&seen.text));
                play.turns.iter().rev().find_map(told)
            }
            ("wander", _) => {
                let mut rng = play.seed.child("wander", play.turns.len() as u64).stream();
                Some(1 + rng.below(boxes.notes.len() as u64))
            }
            (_, text) => noted(text),
        };
        Some(format!("open {}", next.unwrap_or(u64::from(boxes.start))))
    }
}

impl Vault {
    /// What a command does; absent where none was understood.
    fn done(&self, boxes: &Boxes, state: &mut VaultState, command: Option<Command>) -> StepResult {
        StepResult::saying(match command {
            None => HINT.to_owned(),
            Some(Command::Open(number)) => match boxes.note(number) {
                None => format!("boxes are 1 to {}", boxes.notes.len()),
                Some(note) => {
                    state.open = number;
                    match note {
                        0 if state.key => "empty".to_owned(),
                        0 => "key".to_owned(),
                        next => format!("note {next}"),
                    }
                }
            },
            Some(Command::Take) if !state.key && boxes.note(state.open) == Some(0) => {
                state.key = true;
                "taken".to_owned()
            }
            Some(Command::Take) => "nothing to take".to_owned(),
            Some(Command::Go) if state.key => return StepResult::saying("out").done(),
            Some(Command::Go) => "locked".to_owned(),
        })
    }
}
