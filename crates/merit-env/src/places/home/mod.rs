//! Rooms with boxes, fixtures and things: the ground of `house`, `quests` and `plan`.
//!
//! Any number of things can be carried. Boxes are of glass: what is in a shut one is seen, and cannot be taken. A fixture treats what
//! is carried into its room: `wash cup` where the sink is. What is seen of it is in `sight`, what acts do in `acts`.

mod acts;
mod sight;

use crate::places::ground::AtFirst;
use merit_api::Derived;
use merit_core::Stream;
use serde::{Deserialize, Serialize};

pub const ROOMS: [&str; 8] = ["hall", "den", "bath", "yard", "loft", "shed", "barn", "porch"];
pub const BOXES: [&str; 8] = ["box", "desk", "bin", "shelf", "chest", "rack", "crate", "case"];
pub const THINGS: [&str; 10] = ["cup", "hat", "pen", "ball", "book", "jar", "plate", "fork", "cloth", "lamp"];
/// What can be done to a thing, and the fixture that does it.
pub const TREATMENTS: [(&str, &str); 6] = [
    ("wash", "sink"),
    ("heat", "stove"),
    ("cool", "frost"),
    ("chop", "board"),
    ("fill", "tap"),
    ("dry", "line"),
];
pub const VERBS: [&str; 12] =
    ["go", "open", "shut", "take", "put", "drop", "wash", "heat", "cool", "chop", "fill", "dry"];
pub const MAX_GOALS: usize = 4;
/// Fixtures of a home with treatments.
const FIXTURES: usize = 2;

/// A box: its name, its room, and whether it is shut at first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Container {
    pub name: u8,
    pub room: u8,
    pub shut: bool,
}

/// A thing, and where it is at first: a place of `Home::place`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    pub name: u8,
    pub place: u8,
}

/// What is wanted: a thing in a box, treated first where a treatment is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub thing: u8,
    /// The place of a treatment. 255: none.
    pub treatment: u8,
    pub to: u8,
}

/// The mark of a thing that needs no treatment.
pub const AS_IT_IS: u8 = u8::MAX;

/// A home and what is wanted in it. Rooms, boxes and things are called by their place in these lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The names of the rooms.
    pub rooms: Vec<u8>,
    /// Rooms with a door between them; empty: every room has a door to every other.
    pub doors: Vec<(u8, u8)>,
    pub boxes: Vec<Container>,
    /// Treatments and the rooms of their fixtures.
    pub fixtures: Vec<(u8, u8)>,
    pub things: Vec<Thing>,
    pub goals: Vec<Goal>,
    pub start: u8,
    /// Acts of a shortest play that are done before the first turn, and told.
    pub hint: u32,
    /// What is true before the first act.
    #[serde(skip)]
    pub at_first: Derived<AtFirst>,
}

/// How a home is drawn.
pub struct Shape {
    pub rooms: usize,
    pub things: usize,
    /// A tree of doors instead of doors everywhere.
    pub tree: bool,
    /// Share of goals with a treatment.
    pub treated: f64,
}

/// So many of these names, in any order.
pub(super) fn some(names: usize, count: usize, rng: &mut Stream) -> Vec<u8> {
    let mut all: Vec<u8> = (0..names as u8).collect();
    rng.shuffle(&mut all);
    all.truncate(count);
    all
}

impl Home {
    /// A home in which so many things are wanted.
    pub fn draw(shape: &Shape, goals: usize, rng: &mut Stream) -> Self {
        let below = |rng: &mut Stream, bound: usize| rng.below(bound as u64) as u8;
        let rooms = some(ROOMS.len(), shape.rooms, rng);
        let doors = match shape.tree {
            true => (1..rooms.len()).map(|room| (below(rng, room), room as u8)).collect(),
            false => Vec::new(),
        };
        let boxes: Vec<Container> = some(BOXES.len(), shape.rooms.max(2), rng)
            .into_iter()
            .map(|name| Container { name, room: below(rng, rooms.len()), shut: rng.chance(0.4) })
            .collect();
        let kinds = if shape.treated > 0.0 { some(TREATMENTS.len(), FIXTURES, rng) } else { Vec::new() };
        let fixtures: Vec<(u8, u8)> = kinds.into_iter().map(|kind| (kind, below(rng, rooms.len()))).collect();
        let places = rooms.len() + boxes.len();
        let things: Vec<Thing> = some(THINGS.len(), shape.things, rng)
            .into_iter()
            .map(|name| Thing { name, place: 1 + below(rng, places) })
            .collect();
        let goals = some(things.len(), goals, rng)
            .into_iter()
            .map(|thing| {
                let treated = rng.chance(shape.treated).then(|| rng.pick(&fixtures)).flatten();
                // Never where it is already.
                let is_in = usize::from(things[usize::from(thing)].place).checked_sub(1 + rooms.len());
                let others: Vec<u8> =
                    (0..boxes.len() as u8).filter(|to| Some(usize::from(*to)) != is_in).collect();
                let to = rng.pick(&others).copied().unwrap_or_default();
                Goal { thing, treatment: treated.map_or(AS_IT_IS, |one| one.0), to }
            })
            .collect();
        let start = below(rng, rooms.len());
        Self { rooms, doors, boxes, fixtures, things, goals, start, hint: 0, at_first: Derived::default() }
    }

    /// What is wrong with it; every number that is used as a place is checked here.
    pub fn check(&self) -> Result<(), String> {
        let distinct = |names: Vec<u8>, known: usize| {
            let mut sorted = names.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len() == names.len() && names.iter().all(|name| usize::from(*name) < known)
        };
        let (rooms, boxes) = (self.rooms.len(), self.boxes.len());
        let is = |at: u8, count: usize| usize::from(at) < count;
        let sound = [
            ("rooms", rooms > 0 && distinct(self.rooms.clone(), ROOMS.len())),
            (
                "doors",
                self.doors.iter().all(|door| is(door.0, rooms) && is(door.1, rooms) && door.0 != door.1),
            ),
            ("boxes", distinct(self.boxes.iter().map(|one| one.name).collect(), BOXES.len())),
            ("boxes", self.boxes.iter().all(|one| is(one.room, rooms))),
            ("fixtures", distinct(self.fixtures.iter().map(|one| one.0).collect(), TREATMENTS.len())),
            ("fixtures", self.fixtures.iter().all(|one| is(one.1, rooms))),
            ("things", distinct(self.things.iter().map(|one| one.name).collect(), THINGS.len())),
            (
                "things",
                self.things.iter().all(|one| one.place > 0 && usize::from(one.place) <= rooms + boxes),
            ),
            ("goals", (1..=MAX_GOALS).contains(&self.goals.len())),
            ("goals", distinct(self.goals.iter().map(|goal| goal.thing).collect(), self.things.len())),
            ("goals", self.goals.iter().all(|goal| is(goal.to, boxes))),
            (
                "goals",
                self.goals
                    .iter()
                    .all(|goal| self.fixture(goal.treatment).is_some() || goal.treatment == AS_IT_IS),
            ),
            ("start", is(self.start, rooms)),
        ];
        match sound.iter().find(|(_, sound)| !sound) {
            Some((what, _)) => Err(format!("its {what} do not fit together")),
            None => Ok(()),
        }
    }

    /// The room of a treatment's fixture.
    fn fixture(&self, treatment: u8) -> Option<usize> {
        self.fixtures.iter().find(|one| one.0 == treatment).map(|one| usize::from(one.1))
    }

    /// The place that a cell means: in the hand (0), on the floor of a room (from 1 on) or in a box (after the rooms).
    fn place(&self, cell: u8) -> (Option<usize>, Option<usize>) {
        let (at, rooms) = (usize::from(cell), self.rooms.len());
        match at {
            0 => (None, None),
            _ if at <= rooms => (Some(at - 1), None),
            _ => {
                let inside = at - 1 - rooms;
                (self.boxes.get(inside).map(|one| usize::from(one.room)), Some(inside))
            }
        }
    }

    fn inside(&self, container: usize) -> u8 {
        (1 + self.rooms.len() + container) as u8
    }

    // The cells: the room, whether each box is open, the place of each thing, and the treatments of each thing as bits.
    fn open_cell(&self, container: usize) -> usize {
        1 + container
    }

    fn place_cell(&self, thing: usize) -> usize {
        1 + self.boxes.len() + thing
    }

    fn treated_cell(&self, thing: usize) -> usize {
        1 + self.boxes.len() + self.things.len() + thing
    }

    fn linked(&self, from: usize, to: usize) -> bool {
        let pair = |door: &(u8, u8)| (usize::from(door.0), usize::from(door.1));
        from != to
            && (self.doors.is_empty()
                || self.doors.iter().map(pair).any(|door| door == (from, to) || door == (to, from)))
    }

    /// Whether a goal holds: the box, and the treatment.
    fn held(&self, goal: &Goal, cells: &[u8]) -> (bool, bool) {
        let thing = usize::from(goal.thing);
        let there = cells[self.place_cell(thing)] == self.inside(usize::from(goal.to));
        (there, goal.treatment == AS_IT_IS || cells[self.treated_cell(thing)] >> goal.treatment & 1 == 1)
    }
}
