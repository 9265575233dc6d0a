//! What a skin stands on: a state of a few numbers, acts that change it, what is wanted, and what is left to do.

use super::tour::{Errands, Next, Route, route};

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It is no act of this world.
    Unread,
    /// Its preconditions do not hold; nothing changed.
    Refused,
    Done,
}

/// What is said after an act that was done, and whether it was the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    pub over: bool,
}

/// The ground of a skin. The state is its `cells`, which [`Ground::fits`] has checked wherever they come from outside.
pub trait Ground {
    /// The cells at the beginning.
    fn start(&self) -> Vec<u8>;
    /// Whether these can be cells of this puzzle.
    fn fits(&self, cells: &[u8]) -> bool;
    /// Does what a line says.
    fn act(&self, cells: &mut Vec<u8>, said: &str) -> Heard;
    /// What is seen after a line that was done.
    fn reply(&self, cells: &[u8], said: &str) -> Reply;
    /// What the player is told first.
    fn prompt(&self, cells: &[u8]) -> String;
    /// Where a shortest play may walk from each node.
    fn roads(&self) -> Vec<Vec<usize>>;
    /// The line that walks a road.
    fn road(&self, from: usize, to: usize) -> String;
    /// The node of a state.
    fn node(&self, cells: &[u8]) -> usize;
    /// What is left to do.
    fn errands(&self, cells: &[u8]) -> Errands;
    /// What somebody does next who takes one wish after the other: the first that is left, alone.
    fn in_order(&self, cells: &[u8]) -> Option<Next> {
        let left = self.errands(cells);
        let first = left.chains.into_iter().find(|chain| !chain.is_empty());
        let last = if first.is_none() { left.last } else { None };
        let alone = Errands { chains: first.into_iter().collect(), last };
        route(&self.roads(), self.node(cells), &alone).map(|route| route.next)
    }
    /// What is wanted, fact by fact.
    fn facts(&self, cells: &[u8]) -> Vec<bool>;
    /// Whether somebody who was at these nodes knows what is at another.
    fn knows(&self, visited: &[bool], node: usize) -> bool;
    /// Every line that can be done now.
    fn acts(&self, cells: &[u8]) -> Vec<String>;
}

/// What is true of a ground before the first act, and of its roads at any time.
pub struct AtFirst {
    pub roads: Vec<Vec<usize>>,
    /// Acts of a shortest play. Absent: what is wanted is out of reach.
    pub optimal: Option<usize>,
    pub stops: usize,
}

impl AtFirst {
    pub fn of(ground: &dyn Ground) -> Self {
        let (cells, roads) = (ground.start(), ground.roads());
        let errands = ground.errands(&cells);
        let optimal = route(&roads, ground.node(&cells), &errands).map(|route| route.left);
        Self { roads, optimal, stops: errands.stops() }
    }
}

/// A shortest play from these cells. Absent: what is wanted is out of reach.
pub fn shortest(ground: &dyn Ground, cells: &[u8]) -> Option<Route> {
    route(&ground.roads(), ground.node(cells), &ground.errands(cells))
}

/// The line of the next step; absent where nothing is left.
pub fn spoken(ground: &dyn Ground, cells: &[u8], next: Next) -> Option<String> {
    match next {
        Next::Act(act) => Some(act),
        Next::Go(to) => Some(ground.road(ground.node(cells), to)),
        Next::Rest => None,
    }
}

/// The first lines of a shortest play, at most `most`; they are done in `cells`.
pub fn gold(ground: &dyn Ground, cells: &mut Vec<u8>, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    while lines.len() < most {
        let Some(line) = shortest(ground, cells).and_then(|route| spoken(ground, cells, route.next)) else {
            break;
        };
        ground.act(cells, &line);
        lines.push(line);
    }
    lines
}
