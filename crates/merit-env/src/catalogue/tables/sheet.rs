//! A table and a question about it: how both are drawn, what is right, and what is wrong with those from a file.

use super::super::{ATTRIBUTES, attribute_name, value_word};
use super::op::{Aggregate, Column, NUMBERS, Op};
use super::work::Work;
use merit_core::Stream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Values that a column of words has in one table.
const VALUES: usize = 3;
/// Tables that are drawn for a question until one has a right answer.
const MAX_TABLES: usize = 500;

/// One row: a value for each column of words, a number for each column of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// By place in the list of the attribute's values.
    pub values: Vec<u8>,
    /// 1 to 99.
    pub numbers: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The values that rows must have: attribute and value.
    pub keep: Vec<(u8, u8)>,
    /// The attribute by which rows are grouped. Absent: all rows are one group.
    pub group: Option<u8>,
    pub aggregate: Aggregate,
    /// The column of numbers, by its place in [`NUMBERS`].
    pub column: u8,
    /// Whether the lowest group is asked for, and not the top one.
    pub low: bool,
}

impl Question {
    /// The lines that a right play needs before it answers.
    pub fn lines(&self) -> usize {
        self.keep.len() + 1 + if self.group.is_some() { 2 } else { 0 }
    }
}

/// The puzzle of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// The columns of words, by attribute.
    pub words: Vec<u8>,
    /// The columns of numbers, by their places in [`NUMBERS`].
    pub numbers: Vec<u8>,
    /// 1 to 40 rows.
    pub rows: Vec<Row>,
    /// What is asked about it.
    pub question: Question,
}

impl Sheet {
    /// Draws a question that takes `size` lines, and a table in which it has one answer.
    pub fn draw(size: u32, columns: u32, rows: u32, rng: &mut Stream) -> Self {
        let mut words = [0_u8, 1, 2, 3, 4, 5, 6];
        rng.shuffle(&mut words);
        let mut numbers = [0_u8, 1, 2, 3];
        rng.shuffle(&mut numbers);
        let of_words = (columns as usize + 2) / 2;
        let words: Vec<u8> = words.into_iter().take(of_words).collect();
        let numbers: Vec<u8> = numbers.into_iter().take(columns as usize - of_words).collect();
        // Three lines are two words to keep, or groups of everything; more lines always have groups.
        let grouped = size >= 4 || size == 3 && rng.chance(0.5);
        let kept = (size as usize).saturating_sub(if grouped { 3 } else { 1 });
        let mut asked = words.clone();
        rng.shuffle(&mut asked);
        let mut sheet = Self {
            question: Question {
                keep: Vec::new(),
                group: asked.first().copied().filter(|_| grouped),
                aggregate: rng.pick(&Aggregate::ALL).copied().unwrap_or(Aggregate::Sum),
                column: rng.pick(&numbers).copied().unwrap_or_default(),
                low: rng.chance(0.5),
            },
            words,
            numbers,
            rows: Vec::new(),
        };
        for _ in 0..MAX_TABLES {
            sheet.fill(rows, rng);
            // The values of one row, so that at least one is kept.
            let row = rng.pick(&sheet.rows);
            let value = |attribute: &u8| Some((*attribute, sheet.value(row?, *attribute)?));
            sheet.question.keep =
                asked.iter().skip(usize::from(grouped)).take(kept).filter_map(value).collect();
            if sheet.answer().is_some() {
                break;
            }
        }
        sheet
    }

    /// Replaces all rows by this many, drawn anew.
    fn fill(&mut self, rows: u32, rng: &mut Stream) {
        let known: Vec<[u8; 5]> = self
            .words
            .iter()
            .map(|_| {
                let mut values = [0, 1, 2, 3, 4];
                rng.shuffle(&mut values);
                values
            })
            .collect();
        let row = |_| Row {
            values: known.iter().filter_map(|values| rng.pick(&values[..VALUES]).copied()).collect(),
            numbers: self.numbers.iter().map(|_| 1 + rng.below(99) as u32).collect(),
        };
        self.rows = (0..rows).map(row).collect();
    }

    /// The value of a row in a column of words.
    pub(super) fn value(&self, row: &Row, attribute: u8) -> Option<u8> {
        let at = self.words.iter().position(|known| *known == attribute)?;
        row.values.get(at).copied()
    }

    /// The lines of a right play.
    pub fn plan(&self) -> Vec<Op> {
        let question = &self.question;
        let keep = question.keep.iter().map(|pair| Op::Keep(Column::Words(pair.0), *pair));
        let group = question.group.map(|attribute| Op::Group(Column::Words(attribute)));
        let compute = Op::Compute(question.aggregate, Column::Numbers(question.column));
        let rank = question.group.map(|_| Op::Rank(question.low));
        keep.chain(group).chain([compute]).chain(rank).collect()
    }

    /// The right answer; absent where there is none, or where two groups are alike.
    pub fn answer(&self) -> Option<String> {
        let question = &self.question;
        let mut work = Work::default();
        let said: Result<Vec<String>, String> =
            self.plan().into_iter().map(|op| self.run(&mut work, op)).collect();
        if question.group.is_some() {
            let groups = self.computed(&work, question.aggregate, question.column);
            let best = self.ranked(&work, question.low)?.1;
            if groups.len() < 2 || groups.iter().filter(|(_, number)| *number == best).count() != 1 {
                return None;
            }
        }
        said.ok()?.pop()
    }

    /// The columns, and the question.
    pub fn said(&self) -> String {
        let question = &self.question;
        let names = self.words.iter().map(|word| Column::Words(*word));
        let names = names.chain(self.numbers.iter().map(|place| Column::Numbers(*place)));
        let mut said = names.map(|column| column.name().to_owned()).collect::<Vec<String>>();
        said.push("ask".to_owned());
        if let Some(attribute) = question.group {
            let end = if question.low { "low" } else { "top" };
            said.push(format!("{end} {} by", attribute_name(attribute)));
        }
        said.push(Op::Compute(question.aggregate, Column::Numbers(question.column)).said());
        if !question.keep.is_empty() {
            said.push("for".to_owned());
        }
        said.extend(question.keep.iter().map(|(attribute, value)| value_word(*attribute, *value).to_owned()));
        said.join(" ")
    }

    /// What is wrong with a table that comes from a file.
    pub fn check(&self, size: u32) -> Result<(), String> {
        let alone = |columns: &[u8], count: usize| {
            let different: BTreeSet<&u8> = columns.iter().collect();
            different.len() == columns.len() && columns.iter().all(|column| usize::from(*column) < count)
        };
        if !alone(&self.words, ATTRIBUTES.len()) || !alone(&self.numbers, NUMBERS.len()) {
            return Err("it has a column twice, or one that no table has".to_owned());
        }
        let fits = |row: &Row| {
            let lengths = row.values.len() == self.words.len() && row.numbers.len() == self.numbers.len();
            lengths && row.values.iter().all(|v| *v < 5) && row.numbers.iter().all(|n| (1..=99).contains(n))
        };
        if self.rows.is_empty() || self.rows.len() > 40 || !self.rows.iter().all(fits) {
            return Err("it has no rows, too many, or one that does not fit its columns".to_owned());
        }
        let question = &self.question;
        let mut asked: Vec<u8> = question.keep.iter().map(|(attribute, _)| *attribute).collect();
        asked.extend(question.group);
        if !alone(&asked, ATTRIBUTES.len()) || !asked.iter().all(|attribute| self.words.contains(attribute)) {
            return Err("its question is about a column twice, or about one that it does not have".to_owned());
        }
        if question.lines() != size as usize {
            return Err(format!("its question takes {} lines, its size is {size}", question.lines()));
        }
        self.answer().map(|_| ()).ok_or_else(|| "its question has no single answer".to_owned())
    }
}
