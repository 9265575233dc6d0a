//! The merges of a SentencePiece vocabulary, worked out from its scores.
//!
//! In: tokens with scores. Out: pairs in order of rank. SentencePiece joins the neighbours whose joined token has the best
//! score; stated as a list, that is every way to cut every token into two others, the best token first, and of the cuts of
//! equal tokens the longer left part first.

use std::cmp::Reverse;
use std::collections::HashMap;

/// One token: its text and score.
pub(super) type Scored<'a> = (&'a str, f32);

/// Every pair of tokens that makes a third, best first. Tokens that are absent take no part.
pub(super) fn from_scores<'a>(tokens: &[Option<Scored<'a>>]) -> Vec<(&'a str, &'a str)> {
    let known = tokens.iter().zip(0u32..).filter_map(|(token, id)| Some((token.as_ref()?.0, id)));
    let ids: HashMap<&str, u32> = known.collect();
    let mut merges: Vec<Merge<'a>> = Vec::new();
    for (token, id) in tokens.iter().zip(0u32..) {
        let Some((text, score)) = *token else { continue };
        merges.extend(text.char_indices().skip(1).filter_map(|(at, _)| {
            let (left, right) = text.split_at(at);
            let parts = (*ids.get(left)?, *ids.get(right)?);
            let lengths = (left.chars().count(), right.chars().count());
            Some(Merge { score, lengths, made: id, parts, texts: (left, right) })
        }));
    }
    merges.sort_by(|a, b| {
        let key = |merge: &Merge<'_>| (Reverse(merge.lengths), merge.made, merge.parts);
        b.score.total_cmp(&a.score).then_with(|| key(a).cmp(&key(b)))
    });
    merges.into_iter().map(|merge| merge.texts).collect()
}

struct Merge<'a> {
    score: f32,
    lengths: (usize, usize),
    made: u32,
    parts: (u32, u32),
    texts: (&'a str, &'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_tokens_come_first_and_absent_ones_take_no_part() {
        let tokens = [Some(("a", -9.0)), Some(("b", -9.0)), Some(("ab", -2.0)), Some(("ba", -1.0)), None];
        assert_eq!(from_scores(&tokens), [("b", "a"), ("a", "b")]);
        let tokens = [Some(("a", 0.0)), Some(("aa", -1.0)), Some(("aaa", -1.0))];
        assert_eq!(from_scores(&tokens), [("aa", "a"), ("a", "aa"), ("a", "a")]);
    }
}
