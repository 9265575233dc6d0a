//! Two small worlds in sentences: blocks that are stacked, and a house that is tidied. Every state is known, and so is its
//! distance to any goal.

use crate::state_goal::{Fact, Thing};
use crate::tabular::argmax;
use merit_core::{Seed, Stream};
use std::collections::{BTreeMap, VecDeque};

/// All states of a world, each as objects with facts, and the states that one move leads to.
#[derive(Debug, Clone)]
pub struct Facts {
    pub states: Vec<Vec<Thing>>,
    pub moves: Vec<Vec<usize>>,
    /// How many objects a goal is about, of the first so many.
    goal: (usize, usize),
    /// States that a goal may be read from.
    targets: Vec<usize>,
}

const COLOURS: [&str; 5] = ["red", "blue", "green", "yellow", "white"];
const ITEMS: [&str; 3] = ["mug", "plate", "bottle"];
const PLACES: [&str; 5] = ["sink", "table", "shelf", "fridge", "stove"];
const SINK: u8 = 0;
/// The place of an item that is carried, and the ground of a block that stands on the table.
const HAND: u8 = PLACES.len() as u8;
const TABLE: u8 = COLOURS.len() as u8;

impl Facts {
    /// Five blocks; a goal says where three of them stand. A move takes a free block to the table or onto a free one.
    pub fn blocks() -> Self {
        let (codes, moves) = explore(vec![TABLE; COLOURS.len()], |state| {
            let free: Vec<u8> = (0..TABLE).filter(|block| !state.contains(block)).collect();
            let to = |block: u8| free.iter().copied().chain([TABLE]).filter(move |to| *to != block);
            let moved = |block: u8, to: u8| {
                let mut next = state.to_vec();
                next[usize::from(block)] = to;
                next
            };
            let all = free.iter().flat_map(|block| to(*block).map(|to| moved(*block, to)));
            all.filter(|next| next != state).collect()
        });
        let thing = |state: &[u8], block: usize| {
            let name = format!("{} block", COLOURS[block]);
            let under =
                COLOURS.get(usize::from(state[block])).map_or("table".into(), |c| format!("{c} block"));
            let top = if state.contains(&(block as u8)) { "covered" } else { "free" };
            let facts = vec![
                fact("position", format!("the {name} is on the {under}")),
                fact("top", format!("the {name} is {top}")),
            ];
            Thing { name, facts }
        };
        let states: Vec<Vec<Thing>> =
            codes.iter().map(|state| (0..COLOURS.len()).map(|block| thing(state, block)).collect()).collect();
        let targets = (0..states.len()).collect();
        Self { states, moves, goal: (3, COLOURS.len()), targets }
    }

    /// Three items in five places; a goal says where two of them are, and that they are clean. A move goes to a place, takes,
    /// puts down, or washes what is carried to the sink.
    pub fn house() -> Self {
        let start = [vec![0], [1, 0].repeat(ITEMS.len())].concat();
        let (codes, moves) = explore(start, |state| {
            let here = state[0];
            let set = |at: usize, to: u8| {
                let mut next = state.to_vec();
                next[at] = to;
                next
            };
            let mut next: Vec<Vec<u8>> = (0..HAND).filter(|to| *to != here).map(|to| set(0, to)).collect();
            let places = || (1..state.len()).step_by(2);
            match places().find(|at| state[*at] == HAND) {
                Some(held) => {
                    next.push(set(held, here));
                    if here == SINK && state[held + 1] == 0 {
                        next.push(set(held + 1, 1));
                    }
                }
                None => next.extend(places().filter(|at| state[*at] == here).map(|at| set(at, HAND))),
            }
            next
        });
        let things = |state: &[u8]| {
            let item = |(name, at): (&&str, &[u8])| {
                let place =
                    PLACES.get(usize::from(at[0])).map_or("in the hand".into(), |p| format!("at the {p}"));
                let condition = if at[1] == 1 { "clean" } else { "dirty" };
                let facts = vec![
                    fact("place", format!("the {name} is {place}")),
                    fact("condition", format!("the {name} is {condition}")),
                ];
                Thing { name: (*name).to_owned(), facts }
            };
            let held = ITEMS.iter().zip(state[1..].chunks(2)).find(|(_, at)| at[0] == HAND);
            let held = held.map_or("nothing".into(), |(name, _)| format!("the {name}"));
            let robot = Thing {
                name: "robot".into(),
                facts: vec![
                    fact("place", format!("the robot is at the {}", PLACES[usize::from(state[0])])),
                    fact("load", format!("the robot carries {held}")),
                ],
            };
            ITEMS.iter().zip(state[1..].chunks(2)).map(item).chain([robot]).collect()
        };
        let tidy = |state: &Vec<u8>| state[1..].chunks(2).all(|item| item[0] != HAND && item[1] == 1);
        let targets = (0..codes.len()).filter(|at| tidy(&codes[*at])).collect();
        Self {
            states: codes.iter().map(|state| things(state)).collect(),
            moves,
            goal: (2, ITEMS.len()),
            targets,
        }
    }

    /// Some facts of a random state: where some blocks stand, or where some items are and that they are clean.
    pub fn goal(&self, stream: &mut Stream) -> Vec<Thing> {
        let target = stream.pick(&self.targets).copied().unwrap_or(0);
        let mut objects: Vec<usize> = (0..self.goal.1).collect();
        stream.shuffle(&mut objects);
        let wanted = |object: &usize| {
            let mut thing = self.states[target][*object].clone();
            thing.facts.retain(|fact| fact.attribute != "top");
            thing
        };
        objects[..self.goal.0].iter().map(wanted).collect()
    }

    /// The moves from every state to the nearest one in which all of the goal is true; `None` where there is no way.
    pub fn distances(&self, goal: &[Thing]) -> Vec<Option<u32>> {
        let holds = |state: &[Thing], wanted: &Thing| {
            let thing = state.iter().find(|thing| thing.name == wanted.name);
            thing.is_some_and(|thing| wanted.facts.iter().all(|fact| thing.facts.contains(fact)))
        };
        let mut before = vec![Vec::new(); self.states.len()];
        for (from, to) in self.moves.iter().enumerate() {
            to.iter().for_each(|to| before[*to].push(from));
        }
        let mut found = vec![None; self.states.len()];
        let met = |at: &usize| goal.iter().all(|wanted| holds(&self.states[*at], wanted));
        let mut queue: VecDeque<(usize, u32)> =
            (0..self.states.len()).filter(met).map(|at| (at, 0)).collect();
        while let Some((at, distance)) = queue.pop_front() {
            if found[at].is_none() {
                found[at] = Some(distance);
                queue.extend(before[at].iter().map(|from| (*from, distance + 1)));
            }
        }
        found
    }

    /// Tasks of at least three moves. A walk that fails by chance only is drawn again, and so is a task all of whose walks succeed.
    pub fn tasks(&self, count: u64, seed: &Seed) -> Vec<Task> {
        let mut stream = seed.stream();
        let mut found = Vec::new();
        while found.len() < count as usize {
            let goal = self.goal(&mut stream);
            let distances = self.distances(&goal);
            let start = stream.below(self.states.len() as u64) as usize;
            if distances[start].is_none_or(|away| away < 3) {
                continue;
            }
            let mut positive = vec![start];
            self.wander(&mut positive, stream.below(3), &mut stream);
            while let Some(&state) = positive.last().filter(|state| distances[**state] != Some(0)) {
                let near: Vec<f64> = self.moves[state]
                    .iter()
                    .map(|to| -distances[*to].map_or(f64::INFINITY, f64::from))
                    .collect();
                positive.push(self.moves[state][argmax(&near, 0.0, &mut stream)]);
            }
            self.wander(&mut positive, stream.below(3), &mut stream);
            let negative = (0..50).find_map(|_| {
                let mut walk = vec![start];
                self.wander(&mut walk, positive.len() as u64 - 1, &mut stream);
                walk.iter().all(|state| distances[*state] != Some(0)).then_some(walk)
            });
            if let Some(negative) = negative {
                found.push(Task { goal, distances, start, positive, negative });
            }
        }
        found
    }

    fn wander(&self, walk: &mut Vec<usize>, steps: u64, stream: &mut Stream) {
        for _ in 0..steps {
            if let Some(to) = walk.last().and_then(|state| stream.pick(&self.moves[*state])) {
                walk.push(*to);
            }
        }
    }
}

/// A goal, the moves that every state is away from it, and the two walks.
#[derive(Debug, Clone)]
pub struct Task {
    pub goal: Vec<Thing>,
    pub distances: Vec<Option<u32>>,
    pub start: usize,
    pub positive: Vec<usize>,
    pub negative: Vec<usize>,
}

impl Task {
    /// 1 at the goal, 0 at the start; below 0 further away.
    pub fn progress(&self, state: usize) -> f64 {
        let away = |state: usize| self.distances[state].map_or(0.0, f64::from);
        1.0 - away(state) / away(self.start).max(1.0)
    }
}

fn fact(attribute: &str, says: String) -> Fact {
    Fact { attribute: attribute.to_owned(), says }
}

/// Every state that can be reached, and where its moves lead.
fn explore(start: Vec<u8>, next: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> (Vec<Vec<u8>>, Vec<Vec<usize>>) {
    let mut places = BTreeMap::from([(start.clone(), 0)]);
    let (mut states, mut moves) = (vec![start], Vec::new());
    while let Some(state) = states.get(moves.len()) {
        let mut to = Vec::new();
        for next in next(state) {
            let fresh = states.len();
            let place = *places.entry(next.clone()).or_insert(fresh);
            if place == fresh {
                states.push(next);
            }
            to.push(place);
        }
        moves.push(to);
    }
    (states, moves)
}
