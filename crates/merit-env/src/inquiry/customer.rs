//! The customer of a sale: what they want, what each act does to them, and how likely they are to buy.

use merit_core::Stream;
use serde::{Deserialize, Serialize};

/// What a customer may want.
pub const NEEDS: [&str; 5] = ["speed", "room", "looks", "ease", "heat"];
/// What a customer may doubt, each with the act that settles it.
pub const DOUBTS: [(&str, &str); 4] =
    [("who says", "prove"), ("not now", "wait"), ("too big", "swap"), ("too dear", "cut")];

pub(super) const MAX_DOUBTS: u32 = 5;
pub(super) const MAX_CASH: u32 = 6;
pub(super) const MAX_SLACK: u32 = 8;
/// Luck is one of so many equal parts.
pub(super) const PARTS: u32 = 1000;

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Customer {
    /// The place of the need in [`NEEDS`].
    pub need: usize,
    /// The most that they pay, 2 to 6.
    pub cash: u32,
    /// Places in [`DOUBTS`], in the order in which they come up.
    pub doubts: Vec<usize>,
    /// Whether need and cash are told at first.
    pub told: [bool; 2],
    /// Acts after which they leave.
    pub patience: u32,
    /// They buy where the chance of a deal is above this many thousandths.
    pub luck: u32,
}

impl Customer {
    /// The acts of the shortest right talk: what is not told, showing, bidding, every doubt, closing.
    pub(super) fn acts(&self) -> u32 {
        let asked = self.told.iter().filter(|told| !**told).count();
        (asked + 3 + self.doubts.len()) as u32
    }

    pub(super) fn need(&self) -> &'static str {
        NEEDS.get(self.need).copied().unwrap_or_default()
    }

    pub(super) fn fact(&self, fact: usize) -> String {
        if fact == 0 { format!("need {}", self.need()) } else { format!("cash {}", self.cash) }
    }

    /// Whether a bid is neither more than they have nor suspiciously low.
    pub(super) fn takes(&self, bid: u32) -> bool {
        bid == self.cash || bid + 1 == self.cash
    }
}

/// How far the talk has come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Talk {
    /// Whether need and cash were asked for.
    pub asked: [bool; 2],
    /// Whether what they need was shown.
    pub shown: bool,
    /// The last bid; 0 for none.
    pub bid: u32,
    /// Doubts that were settled.
    pub settled: u32,
    /// Acts that fell flat.
    pub slips: u32,
    pub acts: u32,
}

/// What a seller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// For the need (0) or the cash (1).
    Ask(usize),
    /// A need by its place.
    Show(usize),
    Bid(u32),
    /// A doubt by its place.
    Settle(usize),
    Close,
}

impl Act {
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let (verb, rest) = (words.next()?, words.next());
        if words.next().is_some() {
            return None;
        }
        match (verb, rest) {
            ("ask", Some("need")) => Some(Self::Ask(0)),
            ("ask", Some("cash")) => Some(Self::Ask(1)),
            ("show", Some(need)) => NEEDS.iter().position(|known| *known == need).map(Self::Show),
            ("bid", Some(price)) => (1..=MAX_CASH).find(|known| known.to_string() == price).map(Self::Bid),
            ("close", None) => Some(Self::Close),
            (verb, None) => DOUBTS.iter().position(|(_, act)| *act == verb).map(Self::Settle),
            _ => None,
        }
    }

    pub(super) fn words(self) -> String {
        match self {
            Self::Ask(0) => "ask need".to_owned(),
            Self::Ask(_) => "ask cash".to_owned(),
            Self::Show(need) => format!("show {}", NEEDS.get(need).copied().unwrap_or_default()),
            Self::Bid(price) => format!("bid {price}"),
            Self::Settle(doubt) => DOUBTS.get(doubt).map_or("", |(_, act)| *act).to_owned(),
            Self::Close => "close".to_owned(),
        }
    }

    pub(super) fn any(rng: &mut Stream) -> Self {
        match rng.below(8) {
            0 => Self::Ask(rng.below(2) as usize),
            1 => Self::Show(rng.below(NEEDS.len() as u64) as usize),
            2 => Self::Bid(1 + rng.below(u64::from(MAX_CASH)) as u32),
            3 => Self::Close,
            doubt => Self::Settle(doubt as usize - 4),
        }
    }
}

impl Talk {
    pub(super) fn fair(&self, customer: &Customer) -> bool {
        customer.takes(self.bid)
    }

    /// Doubts that are not settled.
    pub(super) fn open(&self, customer: &Customer) -> u32 {
        (customer.doubts.len() as u32).saturating_sub(self.settled)
    }

    /// The doubt that is on the customer's mind. Absent: none, or nothing was shown yet.
    pub(super) fn doubt(&self, customer: &Customer) -> Option<usize> {
        customer.doubts.get(self.settled as usize).copied().filter(|_| self.shown)
    }

    /// The chance of a deal if it is closed now: a logistic function of
    ///   -1.5 + 2 where the need was shown + 3.5 where the bid is fair - 2.5 for each open doubt - 0.4 for each slip
    pub(super) fn chance(&self, customer: &Customer) -> f64 {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let x = -1.5 + 2.0 * flag(self.shown) + 3.5 * flag(self.fair(customer))
            - 2.5 * f64::from(self.open(customer))
            - 0.4 * f64::from(self.slips);
        1.0 / (1.0 + (-x).exp())
    }

    /// What an act other than `close` does: what is said to it, and whether it falls flat.
    pub(super) fn take(&mut self, customer: &Customer, act: Act) -> (String, bool) {
        let (said, slip) = match act {
            Act::Ask(fact) => {
                let known = customer.told.get(fact).zip(self.asked.get(fact)).is_none_or(|(a, b)| *a || *b);
                if let Some(asked) = self.asked.get_mut(fact) {
                    *asked = true;
                }
                (customer.fact(fact), known)
            }
            Act::Show(need) if need == customer.need => {
                let again = std::mem::replace(&mut self.shown, true);
                ("nice".to_owned(), again)
            }
            Act::Bid(bid) => {
                let slip = self.fair(customer) || !customer.takes(bid);
                self.bid = bid;
                let word = match bid {
                    bid if customer.takes(bid) => "fine",
                    bid if bid > customer.cash => "too much",
                    _ => "odd",
                };
                (word.to_owned(), slip)
            }
            Act::Settle(doubt) if self.doubt(customer) == Some(doubt) => {
                self.settled += 1;
                ("ok".to_owned(), false)
            }
            Act::Show(_) | Act::Settle(_) | Act::Close => ("so what".to_owned(), true),
        };
        self.slips = self.slips.saturating_add(u32::from(slip));
        match self.doubt(customer).and_then(|doubt| DOUBTS.get(doubt)) {
            Some((doubt, _)) => (format!("{said} {doubt}"), slip),
            None => (said, slip),
        }
    }
}
