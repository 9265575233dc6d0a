//! A judge from pairs: what is found, what is kept on disk, and what may not become a reward.

use crate::made::{components, long_is_good, orders};
use merit_evolve::{Library, Phase};
use merit_judge::{
    Checks, EvolvingError, FolderError, Judge as _, JudgeFolder, LibraryFile, Pair, evolve_checks,
    prune_checks, read_pairs, reward_table,
};
use merit_reward::RewardConfig;
use std::sync::Arc;

fn folder(at: &tempfile::TempDir) -> JudgeFolder {
    let path = at.path().join("my-judge");
    JudgeFolder::create(&path, &LibraryFile::default()).unwrap();
    JudgeFolder::open(&path).unwrap()
}

#[test]
fn a_fact_that_people_prefer_by_is_found_and_beats_what_knows_nothing() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(120, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    let evolved = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    assert!(
        evolved.library.get("json-stars-high").is_some_and(|entry| entry.weight > 0.0),
        "{:?}",
        evolved.library
    );
    assert!(evolved.tested.judge.accuracy.unwrap() > 0.9, "{:?}", evolved.tested.judge.accuracy);
    assert_eq!(evolved.tested.beats_leaks(), Ok(()));
    assert_eq!(evolved.tested.position_bias, Some(0.0));
    assert_eq!(
        (folder.state.version, folder.state.best, folder.state.looks),
        (evolved.version, evolved.version, 1)
    );
}

#[test]
fn what_only_knows_length_may_not_pay() {
    let at = tempfile::tempdir().unwrap();
    let pairs = long_is_good(80, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    let evolved = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    let refused = evolved.tested.beats_leaks().unwrap_err();
    assert!(refused.contains("`length only`"), "{refused}");
}

#[test]
fn any_version_is_made_again_from_the_history_and_the_reward_file_says_the_same() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(80, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    let evolved = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    let again = JudgeFolder::open(folder.path()).unwrap();
    assert_eq!(again.in_use().unwrap(), evolved.library);
    assert_eq!(again.library(0).unwrap(), Library::default());

    let text = toml::to_string(&reward_table(&evolved.library).unwrap()).unwrap();
    let reward = components().reading(|| RewardConfig::from_toml(&text)).unwrap();
    let mut by_reward = Checks::of_reward("reward.toml", &reward).unwrap();
    let mut by_library = Checks::compile("judge", &evolved.library, &components()).unwrap();
    let asked: Vec<_> = pairs.iter().map(|pair: &Pair| (Arc::clone(&pair.a), Arc::clone(&pair.b))).collect();
    assert_eq!(by_reward.compare(&asked), by_library.compare(&asked));
}

#[test]
fn a_second_round_goes_on_from_the_version_in_use() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(80, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    let first = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    let tried = folder.changes.len();
    let second = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    assert!(second.version == first.version || second.version >= tried);
    assert_eq!(folder.state.looks, 2);
    for entry in first.library.entries().map(|(id, _)| id) {
        let gone =
            folder.changes[tried..].iter().any(|change| change.edits.iter().any(|edit| edit.id() == entry));
        assert!(second.library.get(entry).is_some() || gone, "{entry} is lost");
    }
}

#[test]
fn entries_that_were_changed_by_hand_are_noticed_committed_or_brought_back() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(80, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    let evolved = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    let (id, entry) = evolved.library.entries().next().unwrap();
    let file = folder.path().join("entries").join(format!("{id}.toml"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace(&format!("title = \"{}\"", entry.title), "title = \"mine\"")).unwrap();
    let error = folder.in_use().unwrap_err();
    assert!(matches!(error, FolderError::Edited { .. }) && error.to_string().contains(id), "{error}");

    let entries = folder.entries().unwrap();
    let version = folder.by_hand(&entries, Phase::Reverted, "a better title").unwrap();
    assert_eq!(folder.in_use().unwrap().get(id).unwrap().title, "mine");
    folder.use_version(evolved.version).unwrap();
    assert_eq!(folder.in_use().unwrap(), evolved.library);
    assert!(version > evolved.version);
}

#[test]
fn pruning_by_hand_is_a_version_like_any_other() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(80, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    let evolved = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap();
    let pruned = prune_checks(&mut folder, &pairs, 0.0, &components(), &mut |_| {}).unwrap();
    assert!(pruned.len() <= evolved.library.len() && !pruned.is_empty());
    assert_eq!(folder.in_use().unwrap(), pruned);
}

#[test]
fn a_budget_of_calls_is_refused_where_nothing_is_paid() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(80, &at.path().join("pairs.jsonl"));
    let mut folder = folder(&at);
    folder.file.evolve.budget = 5;
    let error = evolve_checks(&mut folder, &pairs, Vec::new(), &components(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, EvolvingError::NothingIsPaid), "{error}");
}

#[test]
fn too_few_pairs_are_refused_with_what_is_missing() {
    let at = tempfile::tempdir().unwrap();
    let pairs = orders(9, &at.path().join("pairs.jsonl"));
    let error = evolve_checks(&mut folder(&at), &pairs, Vec::new(), &components(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, EvolvingError::TooFew { .. }), "{error}");
    assert!(error.to_string().contains("9 pairs in 9 groups"), "{error}");
}

#[test]
fn where_nothing_tells_the_better_one_the_reason_is_given() {
    let at = tempfile::tempdir().unwrap();
    let file = at.path().join("pairs.jsonl");
    // Every word occurs once and all have the same length.
    let line = |n: u32| format!("{{\"prompt\": \"{n}\", \"chosen\": \"a{n}\", \"rejected\": \"b{n}\"}}\n");
    std::fs::write(&file, (100..160).map(line).collect::<String>()).unwrap();
    let pairs = read_pairs(&file).unwrap();
    let nothing = evolve_checks(&mut folder(&at), &pairs, Vec::new(), &components(), &mut |_| {});
    let error = nothing.expect_err("nothing tells");
    assert!(matches!(error, EvolvingError::NothingKept { .. }), "{error}");
    assert!(error.to_string().contains("`--checks`"), "{error}");
}
