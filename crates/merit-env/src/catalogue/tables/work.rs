//! Work on a table: what lines do to it, what they say, and how much of a right play is in force.

use super::super::{attribute_name, value_word};
use super::op::{Aggregate, Column, Op};
use super::sheet::{Row, Sheet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What has been done with a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The values that rows must have by now.
    pub keep: Vec<(u8, u8)>,
    /// The attribute by which rows are grouped.
    pub group: Option<u8>,
    /// What was computed last since rows and groups are what they are.
    pub computed: Option<(Aggregate, u8)>,
    /// Whether the groups were ranked since then, and whether for the lowest.
    pub ranked: Option<bool>,
    /// Lines so far that ran.
    pub ran: u32,
    /// Lines so far that failed.
    pub failed: u32,
    /// Lines so far that could not be read.
    pub unread: u32,
    /// The lines of a right play that were ever in force at once.
    pub best: u32,
}

impl Sheet {
    fn kept<'a>(&'a self, keep: &'a [(u8, u8)]) -> impl Iterator<Item = &'a Row> {
        let fits = |row: &&Row| keep.iter().all(|(word, value)| self.value(row, *word) == Some(*value));
        self.rows.iter().filter(fits)
    }

    /// The values of an attribute that are left, in the order of their words in the list of attributes.
    fn groups(&self, keep: &[(u8, u8)], attribute: u8) -> BTreeSet<u8> {
        self.kept(keep).filter_map(|row| self.value(row, attribute)).collect()
    }

    /// What a computation gives for all rows, or for each group.
    pub(super) fn computed(&self, work: &Work, aggregate: Aggregate, column: u8) -> Vec<(Option<u8>, u32)> {
        let Some(at) = self.numbers.iter().position(|known| *known == column) else { return Vec::new() };
        let of = |group: Option<u8>| {
            let inside = |row: &&Row| match (work.group, group) {
                (Some(attribute), Some(value)) => self.value(row, attribute) == Some(value),
                _ => true,
            };
            let numbers = self.kept(&work.keep).filter(inside).filter_map(|row| row.numbers.get(at).copied());
            Some((group, aggregate.of(numbers)?))
        };
        match work.group {
            Some(attribute) => {
                self.groups(&work.keep, attribute).into_iter().filter_map(|value| of(Some(value))).collect()
            }
            None => of(None).into_iter().collect(),
        }
    }

    /// The top or lowest group; the first of those that are alike.
    pub(super) fn ranked(&self, work: &Work, low: bool) -> Option<(u8, u32)> {
        let (attribute, (aggregate, column)) = (work.group?, work.computed?);
        let groups = self.computed(work, aggregate, column);
        let best = |best: (Option<u8>, u32), next: (Option<u8>, u32)| {
            if if low { next.1 < best.1 } else { next.1 > best.1 } { next } else { best }
        };
        let (value, number) = groups.into_iter().reduce(best)?;
        value.filter(|_| self.words.contains(&attribute)).map(|value| (value, number))
    }

    /// Runs a line: what it says, or why it fails.
    pub fn run(&self, work: &mut Work, op: Op) -> Result<String, String> {
        let absent = |column: Column| match column {
            Column::Words(attribute) => !self.words.contains(&attribute),
            Column::Numbers(place) => !self.numbers.contains(&place),
        };
        let missing = match op {
            Op::Keep(column, _) | Op::Group(column) | Op::Compute(_, column) => {
                Some(column).filter(|c| absent(*c))
            }
            Op::Rank(_) | Op::Fresh => None,
        };
        if let Some(column) = missing {
            return Err(format!("no column {}", column.name()));
        }
        let said = match op {
            Op::Keep(Column::Words(attribute), pair) => {
                if pair.0 != attribute {
                    let word = value_word(pair.0, pair.1);
                    return Err(format!("no {word} in {}", attribute_name(attribute)));
                }
                if !work.keep.contains(&pair) {
                    work.keep.push(pair);
                }
                (work.computed, work.ranked) = (None, None);
                format!("{} rows", self.kept(&work.keep).count())
            }
            Op::Group(Column::Words(attribute)) => {
                let names: Vec<&str> = self
                    .groups(&work.keep, attribute)
                    .iter()
                    .map(|value| value_word(attribute, *value))
                    .collect();
                if names.is_empty() {
                    return Err("no rows".to_owned());
                }
                work.group = Some(attribute);
                (work.computed, work.ranked) = (None, None);
                names.join(" ")
            }
            Op::Compute(aggregate, Column::Numbers(column)) => {
                let found = self.computed(work, aggregate, column);
                if found.is_empty() {
                    return Err("no rows".to_owned());
                }
                (work.computed, work.ranked) = (Some((aggregate, column)), None);
                let word = |value: Option<u8>| Some(value_word(work.group?, value?));
                let line = |(value, number): &(Option<u8>, u32)| match word(*value) {
                    Some(word) => format!("{word} {number}"),
                    None => number.to_string(),
                };
                found.iter().map(line).collect::<Vec<String>>().join(" ")
            }
            Op::Rank(low) => {
                let best = self.ranked(work, low).ok_or_else(|| "nothing to rank".to_owned())?;
                work.ranked = Some(low);
                format!("{} {}", value_word(work.group.unwrap_or_default(), best.0), best.1)
            }
            Op::Fresh => {
                (work.keep, work.group) = (Vec::new(), None);
                (work.computed, work.ranked) = (None, None);
                format!("{} rows", self.rows.len())
            }
            Op::Keep(column, _) | Op::Group(column) => return Err(format!("no words in {}", column.name())),
            Op::Compute(_, column) => return Err(format!("no numbers in {}", column.name())),
        };
        Ok(said)
    }

    /// How many lines of a right play are in force; none where something is that is not asked for.
    pub fn progress(&self, work: &Work) -> u32 {
        let question = &self.question;
        let foreign = work.keep.iter().any(|pair| !question.keep.contains(pair))
            || work.group.is_some() && work.group != question.group;
        if foreign {
            return 0;
        }
        let set_up = work.keep.len() + usize::from(work.group.is_some());
        let computed = work.keep.len() == question.keep.len()
            && work.group == question.group
            && work.computed == Some((question.aggregate, question.column));
        let ranked = computed && question.group.is_some() && work.ranked == Some(question.low);
        (set_up + usize::from(computed) + usize::from(ranked)) as u32
    }
}
