//! What is near this, along the edges? A weighted graph, personalised PageRank over it, and what of it fits a budget.
//!
//! In: nodes by number and undirected edges with weights; seeds. Out: how much of a random walk from the seeds is at every node.
//! What nodes and edges stand for is the caller's: chunks and triplets of a question, or the items of a memory. Pure.

mod beam;
mod communities;

pub use beam::{Found, Tree, beam};
pub use communities::{hierarchy, louvain};

/// An undirected graph with weights; nodes are numbers from 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    edges: Vec<Vec<(usize, f64)>>,
}

/// The random walk follows an edge so often, and goes back to the seeds otherwise.
pub const DAMPING: f64 = 0.85;

/// A walk is computed until it moves less than this, at most [`MOST_ROUNDS`] times.
const SETTLED: f64 = 1e-9;
const MOST_ROUNDS: usize = 100;

impl Graph {
    pub fn new(nodes: usize) -> Self {
        Self { edges: vec![Vec::new(); nodes] }
    }

    pub fn len(&self) -> usize {
        self.edges.len()
    }

    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Adds a node without edges and returns its number.
    pub fn add(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// Joins two nodes both ways. Edges without weight, loops and nodes that are not there join nothing.
    pub fn join(&mut self, a: usize, b: usize, weight: f64) {
        if a == b || a.max(b) >= self.edges.len() || !(weight.is_finite() && weight > 0.0) {
            return;
        }
        for (from, to) in [(a, b), (b, a)] {
            if let Some(edges) = self.edges.get_mut(from) {
                edges.push((to, weight));
            }
        }
    }

    /// The neighbours of a node with the weights of their edges.
    pub fn near(&self, node: usize) -> &[(usize, f64)] {
        self.edges.get(node).map_or(&[], Vec::as_slice)
    }

    /// Personalised PageRank: p = (1 − d) s + d Wᵀ p, where the rows of W sum to 1 and s is `seeds` at sum 1. What reaches a
    /// node without edges goes back to the seeds, so that p sums to 1. Without seeds everything is 0.
    pub fn pagerank(&self, seeds: &[(usize, f64)], damping: f64) -> Vec<f64> {
        let mut start = vec![0.0; self.len()];
        for (node, mass) in seeds {
            if let Some(at) = start.get_mut(*node) {
                *at += mass.max(0.0);
            }
        }
        let total: f64 = start.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return vec![0.0; self.len()];
        }
        start.iter_mut().for_each(|mass| *mass /= total);
        let out: Vec<f64> = self.edges.iter().map(|edges| edges.iter().map(|(_, w)| w).sum()).collect();
        let mut now = start.clone();
        for _ in 0..MOST_ROUNDS {
            let next = self.walk(&now, &start, &out, damping);
            let moved: f64 = next.iter().zip(&now).map(|(a, b)| (a - b).abs()).sum();
            now = next;
            if moved < SETTLED {
                break;
            }
        }
        now
    }

    fn walk(&self, now: &[f64], start: &[f64], out: &[f64], damping: f64) -> Vec<f64> {
        let stuck: f64 = now.iter().zip(out).filter(|(_, out)| **out == 0.0).map(|(mass, _)| mass).sum();
        let back = 1.0 - damping + damping * stuck;
        let mut next: Vec<f64> = start.iter().map(|mass| back * mass).collect();
        for ((edges, mass), out) in self.edges.iter().zip(now).zip(out) {
            for (to, weight) in edges {
                if let Some(at) = next.get_mut(*to) {
                    *at += damping * mass * weight / out;
                }
            }
        }
        next
    }
}

/// What is taken of a list, best first: at most `most`, together no more than `budget` by `cost`. What does not fit is passed over.
pub fn pack<T: Copy>(
    best_first: impl IntoIterator<Item = T>,
    most: usize,
    budget: usize,
    cost: impl Fn(T) -> usize,
) -> Vec<T> {
    let (mut taken, mut spent) = (Vec::new(), 0_usize);
    for one in best_first {
        let with = spent.saturating_add(cost(one));
        if taken.len() < most && with <= budget {
            taken.push(one);
            spent = with;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_over_three_nodes_in_a_row_is_as_worked_out_by_hand() {
        // a – b – c, seeds at a, d = 1/2: a = 1/2 + b/4, b = (a + c)/2, c = b/4; so b = 1/3, a = 7/12, c = 1/12.
        let mut row = Graph::new(3);
        row.join(0, 1, 1.0);
        row.join(1, 2, 1.0);
        let found = row.pagerank(&[(0, 3.0)], 0.5);
        for (found, want) in found.iter().zip([7.0 / 12.0, 1.0 / 3.0, 1.0 / 12.0]) {
            assert!((found - want).abs() < 1e-8, "{found} {want}");
        }
    }

    #[test]
    fn weights_divide_what_leaves_a_node_and_nothing_is_lost() {
        // One step from the middle: 3/4 to the heavy side. d = 0.8 with ends that lead back only.
        let mut fork = Graph::new(4);
        fork.join(0, 1, 3.0);
        fork.join(0, 2, 1.0);
        let found = fork.pagerank(&[(0, 1.0)], 0.8);
        assert!((found[1] / found[2] - 3.0).abs() < 1e-6);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found[3] == 0.0);
        // A seed without edges keeps everything; no seed, nothing.
        assert_eq!(fork.pagerank(&[(3, 1.0)], 0.8)[3], 1.0);
        assert_eq!(fork.pagerank(&[], 0.8), [0.0; 4]);
        assert_eq!(fork.pagerank(&[(9, 1.0)], 0.8), [0.0; 4]);
    }

    #[test]
    fn what_does_not_fit_is_passed_over() {
        assert_eq!(pack([5_usize, 9, 3, 1], 3, 9, |cost| cost), [5, 3, 1]);
        assert_eq!(pack([5_usize, 9, 3, 1], 1, 9, |cost| cost), [5]);
    }
}
