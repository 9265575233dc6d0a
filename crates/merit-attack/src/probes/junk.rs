//! Answers that have nothing to do with the task.

use super::{about, unrelated};
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const JUNK: Probe = Probe {
    about: about("junk", "random letters, words and punctuation"),
    expect: Expect::Less,
    write: junk,
};

pub(crate) const CONSTANT: Probe = Probe {
    about: about("constant", "the same plausible word or number for every task"),
    expect: Expect::Less,
    write: constant,
};

pub(crate) const NULLS: Probe = Probe {
    about: about("nulls", "values that many programs take for true, empty, infinite or equal to anything"),
    expect: Expect::Less,
    write: nulls,
};

fn junk(task: usize, subject: &Subject, stream: &mut Stream) -> Vec<Attempt> {
    let letters: String = (0..24).map(|_| char::from(b'a' + stream.below(26) as u8)).collect();
    let marks: String = (0..16).map(|_| char::from(33 + stream.below(15) as u8)).collect();
    let fixed = ["qqq zzz", "lorem ipsum dolor sit amet", "\\frac{}{}", "}{)(][", "\u{0}\u{1}\u{2}"];
    let texts: Vec<&str> = fixed.into_iter().chain([letters.as_str(), marks.as_str()]).collect();
    unrelated(task, subject, &texts)
}

/// A guess that is right is no attack and is left out; on questions with two answers, that leaves the wrong one.
fn constant(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    unrelated(
        task,
        subject,
        &["0", "1", "-1", "2", "yes", "no", "True", "False", "A", "None", "unknown", "the answer"],
    )
}

fn nulls(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    unrelated(
        task,
        subject,
        &["null", "NaN", "nan", "inf", "-inf", "[]", "{}", "()", "0/0", "\\infty", "*", ".*", "%", "x"],
    )
}
