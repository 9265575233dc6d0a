//! One of a few given strings, standing alone in running text.

use super::text::{char_at, is_space, starts};

/// Where a string stands and where the match ends.
pub(super) struct Found {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: usize,
}

/// The first of `strings` at `at`.
pub(super) fn key(text: &str, at: usize, strings: &[String]) -> Option<usize> {
    strings.iter().find(|s| starts(text, at, s)).map(|s| at + s.len())
}

/// A string at `at` after white space or at the very start, perhaps bold, ending like a word.
pub(super) fn alone(text: &str, at: usize, strings: &[String]) -> Option<Found> {
    let start = (at == 0).then_some(0);
    let spaced = char_at(text, at).filter(|c| is_space(*c)).map(|c| at + c.len_utf8());
    [start, spaced].into_iter().flatten().find_map(|at| ending(text, at, strings))
}

/// A string at the very start of the text.
pub(super) fn at_start(text: &str, at: usize, strings: &[String]) -> Option<Found> {
    (at == 0).then(|| ending(text, 0, strings)).flatten()
}

fn ending(text: &str, at: usize, strings: &[String]) -> Option<Found> {
    let bold = starts(text, at, "**").then_some(at + 2);
    [bold, Some(at)].into_iter().flatten().find_map(|from| {
        strings.iter().filter(|s| starts(text, from, s)).find_map(|s| {
            let to = from + s.len();
            let bold = starts(text, to, "**").then_some(to + 2);
            [bold, Some(to)].into_iter().flatten().find_map(|at| match char_at(text, at) {
                None => Some(Found { from, to, end: at }),
                Some(c) if matches!(c, '.' | ',' | ':') || is_space(c) => {
                    Some(Found { from, to, end: at + c.len_utf8() })
                }
                Some(_) => None,
            })
        })
    })
}
