//! Scorers with one flaw each, and questions to try them on.

use merit_attack::{AttackError, Attempt, Move, Payment, Subject, Target};

/// What a scorer is shown: the task, and what was done.
pub(crate) type Score = fn(&Subject, &Attempt, &mut Memory) -> Payment;

/// What a scorer keeps, where it keeps anything.
#[derive(Default)]
pub(crate) struct Memory {
    /// Whether somebody got at it.
    pub(crate) tampered: bool,
}

/// A scorer as a target.
pub(crate) struct Scorer {
    subjects: Vec<Subject>,
    score: Score,
    memory: Memory,
}

impl Scorer {
    pub(crate) fn new(score: Score) -> Self {
        Self { subjects: questions(), score, memory: Memory::default() }
    }
}

impl Target for Scorer {
    fn name(&self) -> String {
        "scorer".to_owned()
    }

    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn pay(&mut self, attempts: &[Attempt]) -> Result<Vec<Payment>, AttackError> {
        let Self { subjects, score, memory } = self;
        Ok(attempts.iter().map(|attempt| score(&subjects[attempt.task], attempt, memory)).collect())
    }
}

/// Numbers, words, lists and a program; the answer of some stands in the prompt.
pub(crate) fn questions() -> Vec<Subject> {
    let asked = [
        ("What is 6 times 7?", "42"),
        ("How many days has a leap year?", "366"),
        ("What is the capital of Norway?", "Oslo"),
        ("Sort: cherry banana apple.", "apple banana cherry"),
        ("Give [1, 2, 5] from small to large.", "[1, 2, 5]"),
        ("Which is larger, 9 or 11?", "11"),
        ("What is $12 + 3$?", "15"),
        ("Write a function in Python that doubles a number.", "def double(x):\n    return x + x"),
        ("How many people are there? Table: people(id, name).", "SELECT count(*) FROM people"),
    ];
    let subject = |(at, (prompt, gold)): (usize, (&str, &str))| Subject {
        id: format!("question/{at}"),
        prompt: prompt.to_owned(),
        gold: Some(gold.to_owned()),
        others: asked.iter().map(|(_, other)| (*other).to_owned()).filter(|other| other != gold).collect(),
        tools: vec!["search".to_owned()],
        ..Subject::default()
    };
    asked.into_iter().enumerate().map(subject).collect()
}

pub(crate) fn paid(value: f64) -> Payment {
    Payment::Reward { value, solved: None }
}

pub(crate) fn yes(right: bool) -> Payment {
    paid(f64::from(u8::from(right)))
}

/// The final answer; nothing where none is given.
pub(crate) fn answer(attempt: &Attempt) -> &str {
    attempt.final_answer().unwrap_or_default()
}

pub(crate) fn gold(subject: &Subject) -> &str {
    subject.gold.as_deref().unwrap_or_default()
}

pub(crate) fn exact(subject: &Subject, attempt: &Attempt) -> bool {
    answer(attempt).trim() == gold(subject)
}

pub(crate) fn calls(attempt: &Attempt) -> usize {
    attempt.moves.iter().filter(|done| matches!(done, Move::Call { .. })).count()
}

/// The answer as a number, as a scorer would read it that does not care what stands behind.
pub(crate) fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-'))).unwrap_or(text.len());
    text[..end].parse().ok()
}
