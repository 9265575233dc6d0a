//! Pairs made up for tests, whose reasons are known.

use merit_core::registry::Components;
use merit_core::{Seed, Stream};
use merit_judge::{Pair, read_pairs};
use serde_json::{Value, json};
use std::path::Path;

/// The components that checks are made of.
pub(crate) fn components() -> Components {
    merit_graders::register(merit_reward::register(Components::default()))
}

/// Orders as JSON documents: the one with the higher `stars` is better, whatever its other fields say. Every number occurs once, so
/// that no single word tells.
pub(crate) fn orders(count: u64, path: &Path) -> Vec<Pair> {
    let mut stream = Seed::root(11).stream();
    let order = |stars: u64, stream: &mut Stream| {
        let colour = ["red", "green", "blue"][stream.below(3) as usize];
        json!({ "stars": stars, "colour": colour, "note": "n".repeat(1 + stream.below(30) as usize) })
    };
    let line = |at: u64| {
        let (better, worse) = (10_000 + at * 7 + stream.below(7), 100 + at * 7 + stream.below(7));
        let (chosen, rejected) = (order(better, &mut stream), order(worse, &mut stream));
        json!({ "prompt": format!("order {at}"), "chosen": chosen, "rejected": rejected })
    };
    written(path, (0..count).map(line).collect())
}

/// Answers of which the longer one is better, and nothing else.
pub(crate) fn long_is_good(count: u64, path: &Path) -> Vec<Pair> {
    let mut stream = Seed::root(12).stream();
    let words = |n: u64, stream: &mut Stream| {
        let word = |stream: &mut Stream| format!("w{}", stream.below(5000));
        (0..n).map(|_| word(stream)).collect::<Vec<_>>().join(" ")
    };
    let line = |at: u64| {
        let short = 3 + stream.below(10);
        let long = short + 10 + stream.below(10);
        let (chosen, rejected) = (words(long, &mut stream), words(short, &mut stream));
        json!({ "prompt": format!("question {at}"), "chosen": chosen, "rejected": rejected })
    };
    written(path, (0..count).map(line).collect())
}

fn written(path: &Path, lines: Vec<Value>) -> Vec<Pair> {
    let text: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).expect("a file in a temporary folder");
    read_pairs(path).expect("pairs that were just made")
}
