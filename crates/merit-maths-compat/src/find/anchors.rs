//! The words that announce an answer, and how far from them it may stand.

use super::What;
use super::latex::starts_after_space;
use super::text::{char_at, is_space, skip_space, starts};

/// What comes before the thing looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    None,
    /// "final answer is … I hope".
    HopedFor,
    /// "final answer … is".
    FinalIs,
    AnswerColon,
    Answer,
}

/// What must or must not come after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    Anything,
    IHope,
    NoEquals,
}

impl Tail {
    /// The end of the whole match when the thing itself ends at `end`; nothing if the tail forbids it.
    pub(super) fn end(self, text: &str, end: usize) -> Option<usize> {
        match self {
            Self::Anything => Some(end),
            Self::NoEquals => (!starts(text, skip_space(text, end), "=")).then_some(end),
            Self::IHope => {
                let at = if starts(text, end, ".") { end + 1 } else { end };
                let spaced = char_at(text, at).filter(|c| is_space(*c)).map(|c| at + c.len_utf8());
                [spaced, Some(at)]
                    .into_iter()
                    .flatten()
                    .find(|at| starts(text, *at, "I hope"))
                    .map(|at| at + 6)
            }
        }
    }
}

impl Anchor {
    /// The word it starts with, in lower case.
    pub(super) fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::HopedFor => Some("final answer is"),
            Self::FinalIs => Some("final answer"),
            Self::AnswerColon => Some("answer:"),
            Self::Answer => Some("answer"),
        }
    }

    /// Asks `accept` with each position where the thing may start, nearest first, until it says yes.
    pub(super) fn each_start(
        self,
        text: &str,
        start: usize,
        what: &What<'_>,
        accept: &mut dyn FnMut(usize, Tail) -> bool,
    ) {
        let at = start + self.word().map_or(0, str::len);
        match self {
            Self::None => {
                accept(start, Tail::Anything);
            }
            Self::HopedFor => {
                let at = if starts(text, at, ":") { at + 1 } else { at };
                let _ = starts_after_space(text, at).into_iter().any(|at| accept(at, Tail::IHope));
            }
            Self::FinalIs => final_is(text, at, what, accept),
            Self::AnswerColon | Self::Answer => after_answer(text, at, what, accept),
        }
    }
}

/// Up to 100 characters, white space, "is", perhaps a colon.
fn final_is(text: &str, from: usize, what: &What<'_>, accept: &mut dyn FnMut(usize, Tail) -> bool) {
    let lines = matches!(what, What::Latex);
    for at in positions(text, from, 100, lines) {
        let spaces = skip_space(text, at);
        if spaces == at || !starts(text, spaces, "is") {
            continue;
        }
        let after = spaces + 2;
        let after = [starts(text, after, ":").then_some(after + 1), Some(after)];
        let found = after.into_iter().flatten().any(|at| match what {
            What::ExprOrNumber => accept(at, Tail::Anything),
            _ => starts_after_space(text, at).into_iter().any(|at| accept(at, Tail::Anything)),
        });
        if found {
            return;
        }
    }
}

/// Plain arithmetic prefers the last equals sign within 100 characters; everything else starts within 50.
fn after_answer(text: &str, from: usize, what: &What<'_>, accept: &mut dyn FnMut(usize, Tail) -> bool) {
    let lines = matches!(what, What::Latex);
    let tail = if matches!(what, What::ExprOrNumber) { Tail::NoEquals } else { Tail::Anything };
    if tail == Tail::NoEquals {
        let equals: Vec<usize> =
            positions(text, from, 100, lines).filter(|at| starts(text, *at, "=")).collect();
        for at in equals.into_iter().rev() {
            if starts_after_space(text, at + 1).into_iter().any(|at| accept(at, tail)) {
                return;
            }
        }
    }
    for at in positions(text, from, 50, lines) {
        if accept(at, tail) {
            return;
        }
    }
}

/// The positions from `from` on, at most `most` characters further, and on one line unless `lines`.
fn positions(text: &str, from: usize, most: usize, lines: bool) -> impl Iterator<Item = usize> + '_ {
    let rest = text.get(from..).unwrap_or("");
    let line = if lines { rest.len() } else { rest.find('\n').unwrap_or(rest.len()) };
    let inside = rest.char_indices().map(|(i, _)| i).chain([rest.len()]);
    inside.take(most + 1).take_while(move |i| *i <= line).map(move |i| from + i)
}
