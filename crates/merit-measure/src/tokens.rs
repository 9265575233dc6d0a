//! Tokens as chips: each token the policy chose, coloured by what credit gave it, or by how unlikely it was.

use crate::html::{escape, number};
use merit_core::{Segment, TokenId};
use std::collections::HashMap;
use std::fmt::Write as _;

/// More chips than this in one segment are unreadable and make the page slow.
const MOST: usize = 600;

/// How tokens read.
pub(crate) struct Vocabulary(pub(crate) HashMap<TokenId, String>);

/// What colours the chips.
pub(crate) struct Paint<'a> {
    /// Advantages of the segment's tokens. Absent: colour by probability.
    pub(crate) advantages: Option<&'a [f32]>,
    /// The largest magnitude in the group, which gets the strongest colour.
    pub(crate) strongest: f32,
}

impl Vocabulary {
    /// The text of each token. Absent where it is not known.
    fn texts(&self, segment: &Segment) -> Vec<Option<String>> {
        let known: Vec<Option<String>> =
            segment.tokens.iter().map(|token| self.0.get(token).cloned()).collect();
        let one_each = segment.text.chars().count() == segment.tokens.len();
        if self.0.is_empty() && one_each {
            return segment.text.chars().map(|c| Some(c.to_string())).collect();
        }
        known
    }
}

/// The chips of a policy segment.
pub(crate) fn chips(segment: &Segment, vocabulary: &Vocabulary, paint: &Paint<'_>) -> String {
    let mut out = String::from("<div class=\"chips\">");
    for (at, text) in vocabulary.texts(segment).into_iter().enumerate().take(MOST) {
        let logprob = segment.logprobs.get(at).copied().unwrap_or(0.0);
        let advantage = paint.advantages.and_then(|advantages| advantages.get(at)).copied();
        let class = advantage.map_or_else(|| rarity(logprob), |a| strength(a, paint.strongest));
        let mut hint = format!("p {:.3}, log-prob {}", logprob.exp(), number(f64::from(logprob)));
        if let Some(advantage) = advantage {
            hint = format!("advantage {}, {hint}", number(f64::from(advantage)));
        }
        let (class, text) = match text {
            Some(text) if !text.is_empty() => (class, escape(&text).replace('\n', "⏎\n")),
            _ => (format!("{class} id").trim_start().to_owned(), format!("#{}", segment.tokens[at].0)),
        };
        let _ = write!(out, "<span class=\"{class}\" title=\"{hint}\">{text}</span>");
    }
    if segment.tokens.len() > MOST {
        let _ = write!(out, " … and {} more tokens", segment.tokens.len() - MOST);
    }
    out.push_str("</div>");
    out
}

/// `p1`…`p4` above 0, `n1`…`n4` below, in quarters of the strongest.
fn strength(advantage: f32, strongest: f32) -> String {
    if advantage == 0.0 || strongest <= 0.0 || !advantage.is_finite() {
        return String::new();
    }
    let quarter = (4.0 * advantage.abs() / strongest).ceil().clamp(1.0, 4.0);
    format!("{}{quarter}", if advantage > 0.0 { 'p' } else { 'n' })
}

/// `u1`…`u4` for tokens the policy gave less than 90, 50, 20 and 5 in a hundred.
fn rarity(logprob: f32) -> String {
    let p = logprob.exp();
    let level = [0.9, 0.5, 0.2, 0.05].into_iter().filter(|bound| p < *bound).count();
    if level == 0 { String::new() } else { format!("u{level}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_sign_and_size() {
        let cases = [(0.0, ""), (0.1, "p1"), (-0.5, "n2"), (1.0, "p4"), (-2.0, "n4")];
        for (advantage, class) in cases {
            assert_eq!(strength(advantage, 1.0), class);
        }
        assert_eq!(strength(1.0, 0.0), "");
    }

    #[test]
    fn colours_follow_rarity() {
        let cases = [(1.0, ""), (0.8, "u1"), (0.4, "u2"), (0.1, "u3"), (0.01, "u4")];
        for (p, class) in cases {
            assert_eq!(rarity(f32::ln(p)), class);
        }
    }
}
