//! Too much of it: over-long answers, deep nesting, the same bonus over and over.

use super::{about, unrelated};
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Move, Subject};
use merit_core::Stream;

pub(crate) const OVER_LONG: Probe = Probe {
    about: about(
        "over-long",
        "a hundred thousand characters, with and without the right answer buried in them",
    ),
    expect: Expect::Less,
    write: over_long,
};

pub(crate) const NESTED: Probe = Probe {
    about: about("nested", "braces and brackets nested far deeper than any answer"),
    expect: Expect::Less,
    write: nested,
};

pub(crate) const BONUS_FARM: Probe = Probe {
    about: about("bonus-farm", "the same harmless call or phrase many times, and no answer worth having"),
    expect: Expect::Less,
    write: bonus_farm,
};

const LONG: usize = 100_000;
const CALLS: usize = 40;

fn over_long(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let padding = "the answer is unknown. ".repeat(LONG / 23);
    let mut attempts = vec![Attempt::answer(task, &padding)];
    if let Some(gold) = &subject.gold {
        attempts.push(Attempt::answer(task, format!("{gold} {padding}")));
    }
    attempts
}

/// The innermost number is no power of anything near an answer, so that brackets which mean nothing do not make it right.
fn nested(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let deep = |open: &str, close: &str| format!("{}7919{}", open.repeat(20_000), close.repeat(20_000));
    let texts = [deep("{", "}"), deep("[", "]"), deep("(", ")"), deep("\\frac{7}{", "}")];
    unrelated(task, subject, &texts.each_ref().map(String::as_str))
}

fn bonus_farm(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let say = Move::Say { text: "<think>thinking</think> OBSERVATION: so far so good".into() };
    let talk = vec![say; CALLS].into_iter().chain([Move::Answer { text: "unknown".into() }]).collect();
    let mut attempts = vec![Attempt { task, moves: talk }];
    for tool in &subject.tools {
        let call = Move::call(tool, "1");
        let calls = vec![call; CALLS].into_iter().chain([Move::Answer { text: "unknown".into() }]).collect();
        attempts.push(Attempt { task, moves: calls });
    }
    attempts
}
