//! Credit rules that need more than groups, trained end to end: the driver gives them what they ask for and charges it.

use crate::tiny::{RECIPE, say};
use merit_core::Phase;
use merit_store::RunFolder;

fn trained(credit: &str) -> RunFolder {
    let dir = tempfile::tempdir().unwrap();
    let set = format!("credit={credit}");
    let small = ["--set", "budget.steps=2", "--set", "controls=[]", "--set", "evaluation.every=0"];
    let arguments = ["train", RECIPE, "--run", "run", "--set", set.as_str()];
    say(dir.path(), arguments.iter().chain(&small)).well();
    RunFolder::open_read_only(&dir.keep().join("run")).unwrap()
}

#[test]
fn branch_monte_carlo_is_given_its_continuations_and_they_are_charged() {
    let run = trained("{type='branch-monte-carlo',continuations=2}");
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
    let run = trained("{type='turn-groups'}");
    assert_eq!(run.costs().unwrap()[&Phase::train()].probe_steps, 0);
    let episodes = run.episodes(&merit_store::EpisodeFilter::phase(Phase::train())).unwrap();
    let notes = || episodes.iter().map(|stored| stored.credit.as_ref().unwrap().note.as_str());
    assert!(notes().all(|note| note.starts_with("turn 0: reward ")));
}
