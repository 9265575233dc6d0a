//! Judged examples drawn from labelled data, which a judge is shown before it is asked.
//!
//! In: pairs with labels, or answers with grades; the caller gives those of the training part only. Out: texts in an order that the
//! seed decides. An example of the task that is asked about is never shown.

use super::Ask;
use super::shown::{opening, shown};
use crate::graded::share;
use crate::{Graded, Label, Pair};
use merit_core::Seed;
use serde_json::{Value, json};

/// Examples to choose from, and how many are shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Examples {
    drawn: Vec<Example>,
    count: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Example {
    /// What was asked of the candidates.
    task: String,
    /// Task, candidates and verdict.
    text: String,
}

impl Examples {
    /// `count` examples for each question, of what a judge that is asked so is to answer: choices of pairs, or grades of answers.
    pub fn draw(
        ask: &Ask,
        (pairs, graded): (&[Pair], &[Graded]),
        (count, length): (usize, usize),
        seed: &Seed,
    ) -> Result<Self, String> {
        let mut drawn: Vec<Example> = match ask {
            Ask::Compare {} => pairs.iter().map(|pair| compared(pair, length)).collect(),
            Ask::Rank {} => {
                let decided = pairs.iter().filter(|pair| pair.label != Label::Tie);
                decided.map(|pair| ranked(pair, length)).collect()
            }
            Ask::Score { scale } => {
                let one =
                    |one: &Graded| Some(grade(one, share(one.grade, graded)? * f64::from(*scale), length));
                graded.iter().filter_map(one).collect()
            }
            Ask::Check { .. } => return Err("nobody has labelled the items of `check`".to_owned()),
        };
        if drawn.is_empty() {
            let what =
                if ask.is_of_one() { "answers with a `rating` that differs" } else { "labelled pairs" };
            return Err(format!("there are no {what} in its training part"));
        }
        seed.stream().shuffle(&mut drawn);
        Ok(Self { drawn, count })
    }

    /// Whether nothing is ever shown.
    pub(super) fn is_none(&self) -> bool {
        self.drawn.is_empty() || self.count == 0
    }

    /// Those that are shown with a question about this task.
    pub(super) fn beside(&self, task: &str) -> impl Iterator<Item = &str> {
        let others = self.drawn.iter().filter(move |example| example.task != task);
        others.take(self.count).map(|example| example.text.as_str())
    }
}

fn compared(pair: &Pair, length: usize) -> Example {
    let better = match pair.label {
        Label::A => json!(1),
        Label::B => json!(2),
        Label::Tie => json!("tie"),
    };
    of_pair(pair, &json!({ "better": better }), length)
}

fn ranked(pair: &Pair, length: usize) -> Example {
    let order = if pair.label == Label::A { [1, 2] } else { [2, 1] };
    of_pair(pair, &json!({ "order": order }), length)
}

fn of_pair(pair: &Pair, verdict: &Value, length: usize) -> Example {
    let (task, a, b) = (opening(&pair.a, length), shown(&pair.a, length), shown(&pair.b, length));
    let text = format!("task:\n{task}\n\ncandidate 1:\n{a}\n\ncandidate 2:\n{b}\n\nright verdict: {verdict}");
    Example { task, text }
}

/// An answer with its grade, to a tenth.
fn grade(one: &Graded, grade: f64, length: usize) -> Example {
    let (task, did) = (opening(&one.episode, length), shown(&one.episode, length));
    let verdict = json!({ "score": (grade * 10.0).round() / 10.0 });
    let text = format!("task:\n{task}\n\ncandidate 1:\n{did}\n\nright verdict: {verdict}");
    Example { task, text }
}
