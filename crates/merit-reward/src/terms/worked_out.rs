//! Whether an answer was worked out: equal mathematics is not yet an answer where it is the question given back, a sum left
//! undone, or a number with a letter for a digit.

use merit_core::{Episode, Role};

/// Whether `answer` stands word for word in what was asked, and the reference is written otherwise. A bare number is worked
/// out, wherever it stands.
pub(crate) fn is_restated(episode: &Episode, answer: &str, reference: &str) -> bool {
    /// Shorter pieces stand in any question.
    const LEAST: usize = 3;
    let answer = squeezed(answer);
    let number = answer.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '%'));
    if number || answer.chars().count() < LEAST || answer == squeezed(reference) {
        return false;
    }
    let opening = episode.transcript.segments().iter().take_while(|segment| !segment.role.trainable());
    opening
        .filter(|segment| matches!(segment.role, Role::User | Role::Environment))
        .any(|segment| squeezed(&segment.text).contains(&answer))
}

/// The text without what only spaces it.
fn squeezed(text: &str) -> String {
    let spacing = [r"\left", r"\right", r"\,", r"\;", r"\!", r"\:", "$"];
    let plain = spacing.iter().fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    plain.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Whether the reference is a number as it is written and the answer still has to be worked out: `6*7` for `42`. Both as
/// parsed. A mixed number (`3 + 1/2`) is a number; what follows a number is its unit.
pub(crate) fn is_undone(answer: &str, reference: &str) -> bool {
    has_operations(answer)
        && !has_operations(reference)
        && reference.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
}

fn has_operations(parsed: &str) -> bool {
    let mut words = parsed.split_whitespace().filter(|word| !word.starts_with('"'));
    let Some(first) = words.next() else { return false };
    let rest: Vec<&str> = words.collect();
    let is_mixed =
        matches!(rest[..], ["+", part] if part.contains('/')) && first.bytes().all(|b| b.is_ascii_digit());
    first.contains(['*', '^', '(']) || (rest.iter().any(|word| matches!(*word, "+" | "-")) && !is_mixed)
}

/// Whether a Cyrillic letter touches a number in front, as in `О.375`: it stands for a digit that it is not.
pub(crate) fn is_forged(answer: &str) -> bool {
    let letters = answer.char_indices().filter(|(_, c)| ('\u{400}'..='\u{52F}').contains(c));
    letters.into_iter().any(|(at, c)| {
        let behind = answer.get(at + c.len_utf8()..).unwrap_or_default();
        behind.strip_prefix(['.', ',']).unwrap_or(behind).starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_still_to_be_worked_out_is_not_done() {
        for undone in ["6*7", "2^10", "1 + 2", "10 - 3", "sqrt(4)", "factorial(5)", "\"is\" 6*7"] {
            assert!(is_undone(undone, "42"), "{undone}");
        }
        for done in ["42", "-42", "9/12", "3 + 1/2", "5 m^2", "12 dollars", "50%", "\"about\" 42"] {
            assert!(!is_undone(done, "42"), "{done}");
        }
        // Where the reference is no plain number, its form says nothing.
        assert!(!is_undone("(x - 1)*(x + 1)", "x^2 - 1"));
        assert!(!is_undone("2*sqrt(3)", "sqrt(12)"));
    }

    #[test]
    fn a_letter_for_a_digit_is_forged_and_words_are_not() {
        assert!(is_forged("О.375") && is_forged("З7"));
        assert!(!is_forged("0.375") && !is_forged("5 км") && !is_forged("ответ 5") && !is_forged("约5"));
    }
}
