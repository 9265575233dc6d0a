//! Whether an answer is only the question given back: equal mathematics, and no answer.

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
