//! The tree that a group has grown in, as a rule of one's own reads it.

use merit_core::Outcome;
use merit_credit::conformance::Sketch;
use merit_credit::{CreditBatch, Tree};

const TURNS: [(usize, usize); 3] = [(2, 1), (3, 2), (1, 0)];

fn trunk(reward: f64) -> Sketch {
    Sketch::new(&TURNS, Outcome::PolicyWrong, reward).saying(1, 0)
}

fn tree(members: &[Sketch]) -> Tree {
    let groups = [Sketch::group(&[trunk(9.0)], 0).unwrap(), Sketch::group(members, 1).unwrap()];
    CreditBatch::new(&groups).tree(1).unwrap()
}

/// The leaves below each turn of a member.
fn leaves(tree: &Tree, member: usize) -> Vec<Vec<f64>> {
    tree.path(member).map(|node| node.leaves.clone()).collect()
}

#[test]
fn members_that_begin_alike_share_turns_and_their_leaves() {
    let left = Sketch { outcome: Outcome::Left, ..trunk(0.0).fork(2, 4, (0, 3), 0.0) };
    let other = Sketch::new(&TURNS[..1], Outcome::PolicyWrong, 0.5).saying(7, 0);
    let tree = tree(&[
        trunk(1.0),
        trunk(1.0).fork(1, 2, (0, 1), 0.0),
        trunk(1.0).fork(2, 3, (0, 2), 4.0),
        left,
        other,
    ]);
    assert_eq!(tree.root().leaves, [1.0, 0.0, 4.0, 0.5]);
    assert_eq!(leaves(&tree, 0), [vec![1.0, 0.0, 4.0], vec![1.0, 4.0], vec![1.0]]);
    assert_eq!(leaves(&tree, 1), [vec![1.0, 0.0, 4.0], vec![0.0], vec![0.0]]);
    // A branch that was left is no leaf, and has the leaves of the turns it shares.
    assert_eq!(leaves(&tree, 3), [vec![1.0, 0.0, 4.0], vec![1.0, 4.0], vec![]]);
    assert_eq!(leaves(&tree, 4), [vec![0.5]]);
    assert_eq!(tree.path(0).map(|node| node.mean()).collect::<Vec<_>>(), [5.0 / 3.0, 2.5, 1.0]);
    assert_eq!(leaves(&tree, 5), Vec::<Vec<f64>>::new());
}

#[test]
fn a_member_that_says_the_same_by_itself_shares_the_turn_too() {
    let tree = tree(&[trunk(1.0), trunk(0.0).saying(2, 1)]);
    assert_eq!(leaves(&tree, 0), [vec![1.0, 0.0], vec![1.0], vec![1.0]]);
    assert!(tree.path(0).next() == tree.path(1).next());
}
