//! How a journey is planned: right, by price alone, carelessly, or out of one's head.

use super::journey::{Journey, Slot};
use super::offer::{Offer, ROOMS, SIGHTS, TRIPS};
use crate::script::next_line;
use merit_api::Demonstration;
use merit_core::Stream;
use std::collections::BTreeSet;

pub(super) fn line(journey: &Journey, drop: Option<f64>, play: &Demonstration<'_>) -> Option<String> {
    let mut rng = play.seed.child("journey", 0).stream();
    let best = || journey.best().unwrap_or_default();
    let (plan, careful) = match play.manner.unwrap_or(if play.is_correct() { "exact" } else { "careless" }) {
        "cheap" => (cheapest(journey), true),
        "careless" => (any(journey, &mut rng), false),
        "dreamer" => return next_line(&dreamt(journey, &best(), drop, &mut rng), play),
        _ => (best(), true),
    };
    let script = plan.iter().flat_map(|(slot, _, _)| asked(journey, *slot, drop, careful));
    let stated = plan.iter().map(|(slot, offer, hour)| stated(*slot, offer, *hour));
    let script: Vec<String> = script.chain(stated).chain(["done".to_owned()]).collect();
    next_line(&script, play)
}

/// Asks for what a slot takes; where it is careful, until all has been told.
fn asked(journey: &Journey, slot: Slot, drop: Option<f64>, careful: bool) -> Vec<String> {
    let query = journey.query(slot);
    let whole: BTreeSet<String> = journey.answer(&query, 0, None).1.into_iter().collect();
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut times = 0;
    while times == 0 || careful && times < 3 && !whole.is_subset(&told) {
        told.extend(journey.answer(&query, times, drop).1);
        times += 1;
    }
    vec![query; times as usize]
}

fn stated(slot: Slot, offer: &Offer, hour: u32) -> String {
    let (word, name) = (slot.word(), &offer.name);
    match slot {
        Slot::Stay => format!("{word} {name} {}", offer.second),
        Slot::See => format!("{word} {name} {hour}"),
        Slot::Go | Slot::Home => format!("{word} {name} {} {}", offer.first, offer.second),
    }
}

/// The cheapest of everything, and the first sight when it opens, whatever the hours are.
fn cheapest(journey: &Journey) -> Vec<(Slot, Offer, u32)> {
    let pick = |slot: Slot| {
        let offers = journey.offers(&journey.query(slot));
        let price = |offer: &&Offer| if slot == Slot::See { 0 } else { offer.second };
        offers.into_iter().min_by_key(price).map(|offer| (slot, offer.clone(), offer.first))
    };
    journey.due().filter_map(pick).collect()
}

/// Anything that is on offer, at any hour at which it is open.
fn any(journey: &Journey, rng: &mut Stream) -> Vec<(Slot, Offer, u32)> {
    let mut plan = Vec::new();
    for slot in journey.due() {
        let offers = journey.offers(&journey.query(slot));
        if let Some(offer) = rng.pick(&offers) {
            let open = u64::from(offer.second.saturating_sub(offer.first));
            let later = if slot == Slot::See { rng.below(open) as u32 } else { 0 };
            plan.push((slot, Offer::clone(offer), offer.first + later));
        }
    }
    plan
}

/// The right plan, but for one slot or more it asks nobody and states what would suit.
fn dreamt(
    journey: &Journey,
    best: &[(Slot, Offer, u32)],
    drop: Option<f64>,
    rng: &mut Stream,
) -> Vec<String> {
    let sure = rng.below(best.len() as u64) as usize;
    let dreams: Vec<bool> = (0..best.len()).map(|at| at == sure || rng.chance(0.5)).collect();
    let mut script = Vec::new();
    for (slot, _) in best.iter().map(|(slot, _, _)| slot).zip(&dreams).filter(|(_, dreams)| !**dreams) {
        script.extend(asked(journey, *slot, drop, true));
    }
    let mut hour = 0;
    for ((slot, offer, right), dreams) in best.iter().zip(&dreams) {
        let mut word = |words: &[&str]| rng.pick(words).copied().unwrap_or_default().to_owned();
        hour = if *slot == Slot::Stay { hour } else { (*right).max(hour + 1).min(24) };
        let line = match (slot, dreams) {
            (_, false) => stated(*slot, offer, hour),
            (Slot::Go, true) => format!("go {} {} 1", word(&TRIPS), journey.by),
            (Slot::Stay, true) => format!("stay {} 1", word(&ROOMS)),
            (Slot::See, true) => format!("see {} {hour}", word(&SIGHTS)),
            (Slot::Home, true) => format!("home {} {hour} 1", word(&TRIPS)),
        };
        hour = if *slot == Slot::Go && *dreams { journey.by } else { hour };
        script.push(line);
    }
    script.push("done".to_owned());
    script
}
