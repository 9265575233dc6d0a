//! The right answer: what everything else is measured against, and ways to write it that must count as well.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const GOLD: Probe =
    Probe { about: about("gold", "the right answer"), expect: Expect::Full, write: gold };

pub(crate) const GOLD_SPACED: Probe = Probe {
    about: about("gold-spaced", "the right answer with white space around it"),
    expect: Expect::Full,
    write: spaced,
};

fn gold(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    subject.gold.iter().map(|gold| Attempt::answer(task, gold)).collect()
}

fn spaced(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    subject.gold.iter().map(|gold| Attempt::answer(task, format!("  {gold} \n"))).collect()
}
