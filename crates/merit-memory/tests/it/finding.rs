//! What is found, by each way of finding.

use merit_core::Seed;
use merit_core::embedder::{HashedNgrams, unit_vectors};
use merit_memory::{Candidate, Edge, MadeBy, Memory, Query, Retrieval, Settings};

fn found(memory: &mut Memory, query: &Query<'_>) -> Vec<String> {
    memory.retrieve(query).unwrap().items.into_iter().map(|item| item.text).collect()
}

fn memory(texts: &[&str]) -> Memory {
    let mut memory = Memory::in_process(Settings::default()).unwrap();
    memory.evolve(texts.iter().map(|text| Candidate::new(*text)).collect()).unwrap();
    memory
}

#[test]
fn every_way_finds_what_is_asked_for_and_nothing_for_no_words() {
    let texts = ["Owls hunt at night", "Bats sleep by day", "The red door is open", "owls, HUNT at night?"];
    let mut memory = memory(&texts);
    for (by, want) in [
        (Retrieval::Exact, vec![texts[3], texts[0]]),
        (Retrieval::Words, vec![texts[0], texts[3]]),
        (Retrieval::Dense, vec![texts[0], texts[3]]),
        (Retrieval::Hybrid, vec![texts[0], texts[3]]),
        (Retrieval::Graph, vec![texts[0], texts[3]]),
    ] {
        let query = Query { by: Some(by), ..Query::new("owls hunt at night", 2) };
        assert_eq!(found(&mut memory, &query), want, "{by:?}");
        let nothing = Query { by: Some(by), ..Query::new("?!", 2) };
        assert!(found(&mut memory, &nothing).is_empty(), "{by:?}");
    }
    // Vectors see a typing error that words do not.
    let typo = |by| Query { by: Some(by), ..Query::new("sleeeping batz", 1) };
    assert_eq!(found(&mut memory, &typo(Retrieval::Dense)), [texts[1]]);
    assert!(found(&mut memory, &typo(Retrieval::Words)).is_empty());
}

#[test]
fn items_of_the_same_task_are_left_out_and_words_are_counted() {
    let mut memory = Memory::in_process(Settings::default()).unwrap();
    let from = |task: &str, text: &str| Candidate {
        made_by: MadeBy { task: Some(task.to_owned()), ..MadeBy::default() },
        ..Candidate::new(text)
    };
    memory
        .evolve(vec![from("1", "door red"), from("2", "door blue and very far away"), from("3", "door")])
        .unwrap();
    let query = Query { not_from: Some("1"), words: Some(4), ..Query::new("red door", 5) };
    // The first is of the task itself, the second has six words.
    assert_eq!(found(&mut memory, &query), ["door"]);
}

#[test]
fn what_came_after_the_index_was_made_is_found_beside_what_was_there() {
    let mut memory = memory(&["alpha one", "beta two", "gamma three"]);
    for by in [Retrieval::Words, Retrieval::Dense, Retrieval::Hybrid] {
        let ask = |text| Query { by: Some(by), ..Query::new(text, 2) };
        assert_eq!(found(&mut memory, &ask("alpha one"))[0], "alpha one");
        let fresh = format!("delta four {by:?}");
        memory.evolve(vec![Candidate::new(fresh.clone())]).unwrap();
        assert_eq!(found(&mut memory, &ask(&fresh))[0], fresh, "{by:?}");
    }
}

#[test]
fn a_walk_reaches_what_shares_no_word_with_the_question() {
    let mut memory = Memory::in_process(Settings::default()).unwrap();
    let about = |text: &str, names: &[&str]| Candidate {
        edges: names.iter().map(|to| Edge { relation: "about".into(), to: (*to).into() }).collect(),
        ..Candidate::new(text)
    };
    memory
        .evolve(vec![
            about("Ada works at the mill", &["Ada", "mill"]),
            about("the owner is Bo", &["mill", "Bo"]),
            about("Bo lives in Oslo", &["Bo", "Oslo"]),
            about("a ship has sunk", &["ship"]),
        ])
        .unwrap();
    let walk = Query { by: Some(Retrieval::Graph), ..Query::new("where does Ada work", 9) };
    // Two edges away, then four; the ship is not joined to any of them.
    assert_eq!(found(&mut memory, &walk), ["Ada works at the mill", "the owner is Bo", "Bo lives in Oslo"]);
    let words = Query { by: Some(Retrieval::Words), ..walk };
    assert_eq!(found(&mut memory, &words), ["Ada works at the mill"]);
}

#[test]
fn the_ten_nearest_of_many_are_nearly_those_that_a_look_at_everything_finds() {
    // 20,000 keys are more than are all compared. A query is two words of a key, one of them with its last letter changed.
    let mut stream = Seed::root(1).stream();
    let mut word = || (0..7).map(|_| char::from(b'a' + stream.below(26) as u8)).collect::<String>();
    let texts: Vec<String> = (0..20_000).map(|_| format!("{} {} {}", word(), word(), word())).collect();
    let mut memory =
        Memory::in_process(Settings { retrieval: Retrieval::Dense, ..Settings::default() }).unwrap();
    memory.evolve(texts.iter().map(Candidate::new).collect()).unwrap();
    let embed = |texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        unit_vectors(&HashedNgrams::new(256, merit_search::words), &texts).unwrap()
    };
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let vectors = embed(&texts);
    let (mut right, mut first, mut asked) = (0, 0, 0);
    for text in texts.iter().step_by(400) {
        let query = format!("{}z", &text[..14]);
        let vector = &embed(std::slice::from_ref(&query))[0];
        let mut all: Vec<f32> = vectors.iter().map(|other| cosine(vector, other)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let items = found(&mut memory, &Query::new(&query, 10));
        right += embed(&items).iter().filter(|item| cosine(vector, item) >= all[9] - 1e-6).count();
        first += usize::from(items[0] == *text);
        asked += 1;
    }
    assert!(right * 100 >= asked * 10 * 95, "{right} of the ten nearest of {asked} queries");
    assert_eq!(first, asked);
}
