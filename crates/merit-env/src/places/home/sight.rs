//! A home in words: names, rooms as they are seen, and what is wanted.

use super::{BOXES, Goal, Home, ROOMS, THINGS, TREATMENTS};

fn named(names: &[&'static str], at: u8) -> &'static str {
    names.get(usize::from(at)).copied().unwrap_or_default()
}

impl Home {
    pub(super) fn room_name(&self, room: usize) -> &'static str {
        self.rooms.get(room).map_or("", |name| named(&ROOMS, *name))
    }

    pub(super) fn box_name(&self, container: usize) -> &'static str {
        self.boxes.get(container).map_or("", |one| named(&BOXES, one.name))
    }

    pub(super) fn thing_name(&self, thing: usize) -> &'static str {
        self.things.get(thing).map_or("", |one| named(&THINGS, one.name))
    }

    /// What lies in a place, behind its name: ` cup pen`.
    fn lying(&self, cells: &[u8], place: u8) -> impl Iterator<Item = &'static str> {
        let here = move |thing: &usize| cells[self.place_cell(*thing)] == place;
        (0..self.things.len()).filter(here).map(|thing| self.thing_name(thing))
    }

    fn boxed(&self, cells: &[u8], container: usize) -> String {
        let shut = if cells[self.open_cell(container)] == 0 { " shut" } else { "" };
        let inside = self.lying(cells, self.inside(container)).flat_map(|name| [" ", name]);
        [self.box_name(container), shut].into_iter().chain(inside).collect()
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
    pub(super) fn room(&self, cells: &[u8], room: usize) -> String {
        let boxes = (0..self.boxes.len()).filter(|one| usize::from(self.boxes[*one].room) == room);
        let fixtures = self.fixtures.iter().filter(|one| usize::from(one.1) == room);
        let seen: Vec<String> = (self.lying(cells, 1 + room as u8).map(str::to_owned))
            .chain(boxes.map(|one| self.boxed(cells, one)))
            .chain(fixtures.map(|one| TREATMENTS[usize::from(one.0)].1.to_owned()))
            .collect();
        let doors: String = match self.doors.is_empty() {
            true => String::new(),
            false => (0..self.rooms.len())
                .filter(|to| self.linked(room, *to))
                .flat_map(|to| [" ", self.room_name(to)])
                .collect(),
        };
        let to = if doors.is_empty() { "" } else { " to" };
        let seen = if seen.is_empty() { "bare".to_owned() } else { seen.join(", ") };
        [self.room_name(room), to, &doors, ": ", &seen].concat()
    }

    /// What is wanted: `want cup wash bin, hat desk`.
    pub(super) fn wanted(&self) -> String {
        let words = |goal: &Goal| {
            let treatment = TREATMENTS
                .get(usize::from(goal.treatment))
                .map_or(String::new(), |one| format!(" {}", one.0));
            format!("{}{treatment} {}", self.thing_name(goal.thing.into()), self.box_name(goal.to.into()))
        };
        format!("want {}", self.goals.iter().map(words).collect::<Vec<_>>().join(", "))
    }

    /// The names of all rooms, where doors are everywhere and so are not told.
    pub(super) fn room_names(&self) -> Option<String> {
        let names: Vec<&str> = (0..self.rooms.len()).map(|room| self.room_name(room)).collect();
        self.doors.is_empty().then(|| names.join(" "))
    }
}
