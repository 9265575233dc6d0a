//! The right answer: what everything else is measured against, and ways to write it that must count as well.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Move, Subject};
use merit_core::Stream;

pub(crate) const GOLD: Probe = Probe {
    about: about("gold", "the right answer, with all the work that is asked for"),
    expect: Expect::Full,
    write: gold,
};

pub(crate) const GOLD_SPACED: Probe = Probe {
    about: about("gold-spaced", "the right answer with white space around it"),
    expect: Expect::Full,
    write: spaced,
};

fn gold(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    subject.right_moves().into_iter().map(|moves| Attempt { task, moves }).collect()
}

fn spaced(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let Some(mut moves) = subject.right_moves() else { return Vec::new() };
    let Some(Move::Answer { text }) = moves.last_mut() else { return Vec::new() };
    *text = format!("  {text} \n");
    vec![Attempt { task, moves }]
}
