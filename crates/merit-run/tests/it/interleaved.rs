//! Supervised updates among those by reward.

use crate::whole::{Making, small};
use merit_core::Phase;

#[test]
fn updates_take_turns_as_the_recipe_says_and_imitation_plays_no_episodes() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[
        ("interleave", "{ learning_rate = 1e-3, when = { type = 'alternate', reward = 2 } }"),
        ("budget.steps", "4"),
    ]);
    let made = Making::at(dir.path().join("one")).train(&recipe);
    let steps = |name: &str| made.folder.metric(Phase::train(), name).unwrap();
    assert_eq!(steps("imitates"), [(0, 1.0), (1, 0.0), (2, 0.0), (3, 1.0)]);
    let norms = steps("imitation_grad_norm");
    assert!(norms.len() == 2 && norms.iter().all(|(_, norm)| *norm > 0.0), "{norms:?}");
    // Only the other two have rewards.
    assert_eq!(steps("reward").iter().map(|(step, _)| *step).collect::<Vec<_>>(), [1, 2]);
    let again = Making::at(dir.path().join("two")).train(&recipe);
    again.must_be(&made);
}

#[test]
fn a_recipe_without_it_keeps_its_hash_and_settings_that_cannot_work_are_refused() {
    assert!(!small(&[]).to_toml().contains("interleave"));
    let wrong = [(
        "interleave".to_owned(),
        "{ learning_rate = 0.0, when = { type = 'random', p = 0.5 } }".to_owned(),
    )];
    let refused = small(&[]).with(&wrong).unwrap_err().to_string();
    assert!(refused.contains("`interleave.learning_rate` is 0; it must be above 0"), "{refused}");
}
