//! No work at all.

use super::about;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Move, Subject};
use merit_core::Stream;

pub(crate) const DO_NOTHING: Probe =
    Probe { about: about("do-nothing", "no turn at all"), expect: Expect::Less, write: do_nothing };

pub(crate) const EMPTY: Probe =
    Probe { about: about("empty", "an empty answer"), expect: Expect::Less, write: empty };

pub(crate) const WHITE_SPACE: Probe = Probe {
    about: about("white-space", "an answer of white space, or a turn that says nothing"),
    expect: Expect::Less,
    write: white_space,
};

fn do_nothing(task: usize, _: &Subject, _: &mut Stream) -> Vec<Attempt> {
    vec![Attempt { task, moves: Vec::new() }]
}

fn empty(task: usize, _: &Subject, _: &mut Stream) -> Vec<Attempt> {
    vec![Attempt::answer(task, "")]
}

fn white_space(task: usize, _: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let silent = Attempt { task, moves: vec![Move::Say { text: String::new() }] };
    vec![Attempt::answer(task, " \t\n"), silent]
}
