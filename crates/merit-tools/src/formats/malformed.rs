//! What an agent is told whose call cannot be read: what is wrong, and the right form once.

use super::CallFormat;
use crate::ToolSpec;
use merit_core::ToolCall;

/// Longest text, in bytes: it is read by the policy token by token.
pub const MAX_TEXT: usize = 200;
/// Most of it that says what is wrong, when a form follows.
const MAX_WHAT: usize = 110;

/// A call that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct MalformedCall {
    /// What is wrong and what to write instead, in at most [`MAX_TEXT`] bytes.
    pub why: String,
}

impl MalformedCall {
    /// A text that needs no example.
    pub(super) fn new(why: &str) -> Self {
        Self { why: cut(why, MAX_TEXT) }
    }

    /// What is wrong, and the right form: the card's own example where it is short enough, the general shape otherwise.
    pub(super) fn teach<F: CallFormat + ?Sized>(format: &F, what: &str, card: Option<&ToolSpec>) -> Self {
        let what = cut(what, MAX_WHAT);
        let example = card.map(|card| {
            let call = ToolCall { tool: card.name.clone(), input: card.example.clone() };
            format.write(&[call], std::slice::from_ref(card))
        });
        let forms = example.into_iter().chain([format.shape().to_owned()]);
        let mut texts = forms.map(|form| format!("{what}; write {form}"));
        Self { why: texts.find(|text| text.len() <= MAX_TEXT).unwrap_or(what) }
    }
}

/// The text, or as much of it as fits, with a mark where it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    const MARK: &str = "...";
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(MARK.len()));
    format!("{}{MARK}", text.get(..end).unwrap_or_default())
}

/// A piece of the agent's text as it may be shown back: short, on one line.
pub(super) fn shown(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(25).collect();
    if plain.len() < text.len() { format!("{}...", plain.trim()) } else { plain }
}
