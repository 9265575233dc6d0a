//! What can be asked about towns, and what is on offer there.

use serde::{Deserialize, Serialize};

pub(super) const TOWNS: [&str; 12] =
    ["rome", "bonn", "oslo", "cork", "nice", "bath", "lyon", "graz", "bern", "york", "kiel", "brest"];
pub(super) const TRIPS: [&str; 5] = ["bus", "rail", "boat", "jet", "van"];
pub(super) const ROOMS: [&str; 6] = ["inn", "lodge", "camp", "hut", "loft", "hall"];
pub(super) const SIGHTS: [&str; 6] = ["zoo", "park", "fort", "dome", "pier", "mill"];

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    Trips(&'static str, &'static str),
    Rooms(&'static str),
    Sights(&'static str),
}

impl Query {
    /// The question that a line asks; absent where it asks none.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let town = |word: &str| TOWNS.into_iter().find(|town| *town == word);
        match (words.next()?, words.next()?, words.next(), words.next()) {
            ("trips", from, Some(to), None) => Some(Self::Trips(town(from)?, town(to)?)),
            ("rooms", at, None, None) => town(at).map(Self::Rooms),
            ("sights", at, None, None) => town(at).map(Self::Sights),
            _ => None,
        }
    }

    /// Whether a line asks it as it is written here.
    pub(super) fn is(&self, line: &str) -> bool {
        let words = line.split(' ');
        match self {
            Self::Trips(from, to) => words.eq(["trips", from, to]),
            Self::Rooms(at) => words.eq(["rooms", at]),
            Self::Sights(at) => words.eq(["sights", at]),
        }
    }

    /// The line that asks it.
    pub fn said(&self) -> String {
        match self {
            Self::Trips(from, to) => format!("trips {from} {to}"),
            Self::Rooms(at) => format!("rooms {at}"),
            Self::Sights(at) => format!("sights {at}"),
        }
    }

    /// The two numbers that an option has, by name; a room has only the second.
    fn labels(&self) -> [&'static str; 2] {
        if matches!(self, Self::Sights(_)) { ["opens", "shuts"] } else { ["at", "for"] }
    }
}

/// Something to take: a trip with its hour and price, a room with its price, a sight that opens at one hour and shuts at another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The line that asks for it.
    pub query: String,
    /// What it is called; no two that answer one question are called the same.
    pub name: String,
    /// The hour of a trip, or that at which a sight opens; 0 for a room.
    pub first: u32,
    /// The price of a trip or a room, or the hour at which a sight shuts.
    pub second: u32,
}

impl Offer {
    /// What there is to know about it, one fact for each number.
    pub fn facts(&self) -> Vec<(&'static str, u32)> {
        let Some(query) = Query::read(&self.query) else { return Vec::new() };
        let [first, second] = query.labels();
        if matches!(query, Query::Rooms(_)) {
            vec![(second, self.second)]
        } else {
            vec![(first, self.first), (second, self.second)]
        }
    }

    /// A fact as it is remembered.
    pub fn fact(&self, label: &str, number: u32) -> String {
        format!("{} {} {label} {number}", self.query, self.name)
    }

    pub(super) fn line(&self, facts: &[(&str, u32)]) -> String {
        let told = facts.iter().map(|(label, number)| format!(" {label} {number}")).collect::<String>();
        format!("{}{told}", self.name)
    }
}
