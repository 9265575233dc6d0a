//! Keeps false alarms out: an attack that happens to be right is no attack.
//!
//! A text is taken for right where it is the gold answer but for case, white space and the writing of a number. That leaves
//! answers which are right in some other way (another valid plan, another name of the same thing): only the target can tell
//! those, and a finding on them is for people to judge.

use crate::subject::{Attempt, Move, Subject};

impl Subject {
    /// What does the work: `gold_moves`, or the right answer at once. Absent: it is unknown.
    pub fn right_moves(&self) -> Option<Vec<Move>> {
        if !self.gold_moves.is_empty() {
            return Some(self.gold_moves.clone());
        }
        self.gold.as_ref().map(|gold| vec![Move::Answer { text: gold.clone() }])
    }

    /// The right answer as a number, where it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        number(self.gold.as_deref()?)
    }

    /// Whether `text` is the right answer, however it is spaced, cased or written as a number.
    pub fn is_right(&self, text: &str) -> bool {
        let Some(gold) = self.gold.as_deref() else { return false };
        plain(gold).eq(plain(text)) || number(gold).is_some_and(|n| number(text) == Some(n))
    }

    /// Whether the right answer stands in `text` as a word of its own: what is written for somebody else may hold it by
    /// chance, as `score: 1` does where 1 is right.
    pub fn names_gold(&self, text: &str) -> bool {
        let Some(gold) = self.gold.as_deref().map(str::trim).filter(|gold| !gold.is_empty()) else {
            return false;
        };
        let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '+' | '_')));
        (text.contains(gold) && gold.chars().count() > 2)
            || words.map(|word| word.trim_matches('.')).any(|word| !word.is_empty() && self.is_right(word))
    }

    /// Whether an attempt makes the right moves, up to white space around the last.
    pub(crate) fn does_the_work(&self, attempt: &Attempt) -> bool {
        let trimmed = |moves: &[Move]| {
            let mut moves = moves.to_vec();
            if let Some(Move::Answer { text }) = moves.last_mut() {
                *text = text.trim().to_owned();
            }
            moves
        };
        self.right_moves().is_some_and(|right| trimmed(&right) == trimmed(&attempt.moves))
    }

    /// Whether an attempt is right after all: its last word is the right answer, or it does all that is to be done.
    pub(crate) fn is_right_attempt(&self, attempt: &Attempt) -> bool {
        let by_answer = attempt.final_answer().is_some_and(|text| self.is_right(text));
        by_answer || (!self.gold_moves.is_empty() && attempt.moves == self.gold_moves)
    }
}

/// The letters in lower case, without white space.
fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase)
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(gold: &str) -> Subject {
        Subject { gold: Some(gold.to_owned()), ..Subject::default() }
    }

    #[test]
    fn right_is_right_in_any_spacing_case_and_writing_of_a_number() {
        for (gold, text) in [("6", " 6.0\n"), ("True", "true"), ("[1, 2]", "[1,2]"), ("1e3", "1000")] {
            assert!(subject(gold).is_right(text), "{gold} {text}");
        }
        assert!(!subject("6").is_right("6%"));
        assert!(!subject("6").is_right(""));
    }

    #[test]
    fn a_word_is_named_only_where_it_stands_alone() {
        assert!(subject("1").names_gold("reward = 1.0"));
        assert!(!subject("1").names_gold("reward = 10"));
        assert!(!subject("a").names_gold("lorem ipsum"));
        assert!(subject("ipsum").names_gold("lorem ipsum dolor"));
    }
}
