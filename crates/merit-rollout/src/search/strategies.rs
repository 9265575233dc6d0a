//! What is tried next: best-of-n, beam, best-first and Monte Carlo tree search. Pure decisions over a tree; no randomness of their own.

use super::tree::{NodeId, ROOT, Tree, Try};
use super::{Beam, BestFirst, BestOf, Leaf, Mcts};
use std::cmp::Ordering;

/// Decides what is tried next for one task.
pub(super) trait Strategy {
    /// The next tries, which are played together. None: the search is over.
    fn next(&mut self, tree: &Tree) -> Vec<Try>;
}

impl Strategy for BestOf {
    fn next(&mut self, tree: &Tree) -> Vec<Try> {
        let missing = self.samples.saturating_sub(tree.nodes[ROOT].tries);
        vec![Try { from: ROOT, to_end: true }; missing as usize]
    }
}

/// The nodes that a beam goes on with.
pub(super) struct Kept {
    how: Beam,
    nodes: Vec<NodeId>,
}

impl Kept {
    pub(super) fn new(how: Beam) -> Self {
        Self { how, nodes: vec![ROOT] }
    }
}

impl Strategy for Kept {
    /// The best of what came of the last tries and of what is finished; finished episodes hold their place until something is better.
    fn next(&mut self, tree: &Tree) -> Vec<Try> {
        if tree.nodes[ROOT].tries > 0 {
            let nodes = std::mem::take(&mut self.nodes).into_iter();
            let mut found: Vec<NodeId> = nodes
                .flat_map(|at| match tree.nodes[at].finished {
                    true => vec![at],
                    false => tree.nodes[at].children.clone(),
                })
                .collect();
            let worth = |at: &NodeId| tree.nodes[*at].value.unwrap_or(f64::NEG_INFINITY);
            found.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
            found.truncate(self.how.keep as usize);
            self.nodes = found;
        }
        let open = self.nodes.iter().filter(|at| !tree.nodes[**at].finished);
        let tries = |from: &NodeId| vec![Try { from: *from, to_end: false }; self.how.tries as usize];
        open.flat_map(tries).collect()
    }
}

impl Strategy for BestFirst {
    /// Goes on from the best node that was not continued yet, until nothing open is better than what is finished.
    fn next(&mut self, tree: &Tree) -> Vec<Try> {
        let waiting = tree.best(tree.all(|node| node.finished || node.tries == 0));
        match waiting.filter(|at| !tree.nodes[*at].finished && tree.cost.env_steps < u64::from(self.steps)) {
            Some(from) => vec![Try { from, to_end: false }; self.tries as usize],
            None => Vec::new(),
        }
    }
}

impl Strategy for Mcts {
    fn next(&mut self, tree: &Tree) -> Vec<Try> {
        if tree.cost.env_steps >= u64::from(self.steps) {
            return Vec::new();
        }
        let from = self.select(tree).into_iter();
        from.map(|from| Try { from, to_end: self.leaf == Leaf::Playout }).collect()
    }
}

impl Mcts {
    /// Goes down by the upper bound of each child, to the first node that may be gone on from again. Absent: everything was tried.
    fn select(&self, tree: &Tree) -> Option<NodeId> {
        let mut at = ROOT;
        if self.closed(tree, at) {
            return None;
        }
        let range = range(tree);
        while tree.nodes[at].tries >= self.tries {
            let open = tree.nodes[at].children.iter().copied().filter(|child| !self.closed(tree, *child));
            let scored = open.map(|child| (child, self.upper_bound(tree, at, child, range)));
            at = scored.reduce(|best, next| if next.1 > best.1 { next } else { best })?.0;
        }
        Some(at)
    }

    /// Whether nothing new can come from a node.
    fn closed(&self, tree: &Tree, at: NodeId) -> bool {
        let node = &tree.nodes[at];
        let full = || node.tries >= self.tries && node.children.iter().all(|child| self.closed(tree, *child));
        node.finished || full()
    }

    /// UCT (Kocsis and Szepesvári, 2006): Q + c sqrt(ln N_parent / N), with Q in the range of the values that the tree has seen.
    fn upper_bound(&self, tree: &Tree, parent: NodeId, child: NodeId, (low, high): (f64, f64)) -> f64 {
        let (above, node) = (f64::from(tree.nodes[parent].visits), &tree.nodes[child]);
        let scaled = |mean: f64| if high > low { (mean - low) / (high - low) } else { 0.5 };
        let seldom = (above.max(1.0).ln() / f64::from(node.visits.max(1))).sqrt();
        node.mean().map_or(0.0, scaled) + self.explore * seldom
    }
}

/// The lowest and the highest value in the tree.
fn range(tree: &Tree) -> (f64, f64) {
    let values = || tree.nodes.iter().filter_map(|node| node.value);
    let end = |keep: Ordering| values().reduce(|a, b| if b.total_cmp(&a) == keep { b } else { a });
    (end(Ordering::Less).unwrap_or(0.0), end(Ordering::Greater).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Node;
    use super::*;
    use crate::plan::EpisodePlan;
    use merit_core::{EpisodeId, Seed, Task};

    fn tree(nodes: Vec<Node>) -> Tree {
        let id = EpisodeId { phase: "test".into(), step: 0, group: 0, member: 0, branch: 0 };
        let mut tree = Tree::new(EpisodePlan::new(id, Task::new("none", "t"), Seed::root(1)), 9);
        tree.nodes = nodes;
        tree
    }

    fn node(visits: u32, total: f64, tries: u32, children: Vec<NodeId>) -> Node {
        Node { visits, valued: visits, total, tries, children, value: Some(total), ..Node::default() }
    }

    fn mcts(explore: f64) -> Mcts {
        Mcts { value: String::new(), tries: 2, steps: 100, explore, leaf: Leaf::Here }
    }

    #[test]
    fn the_upper_bound_is_the_mean_and_what_was_seldom_tried() {
        // Values lie between 1 and 4. The first child: 4 / 2 = 2, scaled to 1/3; ln 3 / 2 under the root. The second: 1, scaled to 0; ln 3 / 1.
        let nodes = || vec![node(3, 4.0, 2, vec![1, 2]), node(2, 4.0, 0, vec![]), node(1, 1.0, 0, vec![])];
        let tree = tree(nodes());
        let ln3 = 3.0_f64.ln();
        let bound = |child| mcts(0.5).upper_bound(&tree, ROOT, child, range(&tree));
        assert!((bound(1) - (1.0 / 3.0 + 0.5 * (ln3 / 2.0).sqrt())).abs() < 1e-12);
        assert!((bound(2) - 0.5 * ln3.sqrt()).abs() < 1e-12);
        // 1/3 + 0.741 c against 1.048 c: what was seldom tried is preferred from c = 1.086 on.
        assert_eq!((mcts(1.0).select(&tree), mcts(1.2).select(&tree)), (Some(1), Some(2)));
    }

    #[test]
    fn what_is_finished_or_exhausted_is_not_gone_on_from() {
        let finished = Node { finished: true, ..node(1, 9.0, 0, vec![]) };
        let full = tree(vec![node(2, 10.0, 2, vec![1, 2]), finished, node(1, 1.0, 0, vec![])]);
        assert_eq!(mcts(0.0).select(&full), Some(2));
        let closed = tree(vec![node(2, 10.0, 2, vec![1]), Node { finished: true, ..Node::default() }]);
        assert_eq!(mcts(0.0).select(&closed), None);
    }
}
