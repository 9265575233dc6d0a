//! What a ledger task is about: signed counts of items with hidden prices, drawn from a seed and checked when read back.

use super::{Kind, SIZES};
use merit_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Everything that can be bought: short words of one length, all different.
pub const ITEMS: [&str; 24] = [
    "bag", "bed", "box", "cup", "fan", "gem", "hat", "ink", "jar", "key", "log", "map", "mug", "net", "oil",
    "pan", "pen", "pot", "rug", "saw", "tea", "tin", "toy", "wax",
];
const COUNTS: (i64, i64) = (2, 9);
pub(super) const PRICES: (i64, i64) = (11, 99);
/// More than anything costs.
pub(super) const MAX_PRICE: i64 = PRICES.1 + 1;
/// How often a return is tried; a third to a half of later entries then are returns.
const RETURN_SHARE: f64 = 0.7;

/// Whether an entry adds or subtracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sign {
    /// Adds to the sum.
    Buy,
    /// Subtracts from the sum.
    Return,
}

/// One entry of the question.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Whether it adds or subtracts.
    pub sign: Sign,
    /// How many pieces.
    pub count: i64,
    pub item: String,
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purchase {
    /// In the order of the question; the first is bought, and no running total is negative.
    pub entries: Vec<Entry>,
    /// Unit prices of the named items and of some others; what the lookup tool answers from.
    pub table: BTreeMap<String, i64>,
    /// What is asked of it. Absent: the total, where nothing else is ever asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The price that is asked about. Absent: none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<i64>,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.sign == Sign::Buy { "buy" } else { "return" };
        write!(f, "{verb} {} {}", self.count, self.item)
    }
}

impl Entry {
    /// Two of an item.
    pub(super) fn one(item: String) -> Self {
        Self { sign: Sign::Buy, count: COUNTS.0, item }
    }

    /// What the entry adds at a unit price.
    pub fn amount(&self, price: i64) -> i64 {
        if self.sign == Sign::Buy { self.count * price } else { -self.count * price }
    }
}

impl Purchase {
    /// Draws a purchase. A return that would make the running total negative is a purchase instead.
    pub(super) fn draw(size: u32, distractors: u32, stream: &mut Stream) -> Self {
        let mut items = ITEMS;
        stream.shuffle(&mut items);
        let known = &items[..(size + distractors) as usize];
        let table: BTreeMap<String, i64> =
            known.iter().map(|item| ((*item).to_owned(), stream.between(PRICES.0, PRICES.1))).collect();
        let mut total = 0;
        let entry = |item: &&str| {
            let count = stream.between(COUNTS.0, COUNTS.1);
            let amount = count * table[*item];
            let sign = if stream.chance(RETURN_SHARE) && total >= amount { Sign::Return } else { Sign::Buy };
            let entry = Entry { sign, count, item: (*item).to_owned() };
            total += entry.amount(table[*item]);
            entry
        };
        let entries = known.iter().take(size as usize).map(entry).collect();
        Self { entries, table, kind: None, under: None }
    }

    /// What is asked of it.
    pub fn kind(&self) -> Kind {
        self.kind.unwrap_or_default()
    }

    /// What makes the task what it is: order and distractors do not, so a reordered question stays in its split.
    pub(super) fn content(&self) -> String {
        let mut parts: Vec<String> =
            self.entries.iter().map(|entry| format!("{entry} at {}", self.price(entry))).collect();
        parts.sort();
        match self.kind {
            None => parts.join(", "),
            Some(kind) => format!("{kind:?} {}", parts.join(", ")),
        }
    }

    /// The unit price of an entry's item; the table of a checked purchase has every one.
    pub(super) fn price(&self, entry: &Entry) -> i64 {
        self.table.get(&entry.item).copied().unwrap_or_default()
    }

    /// The running total after each entry.
    pub(super) fn totals(&self) -> impl Iterator<Item = i64> {
        self.entries.iter().scan(0, |total, entry| {
            *total += entry.amount(self.price(entry));
            Some(*total)
        })
    }

    /// The right answer.
    pub fn total(&self) -> i64 {
        self.totals().last().unwrap_or_default()
    }

    /// What the agent is asked.
    pub fn question(&self) -> String {
        let parts: Vec<String> = self.entries.iter().map(Entry::to_string).collect();
        format!("{}. total?", parts.join(", "))
    }

    /// What is wrong with a purchase that comes from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        let size = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if !SIZES.contains(&size) {
            return Err(format!("it has {size} entries; {} to {} are possible", SIZES.start(), SIZES.end()));
        }
        let within = |(low, high): (i64, i64), value: i64| (low..=high).contains(&value);
        for entry in &self.entries {
            let price = self.table.get(&entry.item);
            if !within(COUNTS, entry.count) || !price.is_some_and(|&price| within(PRICES, price)) {
                return Err(format!("entry `{entry}` has the price {price:?} in its table, or a bad count"));
            }
        }
        if self.totals().any(|total| total < 0) {
            return Err("a running total is negative".to_owned());
        }
        self.check_kind()
    }
}
