//! The lines that work on a table.

use super::super::{ATTRIBUTES, attribute_name, attribute_of, value_word};
use serde::{Deserialize, Serialize};

/// The columns of numbers that a table may have.
pub const NUMBERS: [&str; 4] = ["cost", "mass", "age", "stock"];
/// What becomes of several numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    Sum,
    Most,
    Least,
}

impl Aggregate {
    pub const ALL: [Self; 3] = [Self::Sum, Self::Most, Self::Least];

    /// Its word in lines and questions.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Most => "most",
            Self::Least => "least",
        }
    }

    /// Of these numbers; absent where there are none.
    pub(super) fn of(self, numbers: impl Iterator<Item = u32>) -> Option<u32> {
        match self {
            Self::Sum => numbers.reduce(|a, b| a.saturating_add(b)),
            Self::Most => numbers.max(),
            Self::Least => numbers.min(),
        }
    }
}

/// A line that works on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The named column, and the attribute and value of the word.
    Keep(Column, (u8, u8)),
    Group(Column),
    Compute(Aggregate, Column),
    /// For the lowest where it is true.
    Rank(bool),
    Fresh,
}

/// A column by its kind: an attribute, or a place in [`NUMBERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    Words(u8),
    Numbers(u8),
}

impl Column {
    /// The column of this name.
    pub fn read(word: &str) -> Option<Self> {
        let words = ATTRIBUTES.iter().position(|(name, _)| *name == word).map(|at| Self::Words(at as u8));
        words.or_else(|| NUMBERS.iter().position(|name| *name == word).map(|at| Self::Numbers(at as u8)))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Words(attribute) => attribute_name(attribute),
            Self::Numbers(place) => NUMBERS.get(usize::from(place)).copied().unwrap_or_default(),
        }
    }
}

impl Op {
    /// What a line means; absent where it means nothing.
    pub fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["keep", column, word] => Some(Self::Keep(Column::read(column)?, attribute_of(word)?)),
            ["group", column] => Column::read(column).map(Self::Group),
            ["top"] => Some(Self::Rank(false)),
            ["low"] => Some(Self::Rank(true)),
            ["fresh"] => Some(Self::Fresh),
            [verb, column] => {
                let aggregate = Aggregate::ALL.into_iter().find(|aggregate| aggregate.word() == verb)?;
                Some(Self::Compute(aggregate, Column::read(column)?))
            }
            _ => None,
        }
    }

    /// The line that a player writes.
    pub fn said(self) -> String {
        match self {
            Self::Keep(column, (attribute, value)) => {
                format!("keep {} {}", column.name(), value_word(attribute, value))
            }
            Self::Group(column) => format!("group {}", column.name()),
            Self::Compute(aggregate, column) => format!("{} {}", aggregate.word(), column.name()),
            Self::Rank(low) => if low { "low" } else { "top" }.to_owned(),
            Self::Fresh => "fresh".to_owned(),
        }
    }
}
