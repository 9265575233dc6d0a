//! Stages that begin where an earlier one ended, weights of several stages in one policy, and rounds that end at a plateau.

use crate::whole::{Made, Making, phase, small_and, train};
use merit_core::StageKind;
use merit_model::Weights;

fn weights(made: &Made, file: &str) -> Vec<f32> {
    Weights::from_safetensors(&made.newest(file)).unwrap().values().to_vec()
}

const SPECIALISTS: &str = r#"
[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "learn"
name = "left"
steps = 2
set = { world = { sizes = [1] }, reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.02 }] } }
[[stages]]
type = "learn"
name = "right"
start = "warm"
steps = 2
set = { world = { sizes = [2] }, reward = { type = "sum", of = [{ type = "exact-answer" }, { type = "cost", per_token = 0.02 }] } }
[[stages]]
type = "merge"
of = [{ stage = "left", weight = 1.0 }, { stage = "right", weight = 3.0 }]
[[stages]]
type = "evaluate"
name = "merged"
"#;

#[test]
fn two_specialists_of_one_start_are_averaged() {
    let (_dir, made) = train(&small_and(SPECIALISTS).unwrap());
    let (left, right) =
        (weights(&made, "after.learn.left.safetensors"), weights(&made, "after.learn.right.safetensors"));
    assert!(left != right, "both learned the same");
    for (at, merged) in weights(&made, "weights.safetensors").into_iter().enumerate() {
        let want = 0.25 * f64::from(left[at]) + 0.75 * f64::from(right[at]);
        assert!((f64::from(merged) - want).abs() < 1e-6);
    }
    let far = |name: &str| {
        made.folder.metric(phase(StageKind::Merge, "merged"), &format!("distance/{name}")).unwrap()[0].1
    };
    assert!((far("left") - 3.0 * far("right")).abs() < 1e-3 * far("left"));
    // Versions count on: two updates, two more, and the merge.
    let rows = made
        .folder
        .episode_rows(&merit_store::EpisodeFilter::phase(phase(StageKind::Evaluate, "merged")))
        .unwrap();
    assert!(rows.iter().all(|row| row.policy_version.0 == 5));
}

/// The second specialist is what it would have been without the first.
#[test]
fn a_stage_begins_where_the_one_it_names_ended() {
    let (_dir, both) = train(&small_and(SPECIALISTS).unwrap());
    let left = SPECIALISTS.find("[[stages]]\ntype = \"learn\"\nname = \"left\"").unwrap();
    let right = SPECIALISTS.find("[[stages]]\ntype = \"learn\"\nname = \"right\"").unwrap();
    let merge = SPECIALISTS.find("[[stages]]\ntype = \"merge\"").unwrap();
    let alone = format!("{}{}", &SPECIALISTS[..left], &SPECIALISTS[right..merge]);
    let (_dir, alone) = train(&small_and(&alone).unwrap());
    assert!(both.newest("after.learn.right.safetensors") == alone.newest("weights.safetensors"));
}

#[test]
fn task_arithmetic_adds_what_each_differs_from_the_base_by() {
    let text = SPECIALISTS
        .replace("type = \"merge\"", "type = \"merge\"\nmode = \"task-arithmetic\"\nbase = \"warm\"");
    let (_dir, made) = train(&small_and(&text).unwrap());
    let of = |name: &str| weights(&made, &format!("after.{name}.safetensors"));
    let (base, left, right) = (of("warm"), of("learn.left"), of("learn.right"));
    for (at, merged) in weights(&made, "weights.safetensors").into_iter().enumerate() {
        let (base, left, right) = (f64::from(base[at]), f64::from(left[at]), f64::from(right[at]));
        assert!((f64::from(merged) - (base + (left - base) + 3.0 * (right - base))).abs() < 1e-5);
    }
}

const UNTIL: &str = r#"
[[stages]]
type = "imitate"
from = "demonstrations"
[[stages]]
type = "repeat"
times = 5
until = { metric = "count", of = "round", patience = 2 }
[[stages.stages]]
type = "collect"
into = "tries"
tasks = 4
[[stages.stages]]
type = "evaluate"
name = "round"
tasks = 3
[[stages]]
type = "make"
from = "tries"
into = "all"
keep = { reward_at_least = 0.0 }
[[stages]]
type = "evaluate"
name = "after"
"#;

#[test]
fn rounds_end_when_the_evaluation_has_not_become_better() {
    let (_dir, made) = train(&small_and(UNTIL).unwrap());
    // How many tasks count is the same in every round: the first is the best, and two more are waited for.
    assert_eq!(made.folder.metric(phase(StageKind::Evaluate, "round"), "count").unwrap().len(), 3);
    // What comes after reads the dataset of the round that was the last.
    assert_eq!(made.folder.metric(phase(StageKind::Make, "all"), "of_episodes").unwrap()[0].1, 4.0);
    assert!(made.folder.events().unwrap().iter().any(|event| event.kind == "plateau"));
    let patient = UNTIL.replace("patience = 2", "patience = 9");
    let (_dir, all) = train(&small_and(&patient).unwrap());
    assert_eq!(all.folder.metric(phase(StageKind::Evaluate, "round"), "count").unwrap().len(), 5);
}

#[test]
fn merges_and_plateaus_that_are_killed_and_resumed_end_as_if_nothing_had_happened() {
    for text in [SPECIALISTS, UNTIL] {
        let recipe = small_and(text).unwrap();
        let recipe = recipe.with(&[("budget.checkpoint_every".into(), "1".into())]).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let whole = Making::at(dir.path().join("whole")).train(&recipe);
        let killed = Making::at(dir.path().join("killed"));
        let mut moments = [44].into_iter().chain(std::iter::repeat(4));
        let kills = moments.by_ref().take(50).take_while(|at| killed.kill(&recipe, *at)).count();
        assert!((3..50).contains(&kills), "{kills} kills");
        killed.train(&recipe).must_be(&whole);
    }
}
