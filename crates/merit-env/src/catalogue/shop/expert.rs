//! How a shop is searched: right, with many thoughts, without a word about the item, at first sight, or without looking.

use super::super::{ATTRIBUTES, value_word};
use super::request::{Item, Wish};
use crate::script::next_line;
use merit_api::Demonstration;

pub(super) fn line(wish: &Wish, play: &Demonstration<'_>) -> Option<String> {
    let script = match play.manner.unwrap_or(if play.is_correct() { "exact" } else { "first" }) {
        "wordy" => thinking(searched(wish, true)),
        "silent" => searched(wish, false),
        "first" => at_first_sight(wish),
        "pushy" => unseen(wish, play),
        _ => searched(wish, true),
    };
    next_line(&script, play)
}

fn find(words: &[&str]) -> String {
    format!("find {}", words.join(" "))
}

fn pick(item: &Item, claims: &[&str]) -> String {
    let words =
        std::iter::once(format!("pick {}", item.number)).chain(claims.iter().map(|w| (*w).to_owned()));
    words.collect::<Vec<String>>().join(" ")
}

/// Searches for all words and looks at what it found until one is cheap enough.
fn searched(wish: &Wish, speaks: bool) -> Vec<String> {
    let mut script = vec![find(&wish.words())];
    for item in wish.found(&wish.wanted) {
        script.push(format!("show {}", item.number));
        if item.price < wish.under {
            script.push(pick(item, &if speaks { wish.claims(item) } else { Vec::new() }));
            return script;
        }
    }
    script.push("none".to_owned());
    script
}

/// The same with a thought before every line, which says what it will do.
fn thinking(script: Vec<String>) -> Vec<String> {
    script.into_iter().flat_map(|line| [format!("hm now {line}"), line]).collect()
}

/// Searches for the first word and takes the first item that is listed.
fn at_first_sight(wish: &Wish) -> Vec<String> {
    let search = find(wish.words().get(..1).unwrap_or_default());
    match wish.found(wish.wanted.get(..1).unwrap_or_default()).first() {
        Some(item) => vec![search, format!("show {}", item.number), pick(item, &wish.claims(item))],
        None => vec![search, "none".to_owned()],
    }
}

/// Takes the first item that is listed without looking at it, and makes up what it says.
fn unseen(wish: &Wish, play: &Demonstration<'_>) -> Vec<String> {
    let search = find(&wish.words());
    let mut rng = play.seed.child("made up", 0).stream();
    let claims: Vec<&str> = wish
        .tell
        .iter()
        .map(|attribute| value_word(*attribute, rng.below(ATTRIBUTES[0].1.len() as u64) as u8))
        .collect();
    match wish.found(&wish.wanted).first() {
        Some(item) => vec![search, pick(item, &claims)],
        None => vec![search, "none".to_owned()],
    }
}
