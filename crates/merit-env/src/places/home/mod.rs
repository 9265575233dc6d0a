//! Rooms with boxes, fixtures and things: the ground of `house`, `quests` and `plan`.
//!
//! Any number of things can be carried. Boxes are of glass: what is in a shut one is seen, and cannot be taken. A fixture treats what
//! is carried into its room: `wash cup` where the sink is.

use super::ground::{Ground, Heard, Reply};
use super::tour::{Errands, Stop};
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
/// Every verb.
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

/// No treatment.
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
    /// The first room.
    pub start: u8,
    /// Acts of a shortest play that are done before the first turn, and told.
    pub hint: u32,
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

fn some(names: usize, count: usize, rng: &mut Stream) -> Vec<u8> {
    let mut all: Vec<u8> = (0..names as u8).collect();
    rng.shuffle(&mut all);
    all.truncate(count);
    all
}

fn named(names: &[&'static str], at: u8) -> &'static str {
    names.get(usize::from(at)).copied().unwrap_or_default()
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
        Self { rooms, doors, boxes, fixtures, things, goals, start, hint: 0 }
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

    fn room_name(&self, room: usize) -> &'static str {
        self.rooms.get(room).map_or("", |name| named(&ROOMS, *name))
    }

    fn box_name(&self, container: usize) -> &'static str {
        self.boxes.get(container).map_or("", |one| named(&BOXES, one.name))
    }

    fn thing_name(&self, thing: usize) -> &'static str {
        self.things.get(thing).map_or("", |one| named(&THINGS, one.name))
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

    /// What lies in a place, behind its name: ` cup pen`.
    fn lying(&self, cells: &[u8], place: u8) -> Vec<&'static str> {
        let here = |thing: &usize| cells[self.place_cell(*thing)] == place;
        (0..self.things.len()).filter(here).map(|thing| self.thing_name(thing)).collect()
    }

    fn boxed(&self, cells: &[u8], container: usize) -> String {
        let shut = if cells[self.open_cell(container)] == 0 { " shut" } else { "" };
        let inside: String =
            self.lying(cells, self.inside(container)).iter().map(|name| format!(" {name}")).collect();
        format!("{}{shut}{inside}", self.box_name(container))
    }

    /// Everything that the wishes need, for a plan: each with where the thing is, where it is treated and where it goes.
    pub fn overview(&self, cells: &[u8]) -> String {
        let container = |one: usize| {
            let shut = if cells[self.open_cell(one)] == 0 { " shut" } else { "" };
            format!(" {}{shut}", self.box_name(one))
        };
        let wish = |goal: &Goal| {
            let (room, inside) = self.place(cells[self.place_cell(goal.thing.into())]);
            let from = room.map_or("", |room| self.room_name(room));
            let inside = inside.map_or(String::new(), container);
            let treated = self.fixture(goal.treatment).map_or(String::new(), |room| {
                format!(" {} {}", TREATMENTS[usize::from(goal.treatment)].0, self.room_name(room))
            });
            let to = usize::from(goal.to);
            let room = self.room_name(self.boxes[to].room.into());
            format!(
                "{} {from}{inside}{treated} to {room}{}",
                self.thing_name(goal.thing.into()),
                container(to)
            )
        };
        let door =
            |door: &(u8, u8)| format!("{} {}", self.room_name(door.0.into()), self.room_name(door.1.into()));
        let doors: Vec<String> = self.doors.iter().map(door).collect();
        let doors = if doors.is_empty() { String::new() } else { format!("doors {}. ", doors.join(", ")) };
        let wishes: Vec<String> = self.goals.iter().map(wish).collect();
        format!("{doors}at {}. want {}", self.room_name(cells[0].into()), wishes.join(", "))
    }

    /// What is seen of a room: `den to hall: hat, box shut cup, sink`.
    fn room(&self, cells: &[u8], room: usize) -> String {
        let boxes = (0..self.boxes.len()).filter(|one| usize::from(self.boxes[*one].room) == room);
        let fixtures = self.fixtures.iter().filter(|one| usize::from(one.1) == room);
        let seen: Vec<String> = (self.lying(cells, 1 + room as u8).into_iter().map(str::to_owned))
            .chain(boxes.map(|one| self.boxed(cells, one)))
            .chain(fixtures.map(|one| TREATMENTS[usize::from(one.0)].1.to_owned()))
            .collect();
        let doors: String = match self.doors.is_empty() {
            true => String::new(),
            false => (0..self.rooms.len())
                .filter(|to| self.linked(room, *to))
                .map(|to| format!(" {}", self.room_name(to)))
                .collect(),
        };
        let to = if doors.is_empty() { "" } else { " to" };
        let seen = if seen.is_empty() { "bare".to_owned() } else { seen.join(", ") };
        format!("{}{to}{doors}: {seen}", self.room_name(room))
    }

    /// What is wanted: `want cup wash bin, hat desk`.
    fn wanted(&self) -> String {
        let words = |goal: &Goal| {
            let treatment = TREATMENTS
                .get(usize::from(goal.treatment))
                .map_or(String::new(), |one| format!(" {}", one.0));
            format!("{}{treatment} {}", self.thing_name(goal.thing.into()), self.box_name(goal.to.into()))
        };
        format!("want {}", self.goals.iter().map(words).collect::<Vec<_>>().join(", "))
    }

    /// The names of all rooms, where doors are everywhere and so are not told.
    fn room_names(&self) -> Option<String> {
        let names: Vec<&str> = (0..self.rooms.len()).map(|room| self.room_name(room)).collect();
        self.doors.is_empty().then(|| names.join(" "))
    }
}

impl Ground for Home {
    fn start(&self) -> Vec<u8> {
        let open = self.boxes.iter().map(|one| u8::from(!one.shut));
        let places = self.things.iter().map(|thing| thing.place);
        let treated = self.things.iter().map(|_| 0);
        [self.start].into_iter().chain(open).chain(places).chain(treated).collect()
    }

    fn fits(&self, cells: &[u8]) -> bool {
        let (rooms, boxes, things) = (self.rooms.len(), self.boxes.len(), self.things.len());
        let top = |at: usize| match at {
            0 => rooms.saturating_sub(1),
            _ if at <= boxes => 1,
            _ if at <= boxes + things => rooms + boxes,
            _ => (1 << TREATMENTS.len()) - 1,
        };
        cells.len() == 1 + boxes + 2 * things
            && cells.iter().enumerate().all(|(at, cell)| usize::from(*cell) <= top(at))
    }

    fn act(&self, cells: &mut Vec<u8>, said: &str) -> Heard {
        let words: Vec<&str> = said.split_whitespace().collect();
        let at = usize::from(cells[0]);
        let room = |name: &str| (0..self.rooms.len()).find(|room| self.room_name(*room) == name);
        let container = |name: &str| (0..self.boxes.len()).find(|one| self.box_name(*one) == name);
        let here = |one: &usize| usize::from(self.boxes[*one].room) == at;
        let thing = |name: &str| (0..self.things.len()).find(|one| self.thing_name(*one) == name);
        let known = |name: &&str| [&ROOMS[..], &BOXES, &THINGS].concat().contains(name);
        let carried = |cells: &[u8], one: &usize| cells[self.place_cell(*one)] == 0;
        let change = match words[..] {
            ["go", to] => room(to).filter(|to| self.linked(at, *to)).map(|to| (0, to as u8)),
            ["open", one] => container(one).filter(here).map(|one| (self.open_cell(one), 1)),
            ["shut", one] => container(one).filter(here).map(|one| (self.open_cell(one), 0)),
            ["take", one] => thing(one)
                .filter(|one| match self.place(cells[self.place_cell(*one)]) {
                    (Some(room), None) => room == at,
                    (Some(room), Some(inside)) => room == at && cells[self.open_cell(inside)] == 1,
                    (None, _) => false,
                })
                .map(|one| (self.place_cell(one), 0)),
            ["put", one, to] => (thing(one).filter(|one| carried(cells, one)))
                .zip(container(to).filter(here).filter(|to| cells[self.open_cell(*to)] == 1))
                .map(|(one, to)| (self.place_cell(one), self.inside(to))),
            ["drop", one] => {
                thing(one).filter(|one| carried(cells, one)).map(|one| (self.place_cell(one), 1 + at as u8))
            }
            [verb, one] => {
                let Some(kind) = TREATMENTS.iter().position(|(known, _)| *known == verb) else {
                    return Heard::Unread;
                };
                (thing(one).filter(|one| carried(cells, one)))
                    .filter(|_| self.fixture(kind as u8) == Some(at))
                    .map(|one| (self.treated_cell(one), cells[self.treated_cell(one)] | 1 << kind))
            }
            _ => return Heard::Unread,
        };
        if !words[1..].iter().all(known) {
            return Heard::Unread;
        }
        match change {
            Some((cell, value)) if cells[cell] != value => {
                cells[cell] = value;
                Heard::Done
            }
            _ => Heard::Refused,
        }
    }

    fn reply(&self, cells: &[u8], said: &str) -> Reply {
        let over = self.facts(cells).iter().all(|fact| *fact);
        let text = match said.split_whitespace().next() {
            _ if over => "done".to_owned(),
            Some("go") => self.room(cells, usize::from(cells[0])),
            _ => "ok".to_owned(),
        };
        Reply { text, over }
    }

    fn prompt(&self, cells: &[u8]) -> String {
        let rooms = self.room_names().map_or(String::new(), |names| format!("rooms {names}. "));
        format!("{rooms}{}. {}", self.wanted(), self.room(cells, usize::from(cells[0])))
    }

    fn roads(&self) -> Vec<Vec<usize>> {
        let rooms = self.rooms.len();
        (0..rooms).map(|from| (0..rooms).filter(|to| self.linked(from, *to)).collect()).collect()
    }

    fn road(&self, _: usize, to: usize) -> String {
        format!("go {}", self.room_name(to))
    }

    fn node(&self, cells: &[u8]) -> usize {
        usize::from(cells[0])
    }

    fn errands(&self, cells: &[u8]) -> Errands {
        let opened = |one: usize, act: String| match cells[self.open_cell(one)] {
            0 => vec![format!("open {}", self.box_name(one)), act],
            _ => vec![act],
        };
        let chain = |goal: &Goal| {
            let (there, treated) = self.held(goal, cells);
            let (thing, to) = (usize::from(goal.thing), usize::from(goal.to));
            let name = self.thing_name(thing);
            let mut stops = Vec::new();
            if there && treated {
                return stops;
            }
            if let (Some(node), inside) = self.place(cells[self.place_cell(thing)]) {
                let take = format!("take {name}");
                let acts = inside.map_or_else(|| vec![take.clone()], |one| opened(one, take.clone()));
                stops.push(Stop { node, acts });
            }
            if let Some(node) = self.fixture(goal.treatment).filter(|_| !treated) {
                let verb = TREATMENTS[usize::from(goal.treatment)].0;
                stops.push(Stop { node, acts: vec![format!("{verb} {name}")] });
            }
            let put = format!("put {name} {}", self.box_name(to));
            stops.push(Stop { node: usize::from(self.boxes[to].room), acts: opened(to, put) });
            stops
        };
        Errands { chains: self.goals.iter().map(chain).collect(), last: None }
    }

    fn facts(&self, cells: &[u8]) -> Vec<bool> {
        let facts = |goal: &Goal| {
            let (there, treated) = self.held(goal, cells);
            // A goal without a treatment is one fact.
            if goal.treatment == AS_IT_IS { vec![there] } else { vec![there, treated] }
        };
        self.goals.iter().flat_map(facts).collect()
    }

    fn knows(&self, visited: &[bool], node: usize) -> bool {
        visited.get(node).copied().unwrap_or_default()
    }

    fn acts(&self, cells: &[u8]) -> Vec<String> {
        let (rooms, boxes, things) = (0..self.rooms.len(), 0..self.boxes.len(), 0..self.things.len());
        let mut acts: Vec<String> = rooms.map(|room| format!("go {}", self.room_name(room))).collect();
        for one in boxes.clone() {
            acts.extend(["open", "shut"].map(|verb| format!("{verb} {}", self.box_name(one))));
        }
        for one in things {
            let name = self.thing_name(one);
            let verbs = ["take", "drop"].into_iter().chain(TREATMENTS.map(|(verb, _)| verb));
            acts.extend(verbs.map(|verb| format!("{verb} {name}")));
            acts.extend(boxes.clone().map(|to| format!("put {name} {}", self.box_name(to))));
        }
        acts.retain(|act| self.act(&mut cells.to_vec(), act) == Heard::Done);
        acts
    }
}
