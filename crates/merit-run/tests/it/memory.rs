//! Items of a memory that are shown with tasks.

use crate::whole::{Making, small};
use merit_core::{Phase, When};
use merit_memory::{Candidate, Memory, Settings};
use std::collections::{BTreeMap, BTreeSet};

const MADE: &str = "{ store = { kind = 'experiences' }, stored_at = -10.0, longest = 200, words = 200 }";

#[test]
fn a_memory_made_in_the_run_is_read_by_whole_groups_and_a_killed_run_goes_on_alike() {
    let dir = tempfile::tempdir().unwrap();
    let recipe = small(&[
        ("memory", MADE),
        ("model.context", "768"),
        ("budget.steps", "3"),
        ("budget.checkpoint_every", "1"),
    ]);
    let whole = Making::at(dir.path().join("whole")).train(&recipe);
    let shown = whole.hints(Phase::train());
    assert!(shown.values().all(|told| told.len() == 1), "members of a group read different items");
    let read: usize = shown.values().flatten().map(Vec::len).sum();
    assert!(
        read > 0
            && shown.iter().filter(|((step, _), _)| *step == 0).all(|(_, told)| told.contains(&Vec::new()))
    );
    let after = whole.hints(Phase::eval(When::After));
    assert!(after.values().flatten().any(|told| !told.is_empty()));
    let versions = whole.folder.metric(Phase::train(), "memory_version").unwrap();
    assert!(versions.last().unwrap().1 > versions[0].1, "{versions:?}");
    let learning = whole.events.iter().position(|event| matches!(event, merit_run::Event::Step { .. }));
    let cut = Making::at(dir.path().join("cut"));
    assert!(cut.kill(&recipe, learning.unwrap() + 2));
    cut.train(&recipe).must_be(&whole);
}

#[test]
fn a_folder_is_read_shuffled_or_not_and_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("notes");
    let mut memory = Memory::create(&folder, Settings::default()).unwrap();
    let letters = ["red", "blue", "green", "ledger", "account", "what", "is", "the", "sum", "of"];
    let numbers = (0..100).map(|n| n.to_string());
    let words = letters.iter().map(|word| (*word).to_owned()).chain(numbers);
    memory.evolve(words.map(|word| Candidate::new(format!("note {word}"))).collect()).unwrap();
    let digest = memory.digest().unwrap();
    drop(memory);
    let made = |name: &str, shuffled: bool| {
        let set = format!("{{ folder = '{}', shuffled = {shuffled}, show = 3 }}", folder.display());
        let recipe = small(&[("memory", &set), ("model.context", "768"), ("budget.steps", "1")]);
        let run = Making::at(dir.path().join(name)).train(&recipe);
        run.hints(Phase::train())
    };
    let (own, others) = (made("own", false), made("others", true));
    assert!(own.values().flatten().any(|told| !told.is_empty()));
    // The same hints, each with another task of the batch.
    let flat = |of: &BTreeMap<(u64, u32), BTreeSet<Vec<String>>>| {
        let mut all: Vec<Vec<String>> = of.values().flatten().cloned().collect();
        all.sort();
        all
    };
    assert_eq!(flat(&own), flat(&others));
    assert_ne!(own, others);
    assert_eq!(Memory::open(&folder).unwrap().digest().unwrap(), digest);
}

#[test]
fn a_memory_that_cannot_work_is_refused_and_a_recipe_without_one_keeps_its_hash() {
    assert!(!small(&[]).to_toml().contains("memory"));
    let check = |memory: &str, want: &str| {
        let got = small(&[]).with(&[("memory".to_owned(), memory.to_owned())]).unwrap_err().to_string();
        assert!(got.contains(want), "{got}");
    };
    check("{ show = 2 }", "needs one of `folder`");
    check("{ store = {}, folder = 'x' }", "needs one of `folder`");
    check("{ store = {}, show = 0 }", "`memory.show` is 0");
    check("{ store = { kind = 'profile' } }", "not formed from episodes");
    check("{ store = { capacity = 0 } }", "`capacity` is 0");
    check("{ folder = '/nowhere' }", "is no memory");
    check("{ store = {}, demonstrations = 2.0 }", "a share between 0 and 1");
    let both = [("memory".to_owned(), "{ store = {} }".to_owned()), ("bank".to_owned(), "{}".to_owned())];
    let got = small(&[]).with(&both).unwrap_err().to_string();
    assert!(got.contains("keep one of them"), "{got}");
}
