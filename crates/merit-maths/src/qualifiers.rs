//! Words beside a number that make it another number, or say that it is not this one: `not 4`, `half of 4`, `4 tenths`, `4 or 5`.
//!
//! In: the words before a number, or those after it. Out: where such words stand among them. A label (`Area: 4`) and a unit
//! (`4 apples`) are no such words.

use crate::parse::number_in_words;

/// What words before a number make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Its negative.
    Sign,
    /// Another number, or none.
    Other,
}

/// Words that deny the number that follows.
const DENIALS: [&str; 6] = ["not", "never", "cannot", "neither", "nor", "except"];
/// Words that compare with the number after `than`.
const COMPARATIVES: [&str; 8] = ["less", "fewer", "more", "greater", "larger", "bigger", "smaller", "higher"];
/// Words that make another number of the one that follows directly.
const MULTIPLES: [&str; 4] = ["twice", "double", "triple", "between"];
/// Words that may stand between such a word and the number.
const BETWEEN: [&str; 19] = [
    "than",
    "or",
    "equal",
    "to",
    "of",
    "be",
    "exactly",
    "the",
    "a",
    "just",
    "simply",
    "get",
    "possible",
    "quite",
    "really",
    "actually",
    "necessarily",
    "even",
    "only",
];
/// Parts of one, without the plural's s.
const PARTS: [&str; 12] = [
    "half",
    "third",
    "quarter",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "hundredth",
    "thousandth",
];
/// Longest run of words that is looked at.
const MOST: usize = 7;

/// What the words at the end of `text`, directly before a number, make of it, and where they begin.
pub(crate) fn before(text: &str) -> Option<(Change, usize)> {
    let mut following: Vec<String> = Vec::new();
    let mut end = text.trim_end_matches([' ', '\t', '$', '*', '_', '~', '\\', '(', '{']).len();
    for _ in 0..MOST {
        let start = end - text[..end].rsplit(char::is_whitespace).next().map_or(0, str::len);
        let word = text[start..end].to_lowercase();
        let next = following.last().map(String::as_str);
        let direct = next.is_none_or(|next| matches!(next, "of" | "the"));
        let changed = match word.as_str() {
            "minus" | "negative" if next.is_none() => Some(Change::Sign),
            denial if DENIALS.contains(&denial) || denial.ends_with("n't") => Some(Change::Other),
            word if COMPARATIVES.contains(&word) && next == Some("than") => Some(Change::Other),
            word if MULTIPLES.contains(&word) && direct => Some(Change::Other),
            word if is_part(word) && next == Some("of") => Some(Change::Other),
            _ => None,
        };
        if let Some(change) = changed {
            return Some((change, start));
        }
        if start == 0 || !BETWEEN.contains(&word.as_str()) {
            return None;
        }
        following.push(word);
        end = text[..start].trim_end().len();
    }
    None
}

/// Where the words end that stand directly after a number, at the beginning of `text`, and change it.
pub(crate) fn after(text: &str) -> Option<usize> {
    let words = words(text);
    let lower: Vec<&str> = words.iter().map(|(_, word)| word.as_str()).collect();
    let ends_here = |at: usize| {
        words.get(at).is_some_and(|(end, _)| {
            text[*end..].trim_start().is_empty()
                || text[*end..].starts_with(['.', ',', ';', '!', '?', '}', ')'])
        })
    };
    let length = match lower.as_slice() {
        ["and", one, part, ..] if is_part(part) && (matches!(*one, "a" | "an") || is_number(one)) => 3,
        ["and", "half", ..] => 2,
        ["or", other, ..] if is_number(other) || COMPARATIVES.contains(other) || *other == "lower" => 2,
        ["or", "maybe" | "perhaps" | "possibly" | "even", other, ..] if is_number(other) => 3,
        ["to", other, ..] if is_number(other) => 2,
        ["squared" | "cubed", ..] if ends_here(0) => 1,
        // Quarters are coins and terms too.
        [part, ..]
            if is_part(part)
                && !part.starts_with("quarter")
                && (ends_here(0) || lower.get(1) == Some(&"of")) =>
        {
            1
        }
        _ => return None,
    };
    words.get(length - 1).map(|(end, _)| *end)
}

/// The first words of a text in lower case, each with the position of its end; marks before and after a word left out.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut at = 0;
    while all.len() < 4 {
        let rest = &text[at..];
        let start =
            at + rest.len() - rest.trim_start_matches([' ', '\t', ',', '$', '\\', '(', '*', '~']).len();
        let word = &text[start..];
        let length =
            word.find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '$' | '}' | ')' | '!' | '?'));
        let word = &word[..length.unwrap_or(word.len())];
        let word = word.trim_end_matches('.');
        if word.is_empty() {
            return all;
        }
        at = start + word.len();
        all.push((at, word.to_lowercase()));
    }
    all
}

fn is_part(word: &str) -> bool {
    word == "halves" || PARTS.contains(&word.strip_suffix('s').unwrap_or(word))
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) || number_in_words(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_number_change_it_or_name_it() {
        for text in [
            "not ",
            "certainly not",
            "not equal to",
            "is less than",
            "greater than or equal to",
            "half of",
            "one third of the",
            "no more than",
            "between",
            "twice",
            "it isn't",
            "not quite",
            "not $",
        ] {
            assert_eq!(before(text).map(|(change, _)| change), Some(Change::Other), "{text}");
        }
        for text in ["minus", "x is minus ", "negative $"] {
            assert_eq!(before(text).map(|(change, _)| change), Some(Change::Sign), "{text}");
        }
        for text in [
            "",
            "The answer is",
            "Area:",
            "Probability of not winning:",
            "If not,",
            "second half",
            "exactly",
            "a total of",
            "at least",
            "than",
            "the answer to the",
            "Sum of the",
        ] {
            assert_eq!(before(text), None, "{text}");
        }
        assert_eq!(before("I say it is not equal to"), Some((Change::Other, 12)));
    }

    #[test]
    fn words_after_a_number_change_it_or_are_its_unit() {
        for (text, until) in [
            ("and a half", 10),
            (" and a half.", 11),
            (" tenths", 7),
            (" squared.", 8),
            ("or 5", 4),
            (" or five.", 8),
            (", or maybe 5", 12),
            (" or more", 8),
            ("thirds of a mile", 6),
            (" to 7", 5),
        ] {
            assert_eq!(after(text), Some(until), "{text}");
        }
        for text in [
            "",
            " apples",
            " or so",
            " and we are done",
            " squared units",
            " third graders",
            " quarters",
            " cm",
            " or equivalently 8/2",
            " to go",
            ".",
        ] {
            assert_eq!(after(text), None, "{text}");
        }
    }
}
