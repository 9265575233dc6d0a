//! What a traveller has asked, was told and has stated, and what is right about it.

use super::journey::{Journey, Slot};
use super::offer::{Offer, Query};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What was stated for a slot of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Name of the trip, room or sight.
    pub name: String,
    /// The hour; 0 for a room.
    pub hour: u32,
    /// The price; 0 for a sight.
    pub price: u32,
    /// Whether all of it had been told when it was stated.
    pub grounded: bool,
}

/// What has been asked, told and stated.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// How often each question was asked.
    pub asked: BTreeMap<String, u32>,
    /// The facts that were told.
    pub told: BTreeSet<String>,
    /// The slots that were stated, as last stated.
    pub stated: BTreeMap<Slot, Stated>,
    /// Questions that told nothing new.
    pub idle: u32,
}

impl Notes {
    pub(super) fn calls(&self) -> f64 {
        self.asked.values().map(|times| f64::from(*times)).sum()
    }

    /// Whether what a slot states was told for it.
    pub(super) fn grounded(&self, journey: &Journey, slot: Slot, name: &str, hour: u32, price: u32) -> bool {
        let query = journey.query(slot);
        let told = |label: &str, number: u32| self.told.contains(&format!("{query} {name} {label} {number}"));
        match slot {
            Slot::Go | Slot::Home => told("at", hour) && told("for", price),
            Slot::Stay => told("for", price),
            Slot::See => journey.offers(&query).iter().any(|offer| {
                let open = (offer.first..offer.second).contains(&hour);
                offer.name == name && open && told("opens", offer.first) && told("shuts", offer.second)
            }),
        }
    }

    /// Whether a plan can be made as it is stated: all slots that are due, in time, one after the other, for the money.
    pub(super) fn feasible(&self, journey: &Journey) -> bool {
        let hour = |slot: Slot| self.stated.get(&slot).map(|stated| stated.hour);
        let go = hour(Slot::Go).unwrap_or_default();
        let seen = hour(Slot::See);
        let cost = self.stated.values().fold(0_u32, |sum, stated| sum.saturating_add(stated.price));
        journey.due().all(|slot| self.stated.contains_key(&slot))
            && go <= journey.by
            && seen.is_none_or(|seen| seen > go)
            && hour(Slot::Home).is_none_or(|home| home > seen.unwrap_or(go))
            && cost <= journey.pay
    }

    /// What is wrong with notes that come from a snapshot.
    pub(super) fn check(&self, journey: &Journey) -> Result<(), String> {
        let facts = |offer: &Offer| {
            let facts = offer.facts();
            facts.into_iter().map(|(label, number)| offer.fact(label, number)).collect::<Vec<String>>()
        };
        let true_facts: BTreeSet<String> = journey.offers.iter().flat_map(facts).collect();
        if let Some(fact) = self.told.iter().find(|fact| !true_facts.contains(*fact)) {
            return Err(format!("`{fact}` was told, which is not so"));
        }
        let known = |query: &&String| Query::read(query).is_some_and(|read| read.is(query));
        if let Some(query) = self.asked.keys().find(|query| !known(query)) {
            return Err(format!("`{query}` was asked, which is no question"));
        }
        // What was told stays told: a slot that was grounded when it was stated still is.
        let possible = |(slot, stated): (&Slot, &Stated)| {
            let Stated { name, hour, price, grounded } = stated;
            let told = || self.grounded(journey, *slot, name, *hour, *price);
            slot.names().contains(&name.as_str()) && *hour < 100 && *price < 100 && (!grounded || told())
        };
        if self.stated.iter().all(possible) {
            Ok(())
        } else {
            Err("a slot states what nobody can, or was never told what it is said to be".to_owned())
        }
    }
}
