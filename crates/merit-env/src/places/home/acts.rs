//! What acts do in a home: the home as a ground.

use super::{AS_IT_IS, BOXES, Goal, Home, ROOMS, THINGS, TREATMENTS};
use crate::places::ground::{Ground, Heard, Reply};
use crate::places::tour::{Errands, Stop};

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
        let known = |name: &&str| ROOMS.contains(name) || BOXES.contains(name) || THINGS.contains(name);
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
            0 => vec![["open ", self.box_name(one)].concat(), act],
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
                let take = ["take ", name].concat();
                let acts = match inside {
                    Some(one) => opened(one, take),
                    None => vec![take],
                };
                stops.push(Stop { node, acts });
            }
            if let Some(node) = self.fixture(goal.treatment).filter(|_| !treated) {
                let verb = TREATMENTS[usize::from(goal.treatment)].0;
                stops.push(Stop { node, acts: vec![[verb, " ", name].concat()] });
            }
            let put = ["put ", name, " ", self.box_name(to)].concat();
            stops.push(Stop { node: usize::from(self.boxes[to].room), acts: opened(to, put) });
            stops
        };
        Errands { chains: self.goals.iter().map(chain).collect(), last: None }
    }

    fn facts(&self, cells: &[u8]) -> Vec<bool> {
        let facts = |goal: &Goal| {
            let (there, treated) = self.held(goal, cells);
            // A goal without a treatment is one fact.
            [there].into_iter().chain((goal.treatment != AS_IT_IS).then_some(treated))
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
