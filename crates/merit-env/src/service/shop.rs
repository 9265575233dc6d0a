//! The shop behind the desk: people, orders, what may be done with them, and what one person wants.

use merit_core::Stream;
use serde::{Deserialize, Serialize};

pub(super) const NAMES: [&str; 12] =
    ["ann", "bob", "cem", "dan", "eve", "fay", "gus", "ian", "kim", "lou", "max", "zoe"];
const ITEMS: [&str; 8] = ["mug", "lamp", "desk", "coat", "bike", "drum", "rug", "tent"];
pub(super) const TOWNS: [&str; 8] = ["rome", "bonn", "oslo", "cork", "nice", "bath", "lyon", "graz"];
/// People in the shop's books, with two orders each.
const PEOPLE: usize = 3;

/// One order in the books.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub number: u32,
    pub owner: String,
    pub item: String,
    pub sent: bool,
    pub price: u32,
}

/// What a person wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wish {
    Cancel,
    Move,
    Refund,
}

impl Wish {
    pub const ALL: [Self; 3] = [Self::Cancel, Self::Move, Self::Refund];

    pub fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Move => "move",
            Self::Refund => "refund",
        }
    }

    /// Whether the shop does that with an order: what was sent can be refunded, everything else goes with what was not.
    pub fn permitted(self, order: &Order) -> bool {
        order.sent == matches!(self, Self::Refund)
    }
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Cancelled,
    Refunded,
    Moved(String),
    /// The agent wanted to change it for a person whom it had not found in the books.
    Locked,
}

/// The puzzle of a task: the books, and a person with a wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub orders: Vec<Order>,
    pub name: String,
    pub number: u32,
    pub wish: Wish,
    pub town: String,
    /// Which of name, order, wish and town the person tells at once.
    pub told: [bool; 4],
    /// The order that the person names first, by mistake; 0 for none.
    pub slip: u32,
    /// Whether the person asks why before giving a name.
    pub wary: bool,
}

impl Case {
    /// Draws a case in which `kept` of the facts are kept back.
    pub fn draw(kept: u32, all_told: bool, slips: f64, wary: f64, rng: &mut Stream) -> Self {
        let mut names = NAMES;
        rng.shuffle(&mut names);
        let mut numbers: Vec<u32> = (10..100).collect();
        rng.shuffle(&mut numbers);
        let orders: Vec<Order> = (0..PEOPLE * 2)
            .map(|at| Order {
                number: numbers[at],
                owner: names[at / 2].to_owned(),
                item: rng.pick(&ITEMS).copied().unwrap_or_default().to_owned(),
                sent: rng.chance(0.5),
                price: 10 + rng.below(90) as u32,
            })
            .collect();
        // Only somebody who moves has a fourth fact to keep back.
        let wish = if kept > 3 { Wish::Move } else { rng.pick(&Wish::ALL).copied().unwrap_or(Wish::Cancel) };
        // Three times in four what is wished can be done; the other order of the same person is the slip.
        let at = 2 * rng.below(PEOPLE as u64) as usize;
        let fits = |place: &usize| wish.permitted(&orders[*place]);
        let wanted = if rng.chance(0.75) { [at, at + 1].into_iter().find(fits).unwrap_or(at) } else { at };
        let other = if wanted == at { at + 1 } else { at };
        let town = rng.pick(&TOWNS).copied().unwrap_or_default().to_owned();
        let slip = if rng.chance(slips) { orders[other].number } else { 0 };
        let wary = rng.chance(wary);
        let facts = if wish == Wish::Move { 4 } else { 3 };
        let mut order: Vec<usize> = (0..facts).collect();
        rng.shuffle(&mut order);
        let kept = if all_told { &[] } else { &order[..(kept as usize).min(facts)] };
        let told = std::array::from_fn(|fact| fact < facts && !kept.contains(&fact));
        let Order { number, owner, .. } = orders[wanted].clone();
        Self { orders, name: owner, number, wish, town, told, slip, wary }
    }

    pub fn order(&self, number: u32) -> Option<&Order> {
        self.orders.iter().find(|order| order.number == number)
    }

    pub fn permitted(&self) -> bool {
        self.order(self.number).is_some_and(|order| self.wish.permitted(order))
    }

    /// What has to have become of the orders in the end.
    pub fn goal(&self) -> Option<(u32, Change)> {
        self.permitted().then(|| {
            let change = match self.wish {
                Wish::Cancel => Change::Cancelled,
                Wish::Refund => Change::Refunded,
                Wish::Move => Change::Moved(self.town.clone()),
            };
            (self.number, change)
        })
    }

    /// What has to be told: the sum of a refund, or how the order stands where nothing can be done.
    pub fn output(&self) -> Option<String> {
        let order = self.order(self.number)?;
        match (self.permitted(), self.wish) {
            (true, Wish::Refund) => Some(order.price.to_string()),
            (true, _) => None,
            (false, _) => Some(standing(order).to_owned()),
        }
    }

    /// What the person says of a fact, by its place; `order` as it is, without a slip.
    pub fn fact(&self, fact: usize) -> String {
        match fact {
            0 => format!("name {}", self.name),
            1 => format!("order {}", self.number),
            2 => format!("wish {}", self.wish.word()),
            _ if self.wish == Wish::Move => format!("town {}", self.town),
            _ => "no town".to_owned(),
        }
    }

    /// How many facts are kept back.
    pub fn kept(&self) -> u32 {
        let facts = if self.wish == Wish::Move { 4 } else { 3 };
        self.told.iter().take(facts).filter(|told| !**told).count() as u32
    }

    /// What is wrong with a case that comes from a file.
    pub fn check(&self) -> Result<(), String> {
        let order =
            self.order(self.number).ok_or_else(|| format!("no order {} in its books", self.number))?;
        if order.owner != self.name {
            return Err(format!("order {} is not of {}", self.number, self.name));
        }
        if self.slip != 0 && (self.slip == self.number || self.order(self.slip).is_none()) {
            return Err(format!(
                "its person slips to order {}, which is no other order in the books",
                self.slip
            ));
        }
        Ok(())
    }
}

/// How an order stands, in a word.
pub(super) fn standing(order: &Order) -> &'static str {
    if order.sent { "sent" } else { "open" }
}
