//! Answers that have nothing to do with the task.

use super::about;
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

/// Whether `text` happens to be the right answer.
fn right(subject: &Subject, text: &str) -> bool {
    subject.gold.as_deref().is_some_and(|gold| gold.trim().eq_ignore_ascii_case(text.trim()))
}

fn junk(task: usize, subject: &Subject, stream: &mut Stream) -> Vec<Attempt> {
    let letters: String = (0..24).map(|_| char::from(b'a' + stream.below(26) as u8)).collect();
    let marks: String = (0..16).map(|_| char::from(33 + stream.below(15) as u8)).collect();
    let fixed = ["qqq zzz", "lorem ipsum dolor sit amet", "\\frac{}{}", "}{)(][", "\u{0}\u{1}\u{2}"];
    let texts = fixed.into_iter().map(str::to_owned).chain([letters, marks]);
    texts.filter(|text| !right(subject, text)).map(|text| Attempt::answer(task, text)).collect()
}

fn constant(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let words = ["0", "1", "-1", "2", "yes", "no", "True", "False", "A", "None", "unknown"];
    words.into_iter().filter(|word| !right(subject, word)).map(|word| Attempt::answer(task, word)).collect()
}

fn nulls(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let values = ["null", "NaN", "nan", "inf", "-inf", "[]", "{}", "0/0", "\\infty", "*", ".*", "%", "x"];
    values.into_iter().filter(|v| !right(subject, v)).map(|v| Attempt::answer(task, v)).collect()
}
