//! The same recipe and seed give the same episodes and weights at any number of threads and episodes in flight, and
//! another seed gives others.

use crate::tiny;

use crate::tiny::{Essence, RECIPE, essence, say};
use std::collections::BTreeMap;

/// The essence of a run with `more` arguments.
fn trained(more: &[&str]) -> Essence {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["train", RECIPE, "--run", "run"].iter().chain(more);
    say(dir.path(), arguments).well();
    essence(&dir.path().join("run"))
}

/// What a fitted value head and a rule along tokens need besides the tiny recipe.
const WITH_VALUES: [&str; 6] = [
    "--set",
    "model.value_head=true",
    "--set",
    "credit={type='gae'}",
    "--set",
    "learn.objective.value.coefficient=0.5",
];

fn with_values(threads: &str) -> Essence {
    let mut arguments = WITH_VALUES.to_vec();
    arguments.extend(["--threads", threads]);
    trained(&arguments)
}

#[test]
fn the_number_of_threads_shows_in_the_time_only() {
    let reference = &tiny::reference().essence;
    for threads in ["1", "2", "3"] {
        trained(&["--threads", threads]).must_be(reference);
    }
}

#[test]
fn a_policy_with_a_value_head_does_not_depend_on_threads_either() {
    with_values("1").must_be(&with_values("2"));
}

#[test]
fn episodes_in_flight_change_the_recipes_text_and_nothing_else() {
    let reference = &tiny::reference().essence;
    for in_flight in ["1", "3"] {
        let setting = format!("rollout.in_flight={in_flight}");
        trained(&["--set", &setting]).must_be(reference);
    }
}

#[test]
fn another_seed_gives_other_episodes_and_weights() {
    let (one, two) = (&tiny::reference().essence, trained(&["--seed", "2"]));
    let same = one.episodes.iter().filter(|(name, hash)| two.episodes.get(*name) == Some(hash)).count();
    assert_eq!(same, 0, "of {} episodes", one.episodes.len());
    assert_ne!(one.files["policy.safetensors"], two.files["policy.safetensors"]);
}

/// Without this, all of the above could hold for a run that learns nothing at all.
#[test]
fn learning_and_its_control_both_move_the_weights() {
    let reference = &tiny::reference().essence;
    let [warm, trained, control] =
        ["warm", "trained", "weights"].map(|stem| reference.newest(&format!("{stem}.safetensors")));
    assert!(warm != trained && warm != control && trained != control);
    let phases: BTreeMap<&str, usize> =
        reference.episodes.keys().fold(BTreeMap::new(), |mut counts, name| {
            *counts.entry(name.split('/').next().unwrap()).or_default() += 1;
            counts
        });
    let want = [
        ("eval-after", 8),
        ("eval-before", 8),
        ("eval-after@no-tool", 8),
        ("eval-step", 2 * 4),
        ("eval-step@no-tool", 2 * 4),
        ("train", 7 * tiny::PER_STEP),
        ("train@no-tool", 7 * tiny::PER_STEP),
    ];
    assert_eq!(phases, BTreeMap::from(want));
}
