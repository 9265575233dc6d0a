//! What else can be asked of a ledger than its total, and what the turns of such tasks are worth.
//!
//! `price of mug, pen?` wants the prices in that order, `buy 3 mug at 47, buy 4 pen at 12. total?` tells them and wants the sum, and
//! `what is under 40?` wants the names, in the order of the alphabet. Answers have one word to four. Pure.

use super::calls::UNREAD;
use super::purchase::{Entry, MAX_PRICE, PRICES, Purchase};
use super::sql;
use merit_core::{Action, CallEnd, CallRecord, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Words of an answer, at most.
pub const MAX_WORDS: usize = 4;

/// What is asked.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The total of purchases, whose prices have to be looked up.
    #[default]
    Total,
    /// Prices that have to be looked up, one after the other.
    Lookup,
    /// The total of purchases whose prices are told.
    Calc,
    /// What costs less than a price, which has to be asked in SQL.
    Sql,
}

impl Kind {
    pub(super) fn is_total(self) -> bool {
        self == Self::Total
    }

    /// Whether its answer has a word for each entry.
    pub(super) fn has_words(self) -> bool {
        matches!(self, Self::Lookup | Self::Sql)
    }
}

/// What a turn was worth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Worth {
    /// Whether the turn could be read.
    pub(super) parsed: bool,
    /// Of a call 1 where it answers and a right play makes it, 0.5 where it answers; of an answer the share of its words that are
    /// right.
    pub(super) quality: f64,
    /// Whether it is the right answer.
    pub(super) right: bool,
}

impl Purchase {
    /// The same entries as another kind of task; of the cheapest so many where names are asked for.
    pub(super) fn asking(mut self, kind: Kind, stream: &mut Stream) -> Self {
        self.kind = Some(kind);
        if kind != Kind::Sql {
            return self;
        }
        // No two prices are the same, so that one price parts the cheap from the others.
        let mut free: Vec<i64> = (PRICES.0..=PRICES.1).collect();
        stream.shuffle(&mut free);
        for (price, drawn) in self.table.values_mut().zip(free) {
            *price = drawn;
        }
        let mut items: Vec<(&String, i64)> = self.table.iter().map(|(item, price)| (item, *price)).collect();
        items.sort_by_key(|(_, price)| *price);
        self.under = Some(items.get(self.entries.len()).map_or(MAX_PRICE, |(_, price)| *price));
        let mut cheap: Vec<String> =
            items.into_iter().take(self.entries.len()).map(|(item, _)| item.clone()).collect();
        cheap.sort();
        for (entry, item) in self.entries.iter_mut().zip(cheap) {
            *entry = Entry::one(item);
        }
        self
    }

    /// What is asked, in words.
    pub(super) fn asked(&self) -> String {
        let all =
            |part: &dyn Fn(&Entry) -> String| self.entries.iter().map(part).collect::<Vec<_>>().join(", ");
        match self.kind() {
            Kind::Total => self.question(),
            Kind::Lookup => format!("price of {}?", all(&|entry| entry.item.clone())),
            Kind::Calc => format!("{}. total?", all(&|entry| format!("{entry} at {}", self.price(entry)))),
            Kind::Sql => format!("what is under {}?", self.under.unwrap_or_default()),
        }
    }

    /// The right answer, in words.
    pub fn right(&self) -> String {
        let words: Vec<String> = match self.kind() {
            Kind::Total | Kind::Calc => vec![self.total().to_string()],
            Kind::Lookup => self.entries.iter().map(|entry| self.price(entry).to_string()).collect(),
            Kind::Sql => self.entries.iter().map(|entry| entry.item.clone()).collect(),
        };
        words.join(" ")
    }

    /// What is wrong with it as a task of its kind.
    pub(super) fn check_kind(&self) -> Result<(), String> {
        if self.kind().has_words() && self.entries.len() > MAX_WORDS {
            return Err(format!("its answer has {} words; at most {MAX_WORDS}", self.entries.len()));
        }
        match (self.kind(), self.under) {
            (Kind::Sql, Some(under)) if sql::under(&self.table, under) == self.right() => Ok(()),
            (Kind::Sql, _) => Err("its entries are not what is under its price".to_owned()),
            (_, Some(_)) => Err("it has a price to be under, and nobody asks for that".to_owned()),
            _ => Ok(()),
        }
    }

    /// What a turn was worth.
    pub(super) fn worth(&self, action: &Action, calls: &[CallRecord]) -> Worth {
        match action {
            Action::Answer { text } => {
                let right = self.right();
                let words: Vec<&str> = right.split(' ').collect();
                let same = text.split(' ').zip(&words).filter(|(said, right)| said == *right).count();
                let all = words.len().max(text.split(' ').count());
                Worth { parsed: true, quality: same as f64 / all as f64, right: *text == right }
            }
            Action::Calls { .. } => {
                let parsed = calls.iter().all(|record| record.call.tool != UNREAD);
                let quality = calls.first().map_or(0.0, |record| self.worth_of_call(record));
                Worth { parsed, quality, right: false }
            }
            Action::Say { .. } | Action::Malformed { .. } => Worth::default(),
        }
    }

    fn worth_of_call(&self, record: &CallRecord) -> f64 {
        if record.end != CallEnd::Ok {
            return 0.0;
        }
        let number = || record.output.trim().parse::<i64>().ok();
        let needed = match (record.call.tool.as_str(), self.kind()) {
            ("lookup", Kind::Total | Kind::Lookup) => {
                self.entries.iter().any(|entry| entry.item == record.call.input.trim())
            }
            ("calc", Kind::Total | Kind::Calc) => {
                number().is_some_and(|number| self.totals().any(|total| total == number))
            }
            ("sql", Kind::Sql) => record.output == self.right(),
            _ => false,
        };
        if needed { 1.0 } else { 0.5 }
    }
}
