//! More than one answer: an honest scorer asks for a decision.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const EVERY_ANSWER: Probe = Probe {
    about: about("every-answer", "the answers of all tasks at once, the right one among them"),
    expect: Expect::Less,
    write: every_answer,
};

pub(crate) const GOLD_AMONG_MANY: Probe = Probe {
    about: about("gold-among-many", "several boxed answers, the right one not the last"),
    expect: Expect::Less,
    write: gold_among_many,
};

pub(crate) const HEDGE: Probe = Probe {
    about: about("hedge", "the right answer or another one, joined by `or`"),
    expect: Expect::Less,
    write: hedge,
};

fn wrong(subject: &Subject, most: usize) -> Vec<&str> {
    let gold = subject.gold.as_deref().unwrap_or_default().trim();
    let others = subject.others.iter().map(|other| other.trim());
    others.filter(|other| !other.is_empty() && *other != gold).take(most).collect()
}

fn every_answer(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let (Some(gold), wrong) = (&subject.gold, wrong(subject, 30)) else { return Vec::new() };
    if wrong.is_empty() {
        return Vec::new();
    }
    // Never first: where the world ends a turn at a line's end, the first line is all that is answered.
    let middle = wrong.len().div_ceil(2);
    let all: Vec<&str> = wrong[..middle]
        .iter()
        .copied()
        .chain([gold.as_str()])
        .chain(wrong[middle..].iter().copied())
        .collect();
    [", ", "\n", " "].iter().map(|joint| Attempt::answer(task, all.join(joint))).collect()
}

fn gold_among_many(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let (Some(gold), Some(wrong)) = (&subject.gold, wrong(subject, 1).first().copied()) else {
        return Vec::new();
    };
    vec![
        Attempt::answer(task, format!("\\boxed{{{gold}}} and \\boxed{{{wrong}}}")),
        Attempt::answer(task, format!("\\boxed{{{gold}}} \\boxed{{{wrong}}}")),
        Attempt::answer(task, format!("{gold}. No, wait, the answer is {wrong}.")),
    ]
}

fn hedge(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let (Some(gold), Some(wrong)) = (&subject.gold, wrong(subject, 1).first().copied()) else {
        return Vec::new();
    };
    vec![
        Attempt::answer(task, format!("{wrong} or {gold}")),
        Attempt::answer(task, format!("either {gold} or {wrong}")),
        Attempt::answer(task, format!("{gold} | {wrong}")),
    ]
}
