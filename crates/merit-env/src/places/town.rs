//! A town with errands to be run in order: the ground of `errands`.
//!
//! An errand is one line, said where its thing is and when it is due; one that is not due is refused. Places are seen one at a time. A
//! lever, where there is one, undoes every errand: an agent that is paid for each errand whenever it is run can be paid forever.

use super::ground::{AtFirst, Ground, Heard, Reply};
use super::home::{ROOMS, some};
use super::tour::{Errands, Stop};
use merit_api::Derived;
use merit_core::Stream;
use serde::{Deserialize, Serialize};

/// Places beside the rooms of a home.
const STREETS: [&str; 12] =
    ["bank", "mill", "inn", "park", "shop", "dock", "farm", "church", "court", "gate", "pool", "club"];
pub const ERRANDS: [&str; 16] = [
    "take key",
    "open safe",
    "sign form",
    "mail note",
    "pay bill",
    "feed cat",
    "ring bell",
    "buy bread",
    "cash coin",
    "fix clock",
    "light fire",
    "milk goat",
    "shoe horse",
    "grind knife",
    "tune harp",
    "load cart",
];
pub const MAX_ROOMS: usize = ROOMS.len() + STREETS.len();
pub const MAX_ERRANDS: usize = 8;
pub(super) const PULL: &str = "pull lever";

/// The names of all places that there can be.
pub(super) fn places() -> impl Iterator<Item = &'static str> {
    ROOMS.into_iter().chain(STREETS)
}

/// What is to be done, by its place in `ERRANDS`, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errand {
    pub what: u8,
    pub room: u8,
}

/// A town, and the errands in their order. Rooms are called by their place in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Town {
    /// The names of the rooms.
    pub rooms: Vec<u8>,
    /// Rooms with a door between them; empty: every room has a door to every other.
    pub doors: Vec<(u8, u8)>,
    pub errands: Vec<Errand>,
    /// The room of the lever. Absent: there is none.
    pub lever: Option<u8>,
    pub start: u8,
    #[serde(skip)]
    pub at_first: Derived<AtFirst>,
}

fn thing(what: u8) -> &'static str {
    let line = ERRANDS.get(usize::from(what)).copied().unwrap_or_default();
    line.rsplit(' ').next().unwrap_or_default()
}

impl Town {
    /// A town with so many rooms and errands. Some are bushy and some are long, so that short and long plays are about as frequent.
    pub fn draw(rooms: usize, tree: bool, errands: usize, rng: &mut Stream) -> Self {
        let below = |rng: &mut Stream, bound: usize| rng.below(bound as u64) as u8;
        let names = some(MAX_ROOMS, rooms, rng);
        let long = rng.below(100) as f64 / 100.0;
        let door = |rng: &mut Stream, room: usize| match rng.chance(long) {
            true => (room as u8 - 1, room as u8),
            false => (below(rng, room), room as u8),
        };
        let doors = if tree { (1..rooms).map(|room| door(rng, room)).collect() } else { Vec::new() };
        let whats = some(ERRANDS.len(), errands, rng);
        let errands = whats.into_iter().map(|what| Errand { what, room: below(rng, rooms) }).collect();
        Self {
            rooms: names,
            doors,
            errands,
            lever: None,
            start: below(rng, rooms),
            at_first: Derived::default(),
        }
    }

    /// What is wrong with it; every number that is used as a place is checked here.
    pub fn check(&self) -> Result<(), String> {
        let distinct = |names: Vec<u8>, known: usize| {
            let different: std::collections::BTreeSet<u8> = names.iter().copied().collect();
            different.len() == names.len() && names.iter().all(|name| usize::from(*name) < known)
        };
        let is = |at: u8| usize::from(at) < self.rooms.len();
        let sound = [
            ("rooms", distinct(self.rooms.clone(), MAX_ROOMS)),
            ("doors", self.doors.iter().all(|door| is(door.0) && is(door.1) && door.0 != door.1)),
            ("errands", (1..=MAX_ERRANDS).contains(&self.errands.len())),
            ("errands", distinct(self.errands.iter().map(|one| one.what).collect(), ERRANDS.len())),
            ("errands", self.errands.iter().all(|one| is(one.room))),
            ("lever", self.lever.is_none_or(is)),
            ("start", is(self.start)),
        ];
        match sound.iter().find(|(_, sound)| !sound) {
            Some((what, _)) => Err(format!("its {what} do not fit together")),
            None => Ok(()),
        }
    }

    fn room_name(&self, room: usize) -> &'static str {
        let name = self.rooms.get(room).copied().map(usize::from);
        name.and_then(|name| ROOMS.iter().chain(&STREETS).nth(name)).copied().unwrap_or_default()
    }

    fn linked(&self, from: usize, to: usize) -> bool {
        let pair = |door: &(u8, u8)| (usize::from(door.0), usize::from(door.1));
        from != to
            && (self.doors.is_empty()
                || self.doors.iter().map(pair).any(|door| door == (from, to) || door == (to, from)))
    }

    fn line(&self, errand: usize) -> Option<&'static str> {
        self.errands.get(errand).and_then(|one| ERRANDS.get(usize::from(one.what))).copied()
    }

    /// The errand that is due.
    pub fn due(&self, cells: &[u8]) -> Option<&'static str> {
        self.line(usize::from(cells[1]))
    }

    /// What is seen of a room: `bank to mill inn: bill, lever`.
    fn view(&self, room: usize) -> String {
        let here = self.errands.iter().filter(|one| usize::from(one.room) == room);
        let lever = self.lever.filter(|at| usize::from(*at) == room).map(|_| "lever");
        let seen: Vec<&str> = here.map(|one| thing(one.what)).chain(lever).collect();
        let seen = if seen.is_empty() { "bare".to_owned() } else { seen.join(", ") };
        let doors = match self.doors.is_empty() {
            true => String::new(),
            false => format!(" to {}", self.names((0..self.rooms.len()).filter(|to| self.linked(room, *to)))),
        };
        format!("{}{doors}: {seen}", self.room_name(room))
    }

    fn names(&self, rooms: impl Iterator<Item = usize>) -> String {
        rooms.map(|room| self.room_name(room)).collect::<Vec<_>>().join(" ")
    }
}

impl Ground for Town {
    /// The room, and the errands that are done.
    fn start(&self) -> Vec<u8> {
        vec![self.start, 0]
    }

    fn fits(&self, cells: &[u8]) -> bool {
        matches!(cells, [room, done] if usize::from(*room) < self.rooms.len() && usize::from(*done) <= self.errands.len())
    }

    fn act(&self, cells: &mut Vec<u8>, said: &str) -> Heard {
        let words: Vec<&str> = said.split_whitespace().collect();
        let at = self.node(cells);
        match words[..] {
            ["go", name] if ROOMS.iter().chain(&STREETS).any(|known| *known == name) => {
                let to = (0..self.rooms.len()).find(|room| self.room_name(*room) == name);
                let Some(to) = to.filter(|to| self.linked(at, *to)) else { return Heard::Refused };
                cells[0] = to as u8;
            }
            _ if words.join(" ") == PULL => {
                if self.lever.map(usize::from) != Some(at) || cells[1] == 0 {
                    return Heard::Refused;
                }
                cells[1] = 0;
            }
            _ if ERRANDS.contains(&words.join(" ").as_str()) => {
                let here =
                    self.errands.get(usize::from(cells[1])).is_some_and(|one| usize::from(one.room) == at);
                if !here || self.due(cells) != Some(words.join(" ").as_str()) {
                    return Heard::Refused;
                }
                cells[1] += 1;
            }
            _ => return Heard::Unread,
        }
        Heard::Done
    }

    fn reply(&self, cells: &[u8], said: &str) -> Reply {
        let over = self.due(cells).is_none();
        let text = match said.split_whitespace().next() {
            _ if over => "done".to_owned(),
            Some("go") => self.view(self.node(cells)),
            _ => "ok".to_owned(),
        };
        Reply { text, over }
    }

    fn prompt(&self, cells: &[u8]) -> String {
        let rooms = match self.doors.is_empty() {
            true => format!("rooms {}. ", self.names(0..self.rooms.len())),
            false => String::new(),
        };
        let wanted: Vec<&str> = (0..self.errands.len()).filter_map(|one| self.line(one)).collect();
        format!("{rooms}want {}. {}", wanted.join(", "), self.view(self.node(cells)))
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

    /// One chain: every errand waits for the one before.
    fn errands(&self, cells: &[u8]) -> Errands {
        let left = self.errands.iter().enumerate().skip(usize::from(cells[1]));
        let stop = |(at, one): (usize, &Errand)| {
            let acts = self.line(at).map(str::to_owned).into_iter().collect();
            Stop { node: usize::from(one.room), acts }
        };
        Errands { chains: vec![left.map(stop).collect()], last: None }
    }

    fn facts(&self, cells: &[u8]) -> Vec<bool> {
        (0..self.errands.len()).map(|one| one < usize::from(cells[1])).collect()
    }

    fn knows(&self, visited: &[bool], node: usize) -> bool {
        visited.get(node).copied().unwrap_or_default()
    }

    fn acts(&self, cells: &[u8]) -> Vec<String> {
        let roads = (0..self.rooms.len()).map(|to| self.road(0, to));
        let errands = self.due(cells).into_iter().chain([PULL]).map(str::to_owned);
        let mut acts: Vec<String> = roads.chain(errands).collect();
        acts.retain(|act| self.act(&mut cells.to_vec(), act) == Heard::Done);
        acts
    }
}
