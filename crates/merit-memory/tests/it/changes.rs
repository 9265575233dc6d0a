//! What is admitted, merged, replaced and forgotten.

use merit_core::gate::GateRule;
use merit_memory::{
    Candidate, Forgetting, Forgotten, Kind, Memory, MemoryError, Query, Question, Settings, answered, form,
};

fn memory(settings: Settings, texts: &[&str]) -> Memory {
    let mut memory = Memory::in_process(settings).unwrap();
    memory.evolve(texts.iter().map(|text| Candidate::new(*text)).collect()).unwrap();
    memory
}

fn texts(memory: &Memory) -> Vec<String> {
    let mut found = Vec::new();
    memory.each(|item| found.push(item.text)).unwrap();
    found
}

#[test]
fn the_same_again_is_merged_and_every_change_is_a_version() {
    let mut memory = memory(Settings::default(), &["a red door", "a blue door", "a red door"]);
    assert_eq!((memory.len().unwrap(), memory.version().unwrap()), (2, 1));
    assert_eq!(memory.get(1).unwrap().unwrap().repeats, 1);
    memory.feedback(&[(1, Some(true)), (1, Some(false)), (2, None)]).unwrap();
    let first = memory.get(1).unwrap().unwrap();
    assert_eq!((first.uses, first.wins, first.losses, first.version), (2, 1, 1, 1));
    assert_eq!(memory.changes(1).unwrap()[0].what, "3 shown");
    assert_eq!(memory.retrieve(&Query::new("red", 5)).unwrap().version, 2);
}

#[test]
fn a_profile_replaces_what_it_knew_and_says_what_that_was() {
    let mut profile = Memory::in_process(Settings { kind: Kind::Profile, ..Settings::default() }).unwrap();
    let says = |text: &str| vec![Candidate { key: Some("Home town".into()), ..Candidate::new(text) }];
    profile.evolve(says("Oslo")).unwrap();
    let evolved = profile.evolve(says("Bergen")).unwrap();
    assert_eq!((evolved.replaced, evolved.added, texts(&profile)), (1, 0, vec!["Bergen".to_owned()]));
    assert!(profile.changes(1).unwrap()[0].what.ends_with("item 1 was: Oslo"));
}

#[test]
fn more_than_the_capacity_is_forgotten_by_the_rule_that_is_stated() {
    let left = |forgetting: Forgetting| {
        let settings = Settings { capacity: 3, forgetting, ..Settings::default() };
        let mut memory = memory(settings, &["one", "two", "three"]);
        // Shares of wins: 1/3 (one loss), 2/3 (one win), 1/2 (never shown).
        memory.feedback(&[(1, Some(false)), (1, None), (2, Some(true))]).unwrap();
        memory.evolve(vec![Candidate::new("four")]).unwrap();
        texts(&memory)
    };
    assert_eq!(left(Forgetting::Oldest), ["two", "three", "four"]);
    assert_eq!(left(Forgetting::LeastUsed), ["one", "two", "four"]);
    assert_eq!(left(Forgetting::LeastWorth), ["two", "three", "four"]);
}

#[test]
fn items_are_pruned_by_number_by_losses_and_to_a_size_and_are_not_found_any_more() {
    let mut memory = memory(Settings::default(), &["red door", "blue door", "green door", "white door"]);
    assert_eq!(memory.retrieve(&Query::new("door", 9)).unwrap().items.len(), 4);
    assert_eq!(memory.prune(Forgotten::One(2)).unwrap(), 1);
    memory.feedback(&[(1, Some(false)), (1, Some(false))]).unwrap();
    assert_eq!(memory.prune(Forgotten::Losing { at_least: 3 }).unwrap(), 0);
    assert_eq!(memory.prune(Forgotten::Losing { at_least: 2 }).unwrap(), 1);
    assert_eq!(memory.prune(Forgotten::Above(1)).unwrap(), 1);
    let found = memory.retrieve(&Query::new("door", 9)).unwrap().items;
    assert_eq!(found.into_iter().map(|item| item.text).collect::<Vec<_>>(), ["white door"]);
}

#[test]
fn an_item_must_beat_its_absence_on_the_same_questions() {
    let mut memory = memory(Settings::default(), &["the key of the shed is blue"]);
    let question = |query: &str, expect: &str| Question { query: query.into(), expect: expect.into() };
    let questions =
        [question("what colour is the key of the shed", "blue"), question("where is the ladder", "attic")];
    // The first answers the second question. The second takes the first place of the first question: 1 falls to 1/2.
    let offered = ["the ladder is in the attic", "what colour is the key of the shed is a question"];
    let offered = offered.iter().map(|text| Candidate::new(*text)).collect();
    let rule = GateRule::Margin { margin: 0.0 };
    let evolved = memory.evolve_through(offered, &rule, |memory| answered(memory, &questions, 3)).unwrap();
    assert_eq!((evolved.added, evolved.refused, memory.len().unwrap()), (1, 1, 2));
    assert_eq!(answered(&mut memory, &questions, 3).unwrap(), [1.0, 1.0]);
    // What was refused left nothing behind, and the number it had is given again.
    memory.evolve(vec![Candidate::new("a saw hangs in the shed")]).unwrap();
    assert_eq!(memory.retrieve(&Query::new("saw", 1)).unwrap().items[0].id, 3);
    assert_eq!(memory.version().unwrap(), 3);
}

#[test]
fn a_change_that_fails_leaves_nothing() {
    let mut memory = memory(Settings::default(), &["one"]);
    let fails = |_: &mut Memory| Err(MemoryError::Setting("asked to fail".into()));
    let rule = GateRule::Always;
    let error = memory.evolve_through(vec![Candidate::new("two")], &rule, fails).err().unwrap().to_string();
    assert!(error.contains("asked to fail"), "{error}");
    assert_eq!((texts(&memory), memory.version().unwrap()), (vec!["one".to_owned()], 1));
}

#[test]
fn lines_are_texts_or_objects_and_what_is_neither_is_named() {
    let lines = "plain words\n\n{\"text\": \"b\", \"key\": \"k\", \"about\": [\"Ada\"], \"value\": 2}";
    let found = form::lines(lines, "notes.jsonl").unwrap();
    assert_eq!((found[0].text.as_str(), found[0].made_by.run.as_str()), ("plain words", "notes.jsonl"));
    assert_eq!((found[1].found_by(), found[1].edges[0].to.as_str(), found[1].value), ("k", "Ada", 2.0));
    for (line, want) in
        [("{\"text\": \"a\", \"colour\": 1}", "line 1: no item"), ("{\"text\": \" \"}", "`text` is empty")]
    {
        let got = form::lines(line, "notes.jsonl").unwrap_err().to_string();
        assert!(got.contains(want), "{got}");
    }
}

#[test]
fn a_folder_is_opened_again_as_it_was_and_strangers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("notes");
    let settings = Settings { kind: Kind::Reflections, ..Settings::default() };
    let mut made = Memory::create(&folder, settings.clone()).unwrap();
    made.evolve(vec![Candidate::new("look twice")]).unwrap();
    let digest = made.digest().unwrap();
    let mut again = Memory::open(&folder).unwrap();
    assert_eq!((again.settings(), again.digest().unwrap()), (&settings, digest.clone()));
    // Another process adds; the first one sees it, and the digest differs.
    assert_eq!(again.retrieve(&Query::new("twice", 5)).unwrap().items.len(), 1);
    made.evolve(vec![Candidate::new("ask twice")]).unwrap();
    assert_eq!(again.retrieve(&Query::new("twice", 5)).unwrap().items.len(), 2);
    assert_ne!(again.digest().unwrap(), digest);
    assert!(matches!(Memory::create(&folder, settings), Err(MemoryError::Exists { .. })));
    assert!(Memory::open(dir.path()).unwrap_err().to_string().contains("merit memory add"));
    let none = Settings { capacity: 0, ..Settings::default() };
    assert!(Memory::in_process(none).unwrap_err().to_string().contains("`capacity` is 0"));
}

#[test]
fn a_snapshot_is_restored_to_the_same_memory_and_goes_on_alike() {
    let mut first = memory(Settings::default(), &["a red door", "a blue door"]);
    first.feedback(&[(2, Some(true))]).unwrap();
    let mut second = Memory::restore(Settings::default(), &first.snapshot().unwrap()).unwrap();
    assert_eq!(second.snapshot().unwrap(), first.snapshot().unwrap());
    for memory in [&mut first, &mut second] {
        memory.evolve(vec![Candidate::new("a green door")]).unwrap();
    }
    assert_eq!(second.snapshot().unwrap(), first.snapshot().unwrap());
    assert_eq!(second.digest().unwrap(), first.digest().unwrap());
    assert_eq!(second.version().unwrap(), 3);
}
