//! The oracle: how many acts are left, and which comes first.
//!
//! What is left to do is a set of errands, each a chain of stops that must be made in order at their nodes. Nothing that is carried
//! ever hinders, so it is never wrong to make a stop as soon as its node is passed. What remains is the shortest walk: a
//! breadth-first search over the node and how far each chain has come.

use std::collections::VecDeque;

/// Something to do at a node, in one or more acts. Acts that two stops have in common are needed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub node: usize,
    pub acts: Vec<String>,
}

/// What is left to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Errands {
    /// Chains of stops; chains may be run in any order and interleaved.
    pub chains: Vec<Vec<Stop>>,
    /// What comes after all of them.
    pub last: Option<Stop>,
}

impl Errands {
    /// Stops that are left.
    pub fn stops(&self) -> usize {
        self.chains.iter().map(Vec::len).sum::<usize>() + usize::from(self.last.is_some())
    }

    fn acts(&self) -> usize {
        let acts = || self.chains.iter().flatten().chain(&self.last).flat_map(|stop| &stop.acts);
        acts().enumerate().filter(|(at, act)| !acts().take(*at).any(|before| before == *act)).count()
    }

    /// The act that is due at this node.
    fn due(&self, at: usize) -> Option<&String> {
        let mut firsts = self.chains.iter().filter_map(|chain| chain.first());
        let here = firsts.find(|stop| stop.node == at);
        let over =
            || self.last.as_ref().filter(|stop| stop.node == at && self.chains.iter().all(Vec::is_empty));
        here.or_else(over).and_then(|stop| stop.acts.first())
    }
}

/// What a shortest play does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Act(String),
    Go(usize),
    /// Nothing is left.
    Rest,
}

/// A shortest play from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Acts that are left, walking included.
    pub left: usize,
    pub next: Next,
}

/// A shortest play from `at` by these roads. Absent: what is left cannot be reached.
pub fn route(roads: &[Vec<usize>], at: usize, errands: &Errands) -> Option<Route> {
    let ways: usize = errands.chains.iter().map(|chain| chain.len() + 1).product();
    // How far every chain is after passing a node, in one number.
    let passed = |node: usize, mut code: usize| {
        let (mut weight, mut after) = (1, 0);
        for chain in &errands.chains {
            let mut made = code % (chain.len() + 1);
            code /= chain.len() + 1;
            while chain.get(made).is_some_and(|stop| stop.node == node) {
                made += 1;
            }
            after += weight * made;
            weight *= chain.len() + 1;
        }
        after
    };
    let over = |node: usize, code: usize| {
        code + 1 == ways && errands.last.as_ref().is_none_or(|stop| stop.node == node)
    };
    let first = at * ways + passed(at, 0);
    // For each state how far it is, and the node that was gone to first; a distance of 0 is only the first state's.
    let mut found: Vec<Option<(u32, u32)>> = vec![None; roads.len() * ways];
    *found.get_mut(first)? = Some((0, at as u32));
    let mut queue = VecDeque::from([first]);
    while let Some(state) = queue.pop_front() {
        let (node, code) = (state / ways, state % ways);
        let (walked, by) = found[state]?;
        if over(node, code) {
            let next = match errands.due(at) {
                Some(act) => Next::Act(act.clone()),
                None if walked > 0 => Next::Go(by as usize),
                None => Next::Rest,
            };
            return Some(Route { left: walked as usize + errands.acts(), next });
        }
        for &to in roads.get(node)? {
            let reached = to * ways + passed(to, code);
            if found.get(reached)?.is_none() {
                found[reached] = Some((walked + 1, if walked == 0 { to as u32 } else { by }));
                queue.push_back(reached);
            }
        }
    }
    None
}
