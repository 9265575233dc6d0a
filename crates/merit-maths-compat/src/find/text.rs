//! Small steps through a text: characters at byte positions, white space, digits, words without regard to case.

use merit_maths::{Budget, Exhausted};

/// A budget that remembers having run out, for searches that only answer yes or no.
pub(super) struct Meter<'a> {
    pub(super) budget: &'a mut Budget,
    pub(super) out: Option<Exhausted>,
}

impl Meter<'_> {
    /// Spends for `characters` looked at; false when the budget has run out.
    pub(super) fn spend(&mut self, characters: usize) -> bool {
        if self.out.is_none() {
            self.out = self.budget.spend(1 + characters as u64 / 16).err();
        }
        self.out.is_none()
    }
}

/// The character at `at`, if `at` is inside and on a boundary.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

pub(super) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// Whether `text` goes on with `word` at `at`.
pub(super) fn starts(text: &str, at: usize, word: &str) -> bool {
    text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(word.as_bytes()))
}

/// White space as Python's `\s` has it.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The position after all white space at `at`.
pub(super) fn skip_space(text: &str, mut at: usize) -> usize {
    while let Some(c) = char_at(text, at).filter(|c| is_space(*c)) {
        at += c.len_utf8();
    }
    at
}

/// The position after all ASCII digits at `at`.
pub(super) fn skip_digits(text: &str, mut at: usize) -> usize {
    while text.as_bytes().get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// Where `word` (ASCII, lower case) next stands at or after `from`, in any case.
pub(super) fn find_word(text: &str, from: usize, word: &str) -> Option<usize> {
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    let first = *word.first()?;
    let mut at = from;
    while at + word.len() <= bytes.len() {
        if bytes[at].eq_ignore_ascii_case(&first) && bytes[at..at + word.len()].eq_ignore_ascii_case(word) {
            return Some(at);
        }
        at += 1;
    }
    None
}
