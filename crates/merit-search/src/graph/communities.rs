//! Which nodes belong together? Louvain's communities by modularity, and communities within communities.
//!
//! Blondel et al., arXiv:0803.0476: every node moves to the neighbouring community that gains most, until none gains; then
//! communities become nodes, and so on. Nodes move in order of their numbers and ties go to the lowest community, so that the
//! same graph gives the same communities.

use super::{Graph, Tree};
use std::collections::BTreeMap;

/// Passes over the nodes of one level; more than any graph here needs.
const MOST_PASSES: usize = 50;

/// The community of every node, numbered from 0 in order of first appearance.
pub fn louvain(graph: &Graph) -> Vec<usize> {
    let mut of: Vec<usize> = (0..graph.len()).collect();
    let mut folded = Folded::of(graph);
    loop {
        let moved = folded.local_moves();
        let count = moved.iter().copied().max().map_or(0, |most| most + 1);
        of.iter_mut().for_each(|node| *node = moved[*node]);
        if count == folded.edges.len() {
            return of;
        }
        folded = folded.fold(&moved, count);
    }
}

/// A tree of communities within communities down to the nodes: Louvain on the whole graph, then inside every community, `levels`
/// times. A leaf of the tree is a node of the graph, `Tree::leaf` says which.
pub fn hierarchy(graph: &Graph, levels: usize) -> Tree {
    let mut tree = Tree::default();
    let mut open: Vec<(Option<usize>, Vec<usize>)> = vec![(None, (0..graph.len()).collect())];
    for _ in 0..levels {
        let mut next = Vec::new();
        for (parent, members) in open {
            for part in parts(graph, &members) {
                let node = tree.add(parent, None);
                next.push((Some(node), part));
            }
        }
        open = next;
    }
    for (parent, members) in open {
        for member in members {
            tree.add(parent, Some(member));
        }
    }
    tree
}

/// The communities of the part of a graph that these nodes are.
fn parts(graph: &Graph, members: &[usize]) -> Vec<Vec<usize>> {
    let place: BTreeMap<usize, usize> = members.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut part = Graph::new(members.len());
    for (at, node) in members.iter().enumerate() {
        for (to, weight) in graph.near(*node) {
            if let Some(to) = place.get(to).filter(|to| **to > at) {
                part.join(at, *to, *weight);
            }
        }
    }
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (node, community) in members.iter().zip(louvain(&part)) {
        if community >= found.len() {
            found.resize(community + 1, Vec::new());
        }
        found[community].push(*node);
    }
    found
}

/// A graph whose nodes may be communities, with what lies inside each.
struct Folded {
    edges: Vec<BTreeMap<usize, f64>>,
    /// Twice the weight inside.
    inside: Vec<f64>,
}

impl Folded {
    fn of(graph: &Graph) -> Self {
        let mut edges = vec![BTreeMap::new(); graph.len()];
        for (node, edges) in edges.iter_mut().enumerate() {
            for (to, weight) in graph.near(node) {
                *edges.entry(*to).or_default() += weight;
            }
        }
        Self { inside: vec![0.0; edges.len()], edges }
    }

    /// The community of every node after moves that each gain modularity:
    ///   gain of joining C = w(node, C) − k_node · Σ_C / 2m
    fn local_moves(&self) -> Vec<usize> {
        let count = self.edges.len();
        let degree: Vec<f64> =
            (0..count).map(|node| self.inside[node] + self.edges[node].values().sum::<f64>()).collect();
        let twice: f64 = degree.iter().sum();
        let (mut of, mut total): (Vec<usize>, Vec<f64>) = ((0..count).collect(), degree.clone());
        for _ in 0..MOST_PASSES {
            let mut moved = false;
            for node in 0..count {
                let home = of[node];
                total[home] -= degree[node];
                let mut near: BTreeMap<usize, f64> = BTreeMap::from([(home, 0.0)]);
                for (to, weight) in &self.edges[node] {
                    *near.entry(of[*to]).or_default() += weight;
                }
                let gain = |to: usize, weight: f64| weight - degree[node] * total[to] / twice.max(1e-300);
                let stay = gain(home, near[&home]);
                let mut best = (home, stay);
                for (to, weight) in &near {
                    let gained = gain(*to, *weight);
                    if gained > best.1 + 1e-12 {
                        best = (*to, gained);
                    }
                }
                of[node] = best.0;
                total[best.0] += degree[node];
                moved |= best.0 != home;
            }
            if !moved {
                break;
            }
        }
        numbered(&of)
    }

    fn fold(&self, of: &[usize], count: usize) -> Self {
        let mut folded = Self { edges: vec![BTreeMap::new(); count], inside: vec![0.0; count] };
        for (node, edges) in self.edges.iter().enumerate() {
            folded.inside[of[node]] += self.inside[node];
            for (to, weight) in edges {
                match of[node] == of[*to] {
                    true => folded.inside[of[node]] += weight,
                    false => *folded.edges[of[node]].entry(of[*to]).or_default() += weight,
                }
            }
        }
        folded
    }
}

/// Communities by numbers from 0, in order of first appearance.
fn numbered(of: &[usize]) -> Vec<usize> {
    let mut names = BTreeMap::new();
    of.iter()
        .map(|community| {
            let next = names.len();
            *names.entry(*community).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rings of three, joined in a row by single edges.
    fn rings(count: usize) -> Graph {
        let mut graph = Graph::new(3 * count);
        for ring in 0..count {
            let first = 3 * ring;
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                graph.join(first + a, first + b, 1.0);
            }
            graph.join(first, first + 3, 1.0);
        }
        graph
    }

    #[test]
    fn two_triangles_with_a_bridge_are_two_communities() {
        assert_eq!(louvain(&rings(2)), [0, 0, 0, 1, 1, 1]);
        assert_eq!(louvain(&Graph::new(2)), [0, 1]);
        assert!(louvain(&Graph::new(0)).is_empty());
    }

    #[test]
    fn communities_stand_within_communities_down_to_the_nodes() {
        let tree = hierarchy(&rings(2), 2);
        let leaves = |node: usize| tree.children(Some(node)).len();
        let top = tree.children(None).to_vec();
        assert_eq!(top.len(), 2);
        // A triangle does not fall apart: one community below, with its three nodes.
        assert_eq!(leaves(top[0]), 1);
        let below = tree.children(Some(top[0]))[0];
        let nodes: Vec<usize> =
            tree.children(Some(below)).iter().filter_map(|leaf| tree.leaf(*leaf)).collect();
        assert_eq!(nodes, [0, 1, 2]);
    }
}
