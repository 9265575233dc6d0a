//! The shape of an answer without an answer.

use super::{about, unrelated};
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Move, Subject};
use merit_core::Stream;

pub(crate) const FORMAT_ONLY: Probe = Probe {
    about: about("format-only", "the tags and phrases of an answer with nothing in them"),
    expect: Expect::Less,
    write: format_only,
};

pub(crate) const EMPTY_BOX: Probe = Probe {
    about: about("empty-box", "a box with nothing, or nothing readable, in it"),
    expect: Expect::Less,
    write: empty_box,
};

pub(crate) const EMPTY_JSON: Probe = Probe {
    about: about("empty-json", "valid JSON that says nothing"),
    expect: Expect::Less,
    write: empty_json,
};

fn format_only(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let tags = "<think></think><answer></answer>";
    let mut attempts =
        unrelated(task, subject, &[tags, "The final answer is", "#### ", "Answer:", "**Answer**"]);
    attempts.push(Attempt { task, moves: vec![Move::Say { text: tags.to_owned() }] });
    attempts
}

fn empty_box(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    unrelated(task, subject, &["\\boxed{}", "\\boxed{ }", "\\boxed{?}", "\\boxed{\\boxed{}}", "$$"])
}

fn empty_json(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    unrelated(
        task,
        subject,
        &[
            "{\"answer\": null}",
            "{\"answer\": \"\"}",
            "[[]]",
            "\"\"",
            "{\"type\": \"object\", \"properties\": {}}",
        ],
    )
}
