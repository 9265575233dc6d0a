//! Pairs of letters: what moves make, which are left, and how hard it is for whom.

use crate::played::{
    built, by_hand, demonstrated, goes_on, in_time, last, longest, mean, opens, play, prompt, refusal, said,
};
use merit_api::World;
use merit_api::conformance::check_world;
use merit_core::{Seed, Split, Task};
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

fn strings(settings: &str) -> Box<dyn World> {
    built("boards", &format!("kind = 'strings'\n{settings}"))
}

fn wish(pairs: &[(u8, u8)], not: u8, start: &[u8]) -> Arc<Task> {
    let wish = json!({ "pairs": pairs, "not": not, "start": start });
    by_hand("boards", pairs.len() as u32, json!({ "kind": "strings", "wish": wish }))
}

#[test]
fn a_letter_that_is_not_wanted_has_to_be_cut_off() {
    let (world, task) = (strings(""), wish(&[(0, 1), (1, 2)], 3, &[0, 3]));
    assert_eq!(prompt(world.as_ref(), &task), "want a b, b c. not d. a d");
    let turns = play(world.as_ref(), &task, &["add b", "cut", "cut", "add b", "b", "add c"]);
    let told: Vec<&str> = turns.iter().map(|turn| turn.0.as_str()).collect();
    assert_eq!(told, ["a d b", "a d", "a", "a b", "say add and a letter, or cut", "a b c"]);
    let of = |name: &str| turns.iter().filter_map(|turn| turn.1.get(name).copied()).collect::<Vec<f64>>();
    // At first a cut, b and c are left. After `a d b`: two cuts, b and c.
    assert_eq!(of("left"), [4.0, 3.0, 2.0, 1.0, 0.0]);
    assert_eq!(of("good"), [0.0, 1.0, 1.0, 1.0, 0.0, 1.0]);
    assert_eq!(of("pairs"), [0.0, 0.0, 0.0, 0.5, 1.0]);
    assert_eq!(of("gain"), [0.0, 0.0, 0.0, 0.5, 0.5]);
    assert_eq!(of("spoiled"), [1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(of("won"), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    // What is cut takes its pair along.
    assert_eq!(last(world.as_ref(), &task, &["cut", "add b", "cut"])["gain"], -0.5);
}

#[test]
fn twelve_moves_are_all() {
    let (world, task) = (strings(""), wish(&[(0, 1), (2, 3)], 5, &[]));
    assert_eq!(prompt(world.as_ref(), &task), "want a b, c d. not f. empty");
    let turns = play(world.as_ref(), &task, &["add e"; 12]);
    // Four letters are left all the time: after the ninth move there are three moves.
    let stuck: Vec<f64> = turns.iter().map(|turn| turn.1["stuck"]).collect();
    assert_eq!(stuck.iter().position(|stuck| *stuck == 1.0), Some(8));
    assert!(turns.iter().all(|turn| turn.1["left"] == 4.0 && turn.1["won"] == 0.0));
    // A cut of nothing is no move.
    let turns = play(world.as_ref(), &task, &["cut", "add a", "add b", "add c", "add d"]);
    assert_eq!((turns[0].0.as_str(), turns[0].1["moved"]), ("empty", 0.0));
    assert_eq!((turns[4].0.as_str(), turns[4].1["won"]), ("a b c d", 1.0));
    // Pairs may share a letter: a b, b a in three.
    let (exact, _) = demonstrated(world.as_ref(), &wish(&[(0, 1), (1, 0)], 5, &[]), "exact", 1);
    assert_eq!(exact.len(), 3);
}

#[test]
fn letters_may_be_spelled() {
    let task = wish(&[(1, 2)], 3, &[]);
    let lines = ["add b", "add b e t", "add b e", "add c u p"];
    let hint = "say add and a letter, or cut";
    assert_eq!(said(strings("spelling = 3").as_ref(), &task, &lines), [hint, "b", hint, "b c"]);
    assert_eq!(demonstrated(strings("spelling = 2").as_ref(), &task, "exact", 1).0, ["add b e", "add c u"]);
    // The board is the same, however letters are said.
    let payload = |settings: &str| strings(settings).task(Split::Train, 3, &Seed::root(1)).unwrap().payload;
    assert_eq!(payload("spelling = 3"), payload(""));
}

/// Moves to a string that is right, by a search over all strings.
fn searched(payload: &Value) -> usize {
    let letters = |value: &Value| -> Vec<u8> {
        value.as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as u8).collect()
    };
    let wish = &payload["wish"];
    let (not, start) = (wish["not"].as_u64().unwrap() as u8, letters(&wish["start"]));
    let pairs: Vec<Vec<u8>> = wish["pairs"].as_array().unwrap().iter().map(letters).collect();
    let right = |text: &[u8]| {
        !text.contains(&not) && pairs.iter().all(|pair| text.windows(2).any(|two| two == pair.as_slice()))
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut queue = VecDeque::from([(start, 0)]);
    while let Some((text, moves)) = queue.pop_front() {
        if right(&text) {
            return moves;
        }
        let cut = text.split_last().map(|(_, rest)| rest.to_vec());
        for next in (0..4).map(|at| [&text[..], &[at]].concat()).chain(cut) {
            if seen.insert(next.clone()) {
                queue.push_back((next, moves + 1));
            }
        }
    }
    unreachable!("every string can be cut off and written anew")
}

#[test]
fn the_oracle_agrees_with_a_search_over_all_strings() {
    let world = strings("sizes = [1, 2]\nletters = 4");
    for at in 0..60 {
        let task = Arc::new(world.task(Split::Train, at, &Seed::root(4)).unwrap());
        let (exact, info) = demonstrated(world.as_ref(), &task, "exact", at);
        assert_eq!((exact.len(), info["won"]), (searched(&task.payload), 1.0), "{}", task.payload);
    }
}

#[test]
fn manners_are_what_they_say_and_more_pairs_and_letters_are_harder() {
    assert_eq!(in_time("boards-strings", "won"), 1.0);
    let won = |settings: &str, manner: &str| mean(strings(settings).as_ref(), manner, "won");
    assert_eq!(won("sizes = [1, 2, 3, 4, 5]", "exact"), 1.0);
    let mixed = [1, 2, 3, 4].map(|size| won(&format!("sizes = [{size}]"), "mixed"));
    assert!(mixed.windows(2).all(|two| two[0] > two[1] + 0.02), "{mixed:?}");
    let by_letters = [4, 6, 8].map(|letters| won(&format!("sizes = [1]\nletters = {letters}"), "reckless"));
    assert!(by_letters.windows(2).all(|two| two[0] > two[1] + 0.02), "{by_letters:?}");
    assert!(won("sizes = [2, 3]", "reckless") < 0.03);
}

#[test]
fn strings_keep_the_contract_and_are_short() {
    for settings in
        ["", "sizes = [1, 5]\nletters = 4\ninstructions = true", "spelling = 3\nheld_out_sizes = [4]"]
    {
        let found = check_world(strings(settings).as_ref(), &Seed::root(7), 8);
        assert_eq!(found, Vec::<String>::new(), "{settings}");
    }
    assert!(longest(strings("").as_ref(), "mixed") < 200);
}

#[test]
fn settings_and_tasks_that_mean_nothing_are_refused() {
    for (settings, says) in [
        ("kind = 'strings'\nletters = 3", "4 to 8"),
        ("kind = 'strings'\nspelling = 4", "1 to 3"),
        ("kind = 'strings'\nsizes = [6]", "give 1 to 5"),
        ("kind = 'push'\nletters = 6", "`letters` means nothing beside strings"),
        ("spelling = 2", "`spelling` means nothing beside strings"),
    ] {
        assert!(refusal("boards", settings).contains(says), "{settings}: {}", refusal("boards", settings));
    }
    let world = strings("letters = 6");
    assert!(opens(world.as_ref(), &wish(&[(0, 1), (1, 2)], 3, &[0, 3])));
    for odd in [
        wish(&[(1, 2), (0, 1)], 3, &[]),
        wish(&[(0, 1), (0, 1)], 3, &[]),
        wish(&[(0, 0)], 3, &[]),
        wish(&[(0, 3)], 3, &[]),
        wish(&[(0, 7)], 3, &[]),
        wish(&[(0, 1)], 6, &[]),
        wish(&[(0, 1)], 3, &[9]),
        wish(&[(0, 1)], 3, &[2; 5]),
        wish(&[(0, 1)], 3, &[0, 1]),
        by_hand("boards", 2, json!({ "kind": "mines", "mines": 3 })),
    ] {
        assert!(!opens(world.as_ref(), &odd), "{}", odd.payload);
    }
    let task = wish(&[(0, 1)], 3, &[]);
    let own = world.open(&task, &Seed::root(1), None).unwrap().snapshot();
    for (moves, fits) in
        [(json!([0, 8]), true), (json!([6]), false), (json!([9]), false), (json!(vec![0; 13]), false)]
    {
        let mut other = own.clone();
        other["state"]["moves"] = moves.clone();
        assert_eq!(goes_on(world.as_ref(), &task, &other), fits, "{moves}");
    }
}
