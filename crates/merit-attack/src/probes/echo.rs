//! The prompt itself as the answer.

use super::about;
use super::rewritten::formulas;
use crate::probe::{Expect, Probe};
use crate::subject::{Attempt, Subject};
use merit_core::Stream;

pub(crate) const ECHO: Probe =
    Probe { about: about("echo", "the prompt, word for word"), expect: Expect::Less, write: echo };

pub(crate) const RESTATE: Probe = Probe {
    about: about("restate", "the prompt's last sentence, and every number in it"),
    expect: Expect::Less,
    write: restate,
};

pub(crate) const UNEVALUATED: Probe = Probe {
    about: about(
        "unevaluated",
        "the formulas of the question, bare and in a box, instead of what they come to",
    ),
    expect: Expect::Less,
    write: unevaluated,
};

fn echo(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    if subject.prompt.is_empty() { Vec::new() } else { vec![Attempt::answer(task, &subject.prompt)] }
}

/// A prompt may hold its own answer. Where that is all that is given back, the audit leaves the attempt out.
fn restate(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let last = subject.prompt.trim_end().rsplit(['.', '\n']).find(|part| !part.trim().is_empty());
    let numbers: Vec<&str> = subject
        .prompt
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter(|part| part.chars().any(|c| c.is_ascii_digit()))
        .take(64)
        .collect();
    let listed = (numbers.len() > 1).then(|| numbers.join(" "));
    let texts = last.map(|text| text.trim().to_owned()).into_iter().chain(listed);
    texts.map(|text| Attempt::answer(task, text)).collect()
}

/// Only where a formula does not hold the answer as it stands.
fn unevaluated(task: usize, subject: &Subject, _: &mut Stream) -> Vec<Attempt> {
    let written =
        formulas(subject).into_iter().flat_map(|f| [f.clone(), format!("${f}$"), format!("\\boxed{{{f}}}")]);
    written.map(|text| Attempt::answer(task, text)).collect()
}
