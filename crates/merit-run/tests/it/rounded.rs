//! A decoder made on the spot whose products are rounded to bf16.

use crate::whole::{Making, small};
use merit_core::Phase;

#[test]
fn a_rounded_policy_learns_resumes_to_the_bit_and_is_not_the_same_as_one_in_f32() {
    let dir = tempfile::tempdir().unwrap();
    let rounded =
        small(&[("model.precision", "bf16"), ("budget.steps", "3"), ("budget.checkpoint_every", "1")]);
    let exact = small(&[("budget.steps", "3"), ("budget.checkpoint_every", "1")]);
    assert_ne!(rounded.hash(), exact.hash());
    let whole = Making::at(dir.path().join("whole")).train(&rounded);
    let learning = whole.events.iter().position(|event| matches!(event, merit_run::Event::Step { .. }));
    let cut = Making::at(dir.path().join("cut"));
    assert!(cut.kill(&rounded, learning.unwrap() + 2));
    cut.train(&rounded).must_be(&whole);
    let losses = |made: &crate::whole::Made| made.folder.metric(Phase::Warm, "loss").unwrap();
    let (ours, theirs) = (losses(&whole), losses(&Making::at(dir.path().join("exact")).train(&exact)));
    assert_ne!(ours, theirs);
    // Eight bits are enough to learn the same: the losses of the warm start end within a tenth of each other.
    let (ours, theirs) = (ours.last().unwrap().1, theirs.last().unwrap().1);
    assert!((ours - theirs).abs() < 0.1 * theirs, "{ours} and {theirs}");
}
