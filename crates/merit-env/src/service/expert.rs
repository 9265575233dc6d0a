//! How the desk is worked: right, in haste, blindly, or asking too much.

use super::Case;
use super::shop::{NAMES, TOWNS, Wish};
use merit_api::{Demonstration, ExpertTurn};

/// What has been seen so far.
struct Seen<'a> {
    case: &'a Case,
    turns: &'a [ExpertTurn],
}

impl Seen<'_> {
    fn said(&self, line: &str) -> usize {
        self.turns.iter().filter(|turn| turn.said.trim() == line).count()
    }

    fn heard(&self, text: &str) -> bool {
        self.turns.iter().flat_map(|turn| &turn.observed).any(|message| message.text == text)
    }

    /// Whether a fact was told at once or has been answered; a slip counts until it is corrected.
    fn knows(&self, fact: usize) -> bool {
        self.case.told[fact] || self.heard(&self.case.fact(fact)) || fact == 1 && self.said("ask order") > 0
    }

    /// The order that is meant, as far as the person has said.
    fn number(&self) -> u32 {
        let right = self.case.fact(1);
        let corrected = self.heard(&right) || self.heard(&format!("no {right}"));
        let slipped = self.case.slip != 0 && !self.case.told[1] && !corrected;
        if slipped { self.case.slip } else { self.case.number }
    }
}

pub(super) fn line(case: &Case, play: &Demonstration<'_>) -> String {
    let seen = Seen { case, turns: play.turns };
    match play.manner.unwrap_or(if play.is_correct() { "exact" } else { "hasty" }) {
        "hasty" => hasty(&seen, play),
        "blind" => asked(&seen, false).unwrap_or_else(|| done(&seen, false)),
        "nosy" => asked(&seen, true).unwrap_or_else(|| done(&seen, true)),
        _ => asked(&seen, false).unwrap_or_else(|| done(&seen, true)),
    }
}

/// The next question, if one is left.
fn asked(seen: &Seen<'_>, all: bool) -> Option<String> {
    let facts = if seen.case.wish == Wish::Move { 4 } else { 3 };
    let names = ["ask name", "ask order", "ask wish", "ask town"];
    let due = |fact: &usize| !seen.knows(*fact) || all && seen.said(names[*fact]) == 0;
    (0..facts).find(due).map(|fact| names[fact].to_owned())
}

/// The next step on the books: looking first and telling what has to be told where it is `careful`.
fn done(seen: &Seen<'_>, careful: bool) -> String {
    let case = seen.case;
    let find = format!("find {}", case.name);
    if seen.said(&find) == 0 {
        return find;
    }
    let number = seen.number();
    let look = format!("order {number}");
    if careful && seen.said(&look) == 0 {
        return look;
    }
    let write = match case.wish {
        Wish::Cancel => format!("cancel {number}"),
        Wish::Refund => format!("refund {number}"),
        Wish::Move => format!("move {number} {}", case.town),
    };
    let permitted = !careful || case.permitted();
    if permitted && seen.said(&write) == 0 {
        return write;
    }
    let told = case.output().map(|output| format!("tell {output}"));
    match told {
        Some(tell) if careful && seen.said(&tell) == 0 => tell,
        _ => "done".to_owned(),
    }
}

/// Guesses what was not told, changes the order at once, says what it stands at, and leaves.
fn hasty(seen: &Seen<'_>, play: &Demonstration<'_>) -> String {
    let case = seen.case;
    let mut rng = play.seed.child("guess", 0).stream();
    let number =
        if case.told[1] { case.number } else { rng.pick(&case.orders).map_or(10, |order| order.number) };
    let wish = if case.told[2] { case.wish } else { rng.pick(&Wish::ALL).copied().unwrap_or(Wish::Cancel) };
    let town = if case.told[3] { case.town.as_str() } else { rng.pick(&TOWNS).copied().unwrap_or_default() };
    let name = if case.told[0] { case.name.as_str() } else { rng.pick(&NAMES).copied().unwrap_or_default() };
    let change = match wish {
        Wish::Cancel => format!("cancel {number}"),
        Wish::Refund => format!("refund {number}"),
        Wish::Move => format!("move {number} {town}"),
    };
    // Half of the time somebody is looked for first, told or guessed.
    let steps = if rng.chance(0.5) { vec![format!("find {name}"), change] } else { vec![change] };
    steps.into_iter().nth(play.turns.len()).unwrap_or_else(|| "done".to_owned())
}
