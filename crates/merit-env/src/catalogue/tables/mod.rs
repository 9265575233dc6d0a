//! A table that is not shown, and a question about it: one line of a small language a turn, until the answer stands there.
//!
//! The prompt names the columns and asks: `hue stuff make feel cost mass ask top feel by sum cost for red`. `keep hue red` leaves `7 rows`,
//! `group feel` names the groups, `soft firm`, `sum cost` computes, `soft 120 firm 88`, `top` ranks, `soft 120`, and `answer soft 120` ends it. A line
//! that names a column which is not there, or is of the wrong kind, fails and says why. `fresh` starts over. Which line was of use
//! is told as info, never in words.

mod expert;
mod op;
mod sheet;
mod work;

pub use op::{Aggregate, Column, NUMBERS, Op};
pub use sheet::{Question, Row, Sheet};
pub use work::Work;

use super::{attribute_of, flag, plain_number};
use merit_api::{CommandCard, Demonstration, Manner, StepResult, TextGame, line, sizes_of};
use merit_core::registry::{About, Component, Refusal};
use merit_core::{Action, CallRecord, Split, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const HINT: &str =
    "say keep COLUMN WORD, group COLUMN, sum COLUMN, most COLUMN, least COLUMN, top, low, fresh or answer";

/// The settings of `tables`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tables {
    /// Lines that a right play takes before its answer in training tasks, dealt in turn; 1 to 5.
    pub sizes: Vec<u32>,
    /// The same for held-out tasks. Empty: as `sizes`.
    pub held_out_sizes: Vec<u32>,
    /// Columns of a table, 4 to 8: one more than half of them words, the others numbers.
    pub columns: u32,
    /// Rows of a table, 10 to 40. No matter of difficulty: a line keeps or computes as many as there are.
    pub rows: u32,
    /// Show the instructions as a system message first. Language models need it; warm-started ones do not.
    pub instructions: bool,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            sizes: vec![1, 2, 3, 4],
            held_out_sizes: Vec::new(),
            columns: 6,
            rows: 16,
            instructions: false,
        }
    }
}

impl Component for Tables {
    const ABOUT: About = About {
        name: "tables",
        summary: "A question about a table that is not shown: filter, group and compute, a line a turn.",
        paper: "TableGPT-R1 (2025), arXiv:2512.20312",
    };

    fn check(&self) -> Result<(), Refusal> {
        if self.sizes.is_empty() {
            return Err(Refusal::new(
                "`sizes` is empty; list how many lines a question takes, as in [1, 2, 3]",
            ));
        }
        if let Some(size) =
            self.sizes.iter().chain(&self.held_out_sizes).find(|size| !(1..=5).contains(*size))
        {
            return Err(Refusal::new(format!("a size of {size}; give 1 to 5 lines before the answer")));
        }
        Refusal::unless((4..=8).contains(&self.columns), "columns", self.columns, "4 to 8")?;
        Refusal::unless((10..=40).contains(&self.rows), "rows", self.rows, "10 to 40")
    }
}

/// What a line came to.
enum Line {
    Ran,
    Failed,
    Unread,
    Answered,
}

impl Tables {
    fn said(
        &self,
        sheet: &Sheet,
        work: &mut Work,
        result: StepResult,
        line: &Line,
        right: bool,
    ) -> StepResult {
        let lines = sheet.question.lines().max(1) as f64;
        let progress = sheet.progress(work);
        let used = progress > work.best;
        work.best = work.best.max(progress);
        result.with_info([
            ("ran", flag(matches!(line, Line::Ran))),
            ("failed", flag(matches!(line, Line::Failed))),
            ("unread", flag(matches!(line, Line::Unread))),
            ("used", flag(used)),
            ("progress", f64::from(progress) / lines),
            ("lines", f64::from(work.ran)),
            ("idle_lines", f64::from(work.ran) - f64::from(work.best).min(f64::from(work.ran))),
            ("failures", f64::from(work.failed)),
            ("unread_lines", f64::from(work.unread)),
            ("right", flag(right)),
        ])
    }
}

/// What an answer says; absent where it is none: a number, or a word and a number.
fn answered(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["answer", number] => plain_number(number).map(|number| number.to_string()),
        ["answer", word, number] => {
            attribute_of(word)?;
            Some(format!("{word} {}", plain_number(number)?))
        }
        _ => None,
    }
}

impl TextGame for Tables {
    type Puzzle = Sheet;
    type State = Work;
    const MANNERS: &'static [Manner] = &[
        Manner::new("exact", "Keeps, groups, computes, ranks and answers, with no line too many: right."),
        Manner::new("clumsy", "The same after one line that fails: right."),
        Manner::new("slow", "Starts over first and says every line twice: right, and long."),
        Manner::new("hasty", "Keeps all rows, whatever is asked."),
        Manner::new("careless", "Gets three lines of ten wrong, and answers what comes of it."),
    ];

    fn sizes(&self, split: Split) -> &[u32] {
        sizes_of(split, &self.sizes, &self.held_out_sizes)
    }

    fn draw(&self, size: u32, rng: &mut Stream) -> Sheet {
        Sheet::draw(size, self.columns, self.rows, rng)
    }

    fn identity(&self, sheet: &Sheet) -> String {
        // Rows and columns that the question is not about do not make it another.
        let question = sheet.said();
        let asked = question.split_once("ask ").map_or("", |(_, asked)| asked);
        format!("{asked} is {}", sheet.answer().unwrap_or_default())
    }

    fn check_puzzle(&self, sheet: &Sheet, size: u32) -> Result<(), String> {
        sheet.check(size)
    }

    fn check_state(&self, sheet: &Sheet, work: &Work) -> Result<(), String> {
        let known = |attribute: &u8| sheet.words.contains(attribute);
        let kept = work.keep.iter().all(|(attribute, value)| known(attribute) && *value < 5);
        let computed = work.computed.is_none_or(|(_, column)| sheet.numbers.contains(&column));
        if !kept || !work.group.as_ref().is_none_or(known) || !computed {
            return Err("its work is on a column that the table does not have".to_owned());
        }
        let mut pairs = work.keep.clone();
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.len() != work.keep.len() || work.best > sheet.question.lines() as u32 {
            return Err("it keeps a word twice, or has come further than to the end".to_owned());
        }
        Ok(())
    }

    fn prompt(&self, sheet: &Sheet) -> String {
        sheet.said()
    }

    fn answer(&self, sheet: &Sheet) -> Option<String> {
        sheet.answer()
    }

    fn instructions(&self) -> Option<String> {
        let text = "Answer a question about a table that you do not see. Its columns are named first. Say one line per turn: `keep COLUMN WORD` keeps the \
                    rows with that word, `group COLUMN` groups them, `sum COLUMN`, `most COLUMN` or `least COLUMN` computes a column of numbers, for each \
                    group where there are groups, `top` or `low` then gives the group with the highest or lowest number, `fresh` starts over with all rows. \
                    `answer NUMBER`, or `answer WORD NUMBER` where a group is asked for, ends it.";
        self.instructions.then(|| text.to_owned())
    }

    fn commands(&self) -> Vec<CommandCard> {
        // Any column: whoever sums words is told so by the table.
        let column = |name: &str, summary: &str| {
            let known = super::ATTRIBUTES.iter().map(|(name, _)| *name).chain(NUMBERS);
            CommandCard::new(name, summary).one_of("column", "which column", known)
        };
        vec![
            column("keep", "Keep the rows with a word in a column.")
                .word("word", "the word that stands there")
                .example("keep hue red"),
            column("group", "Group the rows by a column of words.").example("group hue"),
            column("sum", "Sum a column of numbers, for each group where there are groups.")
                .example("sum cost"),
            column("most", "The largest number of a column, for each group where there are groups.")
                .example("most cost"),
            column("least", "The least number of a column, for each group where there are groups.")
                .example("least cost"),
            CommandCard::new("top", "The group with the highest number.").example("top"),
            CommandCard::new("low", "The group with the lowest number.").example("low"),
            CommandCard::new("fresh", "Start over with all rows.").example("fresh"),
            CommandCard::new("answer", "Give the answer, which ends it.")
                .word("group", "the group, where one is asked for")
                .optional()
                .number("number", "the number")
                .example("answer red 12"),
        ]
    }

    fn parse(&self, text: &str) -> Action {
        let said = line(text);
        let one_line = !said.contains(['\n', '\r']);
        match (answered(said), Op::read(said)) {
            (Some(text), _) if one_line => Action::Answer { text },
            (_, Some(_)) if one_line => {
                Action::Say { text: said.split_whitespace().collect::<Vec<&str>>().join(" ") }
            }
            _ => Action::Malformed { why: HINT.to_owned() },
        }
    }

    fn step(&self, sheet: &Sheet, work: &mut Work, action: &Action, _: &[CallRecord]) -> StepResult {
        let op = match action {
            Action::Answer { text } => {
                let right = sheet.answer().as_ref() == Some(text);
                return self.said(sheet, work, StepResult::default().answered(), &Line::Answered, right);
            }
            Action::Say { text } => Op::read(text),
            Action::Malformed { .. } | Action::Calls { .. } => None,
        };
        let (said, line) = match op.map(|op| sheet.run(work, op)) {
            Some(Ok(said)) => {
                work.ran = work.ran.saturating_add(1);
                (said, Line::Ran)
            }
            Some(Err(why)) => {
                work.failed = work.failed.saturating_add(1);
                (why, Line::Failed)
            }
            None => {
                work.unread = work.unread.saturating_add(1);
                (HINT.to_owned(), Line::Unread)
            }
        };
        self.said(sheet, work, StepResult::saying(said), &line, false)
    }

    fn expert(&self, sheet: &Sheet, play: &Demonstration<'_>) -> Option<String> {
        expert::line(sheet, play)
    }
}
