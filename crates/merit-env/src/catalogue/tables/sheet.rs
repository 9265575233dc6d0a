//! A table, a question about it, and what lines do to it.

use super::super::{ATTRIBUTES, attribute_name, value_word};
use super::op::{Aggregate, Column, NUMBERS, Op};
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

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The values that rows must have: attribute and value.
    pub keep: Vec<(u8, u8)>,
    /// The attribute by which rows are grouped. Absent: all rows are one group.
    pub group: Option<u8>,
    /// What is computed.
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

    /// Other rows.
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
    fn value(&self, row: &Row, attribute: u8) -> Option<u8> {
        let at = self.words.iter().position(|known| *known == attribute)?;
        row.values.get(at).copied()
    }

    fn kept<'a>(&'a self, keep: &'a [(u8, u8)]) -> impl Iterator<Item = &'a Row> {
        let fits = |row: &&Row| keep.iter().all(|(word, value)| self.value(row, *word) == Some(*value));
        self.rows.iter().filter(fits)
    }

    /// The values of an attribute that are left, in the order of their words in the list of attributes.
    fn groups(&self, keep: &[(u8, u8)], attribute: u8) -> BTreeSet<u8> {
        self.kept(keep).filter_map(|row| self.value(row, attribute)).collect()
    }

    /// What a computation gives for all rows, or for each group.
    fn computed(&self, work: &Work, aggregate: Aggregate, column: u8) -> Vec<(Option<u8>, u32)> {
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
    fn ranked(&self, work: &Work, low: bool) -> Option<(u8, u32)> {
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
