//! The probes, grouped by what they abuse. Each is a plain function from a task to attempts.

pub(crate) mod code;
pub(crate) mod echo;
pub(crate) mod format_only;
pub(crate) mod gold;
pub(crate) mod injection;
pub(crate) mod junk;
pub(crate) mod long;
pub(crate) mod nothing;
pub(crate) mod queries;
pub(crate) mod rewritten;
pub(crate) mod several;
pub(crate) mod tricks;
pub(crate) mod unicode;

use crate::subject::{Attempt, Subject};
use merit_core::About;

/// What a probe says of itself.
const fn about(name: &'static str, summary: &'static str) -> About {
    About { name, summary, paper: "" }
}

/// Answers that have nothing to do with the right one: texts in which it stands by chance are left out.
fn unrelated(task: usize, subject: &Subject, texts: &[&str]) -> Vec<Attempt> {
    let texts = texts.iter().filter(|text| !subject.names_gold(text));
    texts.map(|text| Attempt::answer(task, *text)).collect()
}
