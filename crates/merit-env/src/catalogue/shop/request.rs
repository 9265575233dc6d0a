//! What a shop has and what somebody wants of it: how both are drawn, and what is right.

use super::super::{ATTRIBUTES, attribute_name, value_word};
use merit_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Items that a search lists at most.
pub const LISTED: usize = 4;
/// Attributes that somebody wants to hear about.
const TOLD: usize = 2;
/// Constraints of a wish, the price among them.
pub(super) const SIZES: std::ops::RangeInclusive<u32> = 2..=4;

/// An item of the shop: its number, its value of each attribute, its price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// 10 to 99.
    pub number: u32,
    /// The place of the value of each attribute.
    pub values: [u8; 7],
    /// 1 to 9.
    pub price: u8,
}

impl Item {
    /// Whether it has all of these values.
    pub fn has(&self, wanted: &[(u8, u8)]) -> bool {
        wanted.iter().all(|(attribute, value)| self.values.get(usize::from(*attribute)) == Some(value))
    }

    /// Everything about it, as the shop tells it.
    pub fn detail(&self) -> String {
        let words: Vec<&str> =
            self.values.iter().zip(0_u8..).map(|(value, at)| value_word(at, *value)).collect();
        format!("{} {}", words.join(" "), self.price)
    }
}

/// The puzzle of a task: the shop, and a wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// What the shop has, by number.
    pub items: Vec<Item>,
    /// The values that an item must have: the places of attribute and value.
    pub wanted: Vec<(u8, u8)>,
    /// The item must cost less.
    pub under: u8,
    /// The attributes that the person wants to hear about.
    pub tell: Vec<u8>,
}

impl Wish {
    /// Draws a wish of `size` constraints, the price among them, and a shop of `count` items. In a shop without the right
    /// one, either nothing has all the values, or all that has them is too dear.
    pub fn draw(size: u32, count: u32, infeasible: f64, rng: &mut Stream) -> Self {
        let mut order = [0_u8, 1, 2, 3, 4, 5, 6];
        rng.shuffle(&mut order);
        let (asked, rest) = order.split_at((size as usize).saturating_sub(1).min(3));
        let wanted: Vec<(u8, u8)> = asked.iter().map(|attribute| (*attribute, rng.below(5) as u8)).collect();
        let under = 3 + rng.below(5) as u8;
        let feasible = !rng.chance(infeasible);
        let alike = if !feasible && rng.chance(0.5) { 0 } else { 2 + rng.below(LISTED as u64 - 1) as usize };
        let mut numbers: Vec<u32> = (10..100).collect();
        rng.shuffle(&mut numbers);
        let numbers = numbers.into_iter().take(count as usize).enumerate();
        let mut items: Vec<Item> = numbers
            .map(|(at, number)| {
                let mut values = std::array::from_fn(|_| rng.below(5) as u8);
                let mut price = 1 + rng.below(9) as u8;
                // The first have all the values, then come those that miss one and are cheap, then any that miss at least one.
                let nearly = at < alike + asked.len();
                if nearly {
                    set(&mut values, &wanted);
                    price = if at >= alike || feasible && at == 0 {
                        1 + rng.below(u64::from(under) - 1) as u8
                    } else {
                        under + rng.below(u64::from(10 - under)) as u8
                    };
                }
                let missing = if nearly { wanted.get(at.saturating_sub(alike)) } else { rng.pick(&wanted) };
                let item = Item { number, values, price };
                if let Some((attribute, value)) = missing.filter(|_| at >= alike && item.has(&wanted)) {
                    let other = (value + 1 + rng.below(4) as u8) % 5;
                    set(&mut values, &[(*attribute, other)]);
                }
                Item { number, values, price }
            })
            .collect();
        items.sort_by_key(|item| item.number);
        Self { items, wanted, under, tell: rest.iter().take(TOLD).copied().collect() }
    }

    pub fn item(&self, number: u32) -> Option<&Item> {
        self.items.iter().find(|item| item.number == number)
    }

    /// The items with these values, by number.
    pub fn found(&self, values: &[(u8, u8)]) -> Vec<&Item> {
        self.items.iter().filter(|item| item.has(values)).collect()
    }

    /// The item that is wanted; none where the shop has none.
    pub fn right(&self) -> Option<&Item> {
        self.items.iter().find(|item| item.has(&self.wanted) && item.price < self.under)
    }

    /// The share of the constraints that an item keeps.
    pub fn share(&self, item: &Item) -> f64 {
        let kept = self.wanted.iter().filter(|value| item.has(&[**value])).count();
        let kept = kept + usize::from(item.price < self.under);
        kept as f64 / (self.wanted.len() + 1) as f64
    }

    /// What is true of an item and the person wants to hear, in words.
    pub fn claims(&self, item: &Item) -> Vec<&'static str> {
        let value = |attribute: &u8| item.values.get(usize::from(*attribute)).copied();
        self.tell.iter().filter_map(|attribute| Some(value_word(*attribute, value(attribute)?))).collect()
    }

    /// The words of the wanted values.
    pub fn words(&self) -> Vec<&'static str> {
        self.wanted.iter().map(|(attribute, value)| value_word(*attribute, *value)).collect()
    }

    pub fn said(&self) -> String {
        let tell: Vec<&str> = self.tell.iter().map(|attribute| attribute_name(*attribute)).collect();
        format!("want {} under {} tell {}", self.words().join(" "), self.under, tell.join(" "))
    }

    /// What is wrong with a wish that comes from a file.
    pub fn check(&self, size: u32) -> Result<(), String> {
        let named = |attribute: u8| usize::from(attribute) < ATTRIBUTES.len();
        let numbers: BTreeSet<u32> = self.items.iter().map(|item| item.number).collect();
        if self.items.is_empty() || numbers.len() != self.items.len() || self.items.len() > 90 {
            return Err("its shop is empty, too large, or has a number twice".to_owned());
        }
        let odd = |item: &&Item| {
            let known = item.values.iter().all(|value| *value < 5);
            !known || !(1..=9).contains(&item.price) || !(10..100).contains(&item.number)
        };
        if let Some(item) = self.items.iter().find(odd) {
            return Err(format!("item {} has a number, value or price that no item has", item.number));
        }
        if self.wanted.iter().any(|(attribute, value)| !named(*attribute) || *value >= 5) {
            return Err("a value is wanted that no attribute has".to_owned());
        }
        let asked: BTreeSet<u8> = self.wanted.iter().map(|(attribute, _)| *attribute).collect();
        let heard: BTreeSet<u8> = self.tell.iter().copied().collect();
        let twice = asked.len() != self.wanted.len() || heard.len() != self.tell.len();
        let some = (1..=TOLD).contains(&heard.len());
        if twice || !asked.is_disjoint(&heard) || !some || !heard.iter().all(|a| named(*a)) {
            return Err(format!(
                "it asks for an attribute twice, or to be told none, more than {TOLD}, or one that there is not"
            ));
        }
        if !(2..=9).contains(&self.under) {
            return Err(format!("a price under {}; it lies between 2 and 9", self.under));
        }
        if self.wanted.len() + 1 != size as usize || !SIZES.contains(&size) {
            return Err(format!("{} constraints, its size is {size}", self.wanted.len() + 1));
        }
        let alike = self.found(&self.wanted);
        if alike.len() > LISTED || alike.iter().filter(|item| item.price < self.under).count() > 1 {
            return Err(format!("more than one item is right, or more than {LISTED} have all the values"));
        }
        Ok(())
    }
}

fn set(values: &mut [u8; 7], wanted: &[(u8, u8)]) {
    for (attribute, value) in wanted {
        if let Some(slot) = values.get_mut(usize::from(*attribute)) {
            *slot = *value;
        }
    }
}
