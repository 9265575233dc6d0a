//! A group as the tree it grew in: members that begin with the same tokens share these turns.
//!
//! In: the members of a group. Out: what the leaves below every turn earned, and the path of each member through the turns. A leaf is a
//! member whose outcome counts: a branch that was left, or that broke, has a path and is no leaf.

use merit_core::{Sample, TokenId};
use std::collections::HashMap;

/// The turns of a group as a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// The root comes first.
    nodes: Vec<TreeNode>,
    /// For each member, its turns as places in `nodes`.
    paths: Vec<Vec<usize>>,
}

/// A turn and all that was said before it, or the root, before which nothing was said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeNode {
    /// The rewards of the leaves below it, in the order of the members.
    pub leaves: Vec<f64>,
}

impl TreeNode {
    /// Mean reward of the leaves: what the turn has turned out to be worth. 0 where it has none.
    pub fn mean(&self) -> f64 {
        self.leaves.iter().sum::<f64>() / self.leaves.len().max(1) as f64
    }
}

impl Tree {
    /// The tree of the members of one group.
    pub(crate) fn of<'s>(members: impl IntoIterator<Item = &'s Sample>) -> Self {
        let mut nodes = vec![TreeNode::default()];
        let mut known: HashMap<&[TokenId], usize> = HashMap::from([(&[][..], 0)]);
        let mut paths = Vec::new();
        for sample in members {
            let node = |end: usize| {
                *known.entry(&sample.tokens[..end]).or_insert_with(|| {
                    nodes.push(TreeNode::default());
                    nodes.len() - 1
                })
            };
            let path: Vec<usize> = sample.turns.iter().map(|range| range.end).map(node).collect();
            if let Some(reward) = sample.reward {
                std::iter::once(&0).chain(&path).for_each(|&node| nodes[node].leaves.push(reward));
            }
            paths.push(path);
        }
        Self { nodes, paths }
    }

    /// Where all members begin.
    pub fn root(&self) -> &TreeNode {
        &self.nodes[0]
    }

    /// The turns of the member at this place of the group, in order; those that it shares with others are the same nodes. Empty where there
    /// is no such member.
    pub fn path(&self, member: usize) -> impl Iterator<Item = &TreeNode> {
        self.paths.get(member).into_iter().flatten().map(|&node| &self.nodes[node])
    }
}
