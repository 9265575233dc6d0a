//! Groups and credit rules that need more than fresh episodes, trained end to end: the driver gives them what they ask for and charges it.

use crate::tiny::{RECIPE, say};
use merit_core::Phase;
use merit_store::RunFolder;

fn trained(set: &str) -> RunFolder {
    let dir = tempfile::tempdir().unwrap();
    let small = ["--set", "budget.steps=2", "--set", "controls=[]", "--set", "evaluation.every=0"];
    let arguments = ["train", RECIPE, "--run", "run", "--set", set];
    say(dir.path(), arguments.iter().chain(&small)).well();
    RunFolder::open_read_only(&dir.keep().join("run")).unwrap()
}

#[test]
fn branch_monte_carlo_is_given_its_continuations_and_they_are_charged() {
    let run = trained("credit={type='branch-monte-carlo',continuations=2}");
    let cost = run.costs().unwrap()[&Phase::train()];
    // Two continuations from every turn of every episode, each of at least one step.
    let episodes = run.episodes(&merit_store::EpisodeFilter::phase(Phase::train())).unwrap();
    let turns: usize = episodes.iter().map(|stored| stored.scored.episode.turns.len()).sum();
    assert!(turns > 0 && cost.probe_steps >= 2 * turns as u64, "{} for {turns} turns", cost.probe_steps);
    // Every turn of an episode has its line.
    for stored in &episodes {
        let note = &stored.credit.as_ref().unwrap().note;
        assert_eq!(note.lines().count(), stored.scored.episode.turns.len(), "{note}");
        assert!(note.lines().all(|line| line.starts_with("turn ")), "{note}");
    }
}

#[test]
fn turn_groups_train_and_say_what_each_turn_was_held_against() {
    let run = trained("credit={type='turn-groups'}");
    assert_eq!(run.costs().unwrap()[&Phase::train()].probe_steps, 0);
    let episodes = run.episodes(&merit_store::EpisodeFilter::phase(Phase::train())).unwrap();
    let notes = || episodes.iter().map(|stored| stored.credit.as_ref().unwrap().note.as_str());
    assert!(notes().all(|note| note.starts_with("turn 0: reward ")));
}

#[test]
fn groups_grown_as_trees_train_and_keep_their_size() {
    let grown = trained("rollout.tree={roots=1}");
    let episodes = grown.episodes(&merit_store::EpisodeFilter::phase(Phase::train())).unwrap();
    let forks = episodes.iter().filter(|stored| stored.scored.episode.id.branch > 0).count();
    let roots = episodes.len() - forks;
    assert!(forks > 0 && roots > 0, "{forks} forks, {roots} roots");
    // Every fork is trained on what it sampled itself, and on nothing of its trunk.
    for stored in &episodes {
        let sample = merit_core::Sample::of(&stored.scored, 0).unwrap();
        assert!(sample.trainable() as u64 <= stored.scored.episode.cost.policy_tokens);
    }
}

#[test]
fn the_worlds_own_expert_can_be_forked_too() {
    let dir = tempfile::tempdir().unwrap();
    let role = ["rollout", RECIPE, "--role", "teacher", "--tasks", "2", "--fork-at", "1", "--json"];
    let said = say(dir.path(), role.iter()).well();
    let lines: Vec<serde_json::Value> =
        said.out.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    let forks = lines.iter().filter(|line| line["episode"]["id"]["branch"] == 1);
    let ends: Vec<&serde_json::Value> = forks.map(|line| &line["episode"]["end"]["type"]).collect();
    assert!(!ends.is_empty() && ends.iter().all(|end| *end == "answered"), "{ends:?}");
}

#[test]
fn a_start_that_cannot_work_is_told_by_the_check_and_leaves_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let check = say(dir.path(), ["recipe", "check", "smollm2-tools"]);
    assert!(check.err.contains("`model.file` is ") && check.err.contains("is not there"), "{}", check.err);
    let train = say(dir.path(), ["train", "smollm2-tools", "--run", "run"]);
    assert!(!train.err.is_empty() && !dir.path().join("run").exists(), "{}", train.err);
}

#[test]
fn no_held_out_task_is_measured_twice() {
    let recipe = merit_run::shipped::load("ledger-tools").unwrap();
    let recipe = recipe.with(&[("world.held_out_sizes".to_owned(), "[1]".to_owned())]).unwrap();
    let parts = merit_run::Parts::new(&recipe, 1).unwrap();
    let plans = parts.plans(&merit_run::Plan {
        phase: Phase::Rollout,
        step: 0,
        split: merit_core::Split::HeldOut,
        first: 0,
        groups: 4000,
        group_size: 1,
        version: merit_core::PolicyVersion(0),
    });
    let plans = plans.unwrap();
    let distinct: std::collections::HashSet<&str> = plans.iter().map(|plan| plan.task.id.as_str()).collect();
    assert_eq!(distinct.len(), plans.len());
}
