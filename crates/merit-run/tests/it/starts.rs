//! Warm starts that are kept in a folder: shared by runs that begin alike, and by no others.

use crate::whole::{Made, Making, small};
use merit_core::Phase;
use merit_run::{Event, Recipe};
use std::path::Path;
use tempfile::TempDir;

fn shared(made: &Made) -> bool {
    let told = made.events.iter().any(|event| matches!(event, Event::Warm { shared: true, .. }));
    let recorded = !made.folder.metric(Phase::Warm, "shared").unwrap().is_empty();
    let events = made.folder.events().unwrap();
    let noted = events.iter().any(|e| e.kind == "warm-start" && e.text.starts_with("shared"));
    assert_eq!((told, told), (recorded, noted), "events and metrics say the same");
    told
}

fn train(dir: &TempDir, name: &str, recipe: &Recipe) -> Made {
    Making::at(dir.path().join(name)).sharing(&dir.path().join("starts")).train(recipe)
}

fn kept(starts: &Path) -> Vec<String> {
    let names = std::fs::read_dir(starts).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_shared_start_is_the_same_to_the_bit_as_imitating_and_charged_alike() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[]);
    let alone = Making::at(dir.path().join("alone")).train(&recipe);
    let (first, second) = (train(&dir, "first", &recipe), train(&dir, "second", &recipe));
    assert!(!shared(&alone) && !shared(&first) && shared(&second));
    first.must_be(&alone);
    second.must_be(&alone);
    assert_eq!(second.finished.held_out_after.to_bits(), alone.finished.held_out_after.to_bits());
    for name in ["warm.safetensors", "weights.safetensors", "tokenizer.json", "optimiser.safetensors"] {
        assert!(second.newest(name) == alone.newest(name), "{name}");
    }
    let cost = second.folder.costs().unwrap()[&Phase::Warm];
    assert_eq!(cost.updates, 40);
    assert!(cost.trained_tokens > 40 * 8, "{cost:?}");
    let learning = second.folder.costs().unwrap()[&Phase::train()];
    assert_eq!(learning.updates, 3 * 2, "two minibatches a step");
}

#[test]
fn a_run_that_need_not_go_on_leaves_no_checkpoint_and_learns_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[]);
    let kept = Making::at(dir.path().join("kept")).train(&recipe);
    let once = Making { resumable: false, ..Making::at(dir.path().join("once")) }.train(&recipe);
    once.must_be(&kept);
    assert!(kept.folder.latest_checkpoint().unwrap().is_some());
    assert!(once.folder.latest_checkpoint().unwrap().is_none());
    let policy = |made: &Made| std::fs::read(made.folder.path().join("policy.safetensors")).unwrap();
    assert!(policy(&once) == policy(&kept));
}

#[test]
fn runs_that_differ_in_reward_credit_learning_or_rollout_share_their_start() {
    let dir = tempfile::tempdir().unwrap();
    train(&dir, "first", &small(&[]));
    let changes = [
        ("reward.of", "[{ type = 'exact-answer' }, { type = 'format', weight = 0.1 }]"),
        ("credit", "{ type = 'rloo' }"),
        ("learn.minibatches", "1"),
        ("rollout.temperature", "0.8"),
        ("budget.steps", "1"),
        ("evaluation.tasks", "4"),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let other = train(&dir, &format!("other-{at}"), &small(&[change, ("budget.group_size", "3")]));
        assert!(shared(&other), "{change:?}");
    }
    assert_eq!(kept(&dir.path().join("starts")).len(), 1);
}

#[test]
fn runs_that_differ_in_what_a_start_depends_on_do_not_share_it() {
    let dir = tempfile::tempdir().unwrap();
    train(&dir, "first", &small(&[]));
    let changes = [
        ("model.width", "8"),
        ("warm_start.steps", "39"),
        ("warm_start.skill", "0.6"),
        ("warm_start.learning_rate", "2e-2"),
        ("world.sizes", "[1, 3]"),
        ("warm_start.world.sizes", "[1]"),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let other = train(&dir, &format!("other-{at}"), &small(&[change]));
        assert!(!shared(&other), "{change:?}");
    }
    let path = dir.path().join("another-seed");
    let making = Making { seed: 2, ..Making::at(path).sharing(&dir.path().join("starts")) };
    assert!(!shared(&making.train(&small(&[]))));
}

#[test]
fn two_runs_at_a_time_leave_one_start_and_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let made = std::thread::scope(|scope| {
        let runs: Vec<_> = ["one", "two"]
            .map(|name| {
                let dir = &dir;
                scope.spawn(move || train(dir, name, &small(&[])).essence())
            })
            .into();
        runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(made[0] == made[1]);
    assert_eq!(kept(&dir.path().join("starts")).len(), 1);
}

#[test]
fn a_damaged_start_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let first = train(&dir, "first", &small(&[]));
    let starts = dir.path().join("starts");
    let weights = starts.join(&kept(&starts)[0]).join("weights.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&weights, &bytes).unwrap();
    let second = train(&dir, "second", &small(&[]));
    assert!(!shared(&second));
    second.must_be(&first);
    assert!(shared(&train(&dir, "third", &small(&[]))));
}

#[test]
fn a_run_killed_in_its_warm_start_may_finish_it_with_a_shared_one() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[("budget.checkpoint_every", "1")]);
    let whole = train(&dir, "whole", &recipe);
    let killed = Making::at(dir.path().join("killed"));
    assert!(killed.kill(&recipe, 25));
    let resumed = killed.sharing(&dir.path().join("starts")).train(&recipe);
    assert!(shared(&resumed));
    resumed.must_be(&whole);
}
