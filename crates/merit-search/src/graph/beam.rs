//! From the top of a tree to its leaves: at every level the best few nodes stay, of all parents together.
//!
//! The global beam of Deep GraphRAG: a child is scored beside its parent, score(parent, child), and children of all surviving
//! parents compete in one list, so that a good branch may take more than one place. A beam of 1 is greedy descent; a beam that
//! is wider than every level scores the whole tree.

/// A tree; its nodes are numbers in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// Leaves stand for something.
    leaves: Vec<Option<usize>>,
}

impl Tree {
    /// One more node; a leaf says what it stands for. A parent that is not there makes a root.
    pub fn add(&mut self, parent: Option<usize>, leaf: Option<usize>) -> usize {
        let node = self.children.len();
        self.children.push(Vec::new());
        self.leaves.push(leaf);
        match parent.and_then(|parent| self.children.get_mut(parent)) {
            Some(siblings) => siblings.push(node),
            None => self.roots.push(node),
        }
        node
    }

    /// The children of a node; of none, the roots.
    pub fn children(&self, node: Option<usize>) -> &[usize] {
        match node {
            None => &self.roots,
            Some(node) => self.children.get(node).map_or(&[], Vec::as_slice),
        }
    }

    /// What a leaf stands for.
    pub fn leaf(&self, node: usize) -> Option<usize> {
        self.leaves.get(node).copied().flatten()
    }

    pub fn len(&self) -> usize {
        self.children.len()
    }

    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }
}

/// What a search through a tree found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Leaves of the surviving branches with their scores, best first; of equals, the one that was added first.
    pub leaves: Vec<(usize, f64)>,
    /// How many nodes were scored.
    pub scored: usize,
}

/// Goes down a tree with at most `width` inner nodes at every level. `score(parent, child)` is asked once for every child of a
/// surviving parent; roots have no parent.
pub fn beam(tree: &Tree, width: usize, mut score: impl FnMut(Option<usize>, usize) -> f64) -> Found {
    let mut found = Found::default();
    let mut open = vec![None];
    while !open.is_empty() {
        let mut inner: Vec<(usize, f64)> = Vec::new();
        for parent in open {
            for child in tree.children(parent) {
                found.scored += 1;
                let scored = (*child, score(parent, *child));
                match tree.leaf(*child) {
                    Some(_) => found.leaves.push(scored),
                    None => inner.push(scored),
                }
            }
        }
        inner.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        open = inner.into_iter().take(width.max(1)).map(|(node, _)| Some(node)).collect();
    }
    found.leaves.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two branches with two leaves each; the best leaf (9) is in the branch that looks worse.
    fn tree() -> (Tree, Vec<f64>) {
        let mut tree = Tree::default();
        let (a, b) = (tree.add(None, None), tree.add(None, None));
        for (parent, leaf) in [(a, 0), (a, 1), (b, 2), (b, 3)] {
            tree.add(Some(parent), Some(leaf));
        }
        (tree, vec![2.0, 1.0, 3.0, 4.0, 9.0, 0.0])
    }

    #[test]
    fn a_greedy_descent_misses_what_a_beam_finds() {
        let (tree, scores) = tree();
        let go = |width| beam(&tree, width, |_, child| scores[child]);
        let (greedy, wide) = (go(1), go(2));
        assert_eq!((greedy.leaves[0], greedy.scored), ((3, 4.0), 4));
        assert_eq!((wide.leaves[0], wide.scored), ((4, 9.0), 6));
    }

    #[test]
    fn children_are_scored_beside_their_parents_and_compete_in_one_list() {
        let (mut tree, _) = tree();
        // Both grandchildren of the first root beat that of the second.
        let mut deep = Tree::default();
        let (a, b) = (deep.add(None, None), deep.add(None, None));
        let inner = [deep.add(Some(a), None), deep.add(Some(a), None), deep.add(Some(b), None)];
        inner.iter().enumerate().for_each(|(at, node)| _ = deep.add(Some(*node), Some(at)));
        let score = |parent: Option<usize>, child: usize| match parent {
            None => 1.0,
            Some(parent) if parent == a => 5.0,
            Some(_) => child as f64 / 100.0,
        };
        let found = beam(&deep, 2, score);
        let leaves: Vec<Option<usize>> = found.leaves.iter().map(|(node, _)| deep.leaf(*node)).collect();
        assert_eq!(leaves, [Some(1), Some(0)]);
        assert_eq!((tree.add(Some(99), None), tree.children(None).len()), (6, 3));
    }
}
