//! A journey that somebody wants: how it is drawn, what can be made of what is on offer, and what is answered to a question.

use super::offer::{Offer, Query, ROOMS, SIGHTS, TOWNS, TRIPS};
use merit_core::{Seed, Stream};
use serde::{Deserialize, Serialize};

/// Towns of which rooms and sights are on offer.
const NEAR: usize = 6;
/// The last hour of a day, and more than any trip or room costs.
const LATEST: u32 = 24;
/// More than any plan costs.
const MAX_PAY: u32 = 99;
/// Journeys that are drawn until one can be made.
const MAX_DRAWS: usize = 500;

/// A part of a plan, in the order in which they become due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slot {
    Go,
    Stay,
    See,
    Home,
}

impl Slot {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Go, Self::Stay, Self::See, Self::Home];

    /// Its word in prompts and lines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Stay => "stay",
            Self::See => "see",
            Self::Home => "home",
        }
    }

    /// What it can be called.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Go | Self::Home => &TRIPS,
            Self::Stay => &ROOMS,
            Self::See => &SIGHTS,
        }
    }
}

/// An offer for each slot, and its hour.
type Plan<'a> = Vec<(Slot, &'a Offer, u32)>;

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journey {
    /// The town where it begins.
    pub from: String,
    /// The town where it goes.
    pub to: String,
    /// The hour by which one has to be there.
    pub by: u32,
    /// What trips and the room may cost together.
    pub pay: u32,
    /// How many slots are due, 1 to 4.
    pub slots: u32,
    /// Everything that can be asked for, in all towns.
    pub offers: Vec<Offer>,
    /// Decides what a live answer leaves out.
    pub noise: u32,
}

impl Journey {
    /// Draws a journey that can be made, and for which the money is at most `slack` more than the least.
    pub fn draw(slots: u32, options: u32, slack: u32, rng: &mut Stream) -> Self {
        let mut journey = Self::drawn(slots, options, rng);
        for _ in 0..MAX_DRAWS {
            if let Some(plan) = journey.best() {
                journey.pay = journey.cost(&plan) + rng.below(u64::from(slack) + 1) as u32;
                break;
            }
            journey = Self::drawn(slots, options, rng);
        }
        journey
    }

    fn drawn(slots: u32, options: u32, rng: &mut Stream) -> Self {
        let mut towns = TOWNS;
        rng.shuffle(&mut towns);
        let (from, to) = (towns[0], towns[1]);
        let mut offers = Vec::new();
        let mut add = |query: String, count: usize, names: &[&str], first: [i64; 2], rng: &mut Stream| {
            let mut names = names.to_vec();
            rng.shuffle(&mut names);
            let mut costs = [1, 2, 3, 4, 5, 6, 7, 8, 9];
            rng.shuffle(&mut costs);
            for (name, cost) in names.into_iter().zip(costs).take(count) {
                let sight = query.starts_with("sights");
                let first = rng.between(first[0], first[1]) as u32;
                let second = if sight { first + 1 + rng.below(5) as u32 } else { cost };
                offers.push(Offer { query: query.clone(), name: name.to_owned(), first, second });
            }
        };
        let options = options as usize;
        add(format!("trips {from} {to}"), options, &TRIPS, [6, 14], rng);
        add(format!("trips {to} {from}"), options, &TRIPS, [12, 22], rng);
        for (at, town) in towns.iter().take(NEAR).enumerate() {
            let count = if at == 1 { options } else { 1 };
            add(format!("rooms {town}"), count, &ROOMS, [0, 0], rng);
            add(format!("sights {town}"), count, &SIGHTS, [7, 16], rng);
            if at > 1 {
                add(format!("trips {from} {town}"), 1, &TRIPS, [6, 14], rng);
            }
        }
        let there = format!("trips {from} {to}");
        let hours: Vec<u32> =
            offers.iter().filter(|offer| offer.query == there).map(|offer| offer.first).collect();
        let by = rng.pick(&hours).copied().unwrap_or_default();
        let (from, to) = (from.to_owned(), to.to_owned());
        Self { from, to, by, pay: MAX_PAY, slots, offers, noise: rng.below(1 << 30) as u32 }
    }

    /// The line that asks for what a slot takes.
    pub fn query(&self, slot: Slot) -> String {
        let (from, to) = (&self.from, &self.to);
        match slot {
            Slot::Go => format!("trips {from} {to}"),
            Slot::Stay => format!("rooms {to}"),
            Slot::See => format!("sights {to}"),
            Slot::Home => format!("trips {to} {from}"),
        }
    }

    /// What there is to answer to a question.
    pub fn offers(&self, query: &str) -> Vec<&Offer> {
        self.offers.iter().filter(|offer| offer.query == query).collect()
    }

    /// The slots that are due.
    pub fn due(&self) -> impl Iterator<Item = Slot> {
        Slot::ALL.into_iter().take(self.slots as usize)
    }

    /// The cheapest plan that can be made, of all that is on offer: an offer for each slot, and the hour at which a sight is seen.
    pub fn best(&self) -> Option<Vec<(Slot, Offer, u32)>> {
        let (_, plan) = self.cheapest()?;
        Some(plan.into_iter().map(|(slot, offer, hour)| (slot, offer.clone(), hour)).collect())
    }

    /// The same with what it costs; of equals the first.
    fn cheapest(&self) -> Option<(u32, Plan<'_>)> {
        let offers: Vec<(Slot, Vec<&Offer>)> =
            self.due().map(|slot| (slot, self.offers(&self.query(slot)))).collect();
        let mut best = None;
        self.extend(&offers, (0, 0), &mut Vec::with_capacity(offers.len()), &mut best);
        best
    }

    /// Tries every offer for the first slot that is left, and what follows. Before them come the latest hour and the cost so far.
    fn extend<'a>(
        &self,
        left: &[(Slot, Vec<&'a Offer>)],
        (latest, cost): (u32, u32),
        plan: &mut Plan<'a>,
        best: &mut Option<(u32, Plan<'a>)>,
    ) {
        let Some(((slot, offers), rest)) = left.split_first() else {
            if cost <= self.pay && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                *best = Some((cost, plan.clone()));
            }
            return;
        };
        for offer in offers {
            let (fits, hour, price) = match slot {
                Slot::Go => (offer.first <= self.by, offer.first, offer.second),
                Slot::Stay => (true, 0, offer.second),
                Slot::See => (latest + 1 < offer.second, offer.first.max(latest + 1), 0),
                Slot::Home => (offer.first > latest, offer.first, offer.second),
            };
            if fits {
                plan.push((*slot, offer, hour));
                self.extend(rest, (latest.max(hour), cost + price), plan, best);
                plan.pop();
            }
        }
    }

    pub fn cost(&self, plan: &[(Slot, Offer, u32)]) -> u32 {
        plan.iter().filter(|(slot, _, _)| *slot != Slot::See).map(|(_, offer, _)| offer.second).sum()
    }

    /// What is answered to a query that was asked `times` before, and the facts in it. Without `drop` always the same; with it
    /// numbers come in any order and are left out by this chance, but none from the third time on.
    pub fn answer(&self, query: &str, times: u32, drop: Option<f64>) -> (String, Vec<String>) {
        let stream = || Seed::root(u64::from(self.noise)).child(query, u64::from(times)).stream();
        let mut noise = drop.map(|drop| (drop, stream()));
        let mut offers = self.offers(query);
        let (mut lines, mut told) = (Vec::new(), Vec::new());
        if let Some((_, rng)) = &mut noise {
            rng.shuffle(&mut offers);
        }
        for offer in offers {
            let mut facts = offer.facts();
            if let Some((drop, rng)) = &mut noise {
                rng.shuffle(&mut facts);
                facts.retain(|_| !rng.chance(*drop) || times >= 2);
            }
            lines.push(offer.line(&facts));
            told.extend(facts.iter().map(|(label, number)| offer.fact(label, *number)));
        }
        (if lines.is_empty() { "none".to_owned() } else { lines.join(", ") }, told)
    }

    pub fn said(&self) -> String {
        let due: Vec<&str> = self.due().map(Slot::word).collect();
        format!("{} to {} by {} pay {} plan {}", self.from, self.to, self.by, self.pay, due.join(" "))
    }

    /// What is wrong with a journey that comes from a file.
    pub fn check(&self, size: u32) -> Result<(), String> {
        let town = |name: &str| TOWNS.contains(&name);
        if !town(&self.from) || !town(&self.to) || self.from == self.to {
            return Err(format!("it goes from {} to {}", self.from, self.to));
        }
        if self.slots != size || !(1..=4).contains(&size) {
            return Err(format!("{} slots are due, its size is {size}", self.slots));
        }
        if self.by > LATEST || self.pay > MAX_PAY {
            return Err(format!("it is to be there by {} and can pay {}", self.by, self.pay));
        }
        let odd = |offer: &&Offer| {
            let query = Query::read(&offer.query);
            let names: &[&str] = match query {
                Some(Query::Trips(..)) => &TRIPS,
                Some(Query::Rooms(_)) => &ROOMS,
                Some(Query::Sights(_)) => &SIGHTS,
                None => &[],
            };
            let plain = query.is_some_and(|query| query.is(&offer.query));
            let shut = offer.query.starts_with("sights") && offer.first >= offer.second;
            let known = plain && names.contains(&offer.name.as_str());
            !known || shut || offer.first > LATEST || offer.second > LATEST
        };
        if let Some(offer) = self.offers.iter().find(odd) {
            return Err(format!("it offers {} to `{}`", offer.name, offer.query));
        }
        let known = |at: usize, offer: &Offer| {
            self.offers[..at].iter().any(|other| other.name == offer.name && other.query == offer.query)
        };
        if self.offers.len() > 60 || self.offers.iter().enumerate().any(|(at, offer)| known(at, offer)) {
            return Err("it has an offer twice, or too many".to_owned());
        }
        self.cheapest().map(|_| ()).ok_or_else(|| "no plan can be made of its offers".to_owned())
    }
}
