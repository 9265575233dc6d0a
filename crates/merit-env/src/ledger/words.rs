//! Plays tasks whose answer has a word for each entry: prices that are looked up one after the other, and names that one query finds.

use super::expert::{Manner, answered, invented_price, slips};
use super::purchase::ITEMS;
use super::{Kind, Purchase};
use merit_api::ExpertTurn;
use merit_core::{Role, Seed};

/// The next line of a demonstration.
pub(super) fn next_line(purchase: &Purchase, turns: &[ExpertTurn], manner: Manner, seed: &Seed) -> String {
    let found = if purchase.kind() == Kind::Sql {
        names(purchase, turns, manner)
    } else {
        prices(purchase, turns, manner)
    };
    let mut words: Vec<String> = match found {
        Found::Missing(line) => return line,
        Found::All(words) => words,
        Found::Guess => (0..purchase.entries.len()).map(|at| other(purchase, at, seed)).collect(),
    };
    if manner == Manner::Hasty {
        words.truncate(1);
    }
    for (at, word) in words.iter_mut().enumerate() {
        if slips(purchase, manner, at as u64, seed) {
            *word = other(purchase, at, seed);
        }
    }
    format!("answer {}", words.join(" "))
}

/// What has been found out.
enum Found {
    /// Not enough: the line that asks for more.
    Missing(String),
    /// The words of the answer.
    All(Vec<String>),
    /// Nothing, and nothing is asked for.
    Guess,
}

fn prices(purchase: &Purchase, turns: &[ExpertTurn], manner: Manner) -> Found {
    if manner == Manner::Guesser {
        return Found::Guess;
    }
    let price = |item: &str| {
        let asked = turns.iter().filter(|turn| turn.said.strip_prefix("lookup ") == Some(item));
        asked.filter_map(|turn| answered(&turn.observed)).next()
    };
    let wanted = if manner == Manner::Hasty { 1 } else { purchase.entries.len() };
    let mut words = Vec::new();
    for entry in purchase.entries.iter().take(wanted) {
        match price(&entry.item) {
            Some(price) => words.push(price.to_string()),
            None => return Found::Missing(format!("lookup {}", entry.item)),
        }
    }
    Found::All(words)
}

fn names(purchase: &Purchase, turns: &[ExpertTurn], manner: Manner) -> Found {
    if manner == Manner::Guesser {
        return Found::Guess;
    }
    let shows = |turn: &ExpertTurn| {
        let tool = turn.observed.iter().find(|message| matches!(message.role, Role::Tool | Role::User))?;
        let words: Vec<String> = tool.text.split_whitespace().map(str::to_owned).collect();
        words.iter().all(|word| purchase.table.contains_key(word)).then_some(words)
    };
    let asked = turns.iter().filter(|turn| turn.said.starts_with("sql "));
    match asked.filter_map(shows).find(|words| !words.is_empty()) {
        Some(words) => Found::All(words),
        None => Found::Missing(format!("sql price<{}", purchase.under.unwrap_or_default())),
    }
}

/// A word that does not belong at this place.
fn other(purchase: &Purchase, at: usize, seed: &Seed) -> String {
    let Some(entry) = purchase.entries.get(at) else { return "0".to_owned() };
    let seed = seed.child("invented", at as u64);
    if purchase.kind() == Kind::Sql {
        let others: Vec<&str> = ITEMS.into_iter().filter(|item| *item != entry.item).collect();
        return seed.stream().pick(&others).map_or_else(String::new, |item| (*item).to_owned());
    }
    let invented = invented_price(entry, None, &seed);
    (if invented == purchase.price(entry) { invented + 1 } else { invented }).to_string()
}
