//! A tokenizer trained on the spot: byte-level pair merging, with a marker for every role of a conversation.
//!
//! In: texts, or the file form of an earlier one. Out: merges, and tokens of any text. Ids are the special tokens, then the
//! 256 bytes, then the merges in the order they were learnt, then words that are kept whole. Text is first cut into pieces that
//! merges never cross: a whole word, a word with the space before it, one digit, a run of spaces, a run of other signs.

use super::whole::WholeWords;
use crate::TokenizerError;
use merit_core::TokenId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Tokens that no text encodes to, in the order of their ids.
pub(super) const SPECIALS: [&str; 7] =
    ["<|end|>", "<|system|>", "<|user|>", "<|policy|>", "<|tool|>", "<|environment|>", "<|hint|>"];
const FIRST_BYTE: u32 = SPECIALS.len() as u32;
const FIRST_MERGE: u32 = FIRST_BYTE + 256;

type Pair = (u32, u32);

/// Merges and what they make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TokenizerFile", into = "TokenizerFile")]
pub(super) struct Trained {
    merges: Vec<Pair>,
    ranks: HashMap<Pair, u32>,
    whole: WholeWords,
    /// What each token stands for; special tokens stand for no bytes.
    bytes: Vec<Vec<u8>>,
}

/// The form in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenizerFile {
    specials: Vec<String>,
    merges: Vec<Pair>,
    /// Words that are one token each, behind the merges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    whole: Vec<String>,
}

impl Trained {
    /// Learns merges until there are `vocab` tokens or nothing is left to merge. The most frequent pair goes first, of
    /// equals the one with the smaller ids; the order of the texts does not matter.
    pub(super) fn train<'a>(texts: impl Iterator<Item = &'a str>, vocab: usize, whole: WholeWords) -> Self {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut count = |text: &'a str| pieces(text).for_each(|piece| *counts.entry(piece).or_default() += 1);
        for mut text in texts {
            while let Some((before, _, rest)) = whole.split(text) {
                count(before);
                text = rest;
            }
            count(text);
        }
        let words = counts.iter().map(|(piece, &count)| (byte_ids(piece), count)).collect();
        let merges = Learner::new(words).learn(vocab.saturating_sub(FIRST_MERGE as usize));
        Self::from_merges(merges, whole).expect("learnt merges name earlier tokens")
    }

    fn from_merges(merges: Vec<Pair>, whole: WholeWords) -> Result<Self, TokenizerError> {
        let mut bytes: Vec<Vec<u8>> = vec![Vec::new(); SPECIALS.len()];
        bytes.extend((0..=u8::MAX).map(|byte| vec![byte]));
        let mut ranks = HashMap::new();
        for (rank, &(left, right)) in merges.iter().enumerate() {
            let known = FIRST_BYTE..bytes.len() as u32;
            if !known.contains(&left) || !known.contains(&right) {
                return Err(TokenizerError::File(format!(
                    "merge {rank} joins ({left}, {right}), which come later"
                )));
            }
            if ranks.insert((left, right), rank as u32).is_some() {
                return Err(TokenizerError::File(format!("merge {rank} of ({left}, {right}) appears twice")));
            }
            let joined = [&bytes[left as usize][..], &bytes[right as usize]].concat();
            if joined.len() > 1 << 16 {
                return Err(TokenizerError::File(format!(
                    "merge {rank} makes a token of {} bytes",
                    joined.len()
                )));
            }
            bytes.push(joined);
        }
        bytes.extend(whole.texts().iter().map(|text| text.clone().into_bytes()));
        Ok(Self { merges, ranks, whole, bytes })
    }

    /// The tokens of a text; never special ones.
    pub(super) fn encode(&self, text: &str) -> Vec<TokenId> {
        let mut known: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut tokens = Vec::with_capacity(text.len() / 2);
        let mut write = |text, tokens: &mut Vec<TokenId>| {
            for piece in pieces(text) {
                let ids = known.entry(piece).or_insert_with(|| self.merge(byte_ids(piece)));
                tokens.extend(ids.iter().map(|&id| TokenId(id)));
            }
        };
        let first_whole = FIRST_MERGE + self.merges.len() as u32;
        let mut left = text;
        while let Some((before, which, rest)) = self.whole.split(left) {
            write(before, &mut tokens);
            tokens.push(TokenId(first_whole + which as u32));
            left = rest;
        }
        write(left, &mut tokens);
        tokens
    }

    /// Applies the earliest-learnt merge that fits, everywhere from the left, until none fits.
    fn merge(&self, mut ids: Vec<u32>) -> Vec<u32> {
        loop {
            let ranks = ids.windows(2).filter_map(|pair| self.ranks.get(&(pair[0], pair[1])));
            let Some(&rank) = ranks.min() else { return ids };
            ids = join(&ids, self.merges[rank as usize], FIRST_MERGE + rank);
        }
    }

    /// The tokens of a text in which the names of special tokens stand for these tokens.
    pub(super) fn encode_with_specials(&self, text: &str) -> Vec<TokenId> {
        let (mut tokens, mut rest) = (Vec::new(), text);
        let first = |text: &str| SPECIALS.iter().filter_map(|name| Some((text.find(name)?, *name))).min();
        while let Some((at, name)) = first(rest) {
            tokens.extend(self.encode(&rest[..at]));
            tokens.extend(self.special(name));
            rest = &rest[at + name.len()..];
        }
        tokens.extend(self.encode(rest));
        tokens
    }

    /// The id of a special token such as `<|end|>`.
    pub(super) fn special(&self, name: &str) -> Option<TokenId> {
        SPECIALS.iter().position(|special| *special == name).map(|id| TokenId(id as u32))
    }

    /// How many tokens there are.
    pub(super) fn vocab_len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and strings are JSON")
    }

    /// Reads what [`Trained::to_json`] wrote, with checks.
    pub(super) fn from_json(text: &str) -> Result<Self, TokenizerError> {
        serde_json::from_str(text).map_err(|error| TokenizerError::File(error.to_string()))
    }

    pub(super) fn bytes(&self, token: TokenId) -> &[u8] {
        self.bytes.get(token.0 as usize).map_or(&[], Vec::as_slice)
    }
}

impl TryFrom<TokenizerFile> for Trained {
    type Error = TokenizerError;

    fn try_from(file: TokenizerFile) -> Result<Self, TokenizerError> {
        if file.specials != SPECIALS {
            let (got, want) = (file.specials, SPECIALS);
            return Err(TokenizerError::File(format!("has special tokens {got:?}, want {want:?}")));
        }
        Self::from_merges(file.merges, WholeWords::new(file.whole)?)
    }
}

impl From<Trained> for TokenizerFile {
    fn from(tokenizer: Trained) -> Self {
        let whole = tokenizer.whole.texts().to_vec();
        Self { specials: SPECIALS.map(str::to_owned).to_vec(), merges: tokenizer.merges, whole }
    }
}

fn byte_ids(piece: &str) -> Vec<u32> {
    piece.bytes().map(|byte| FIRST_BYTE + u32::from(byte)).collect()
}

fn join(ids: &[u32], pair: Pair, joined: u32) -> Vec<u32> {
    let mut out = Vec::with_capacity(ids.len());
    let mut rest = ids;
    while let Some((&first, tail)) = rest.split_first() {
        if first == pair.0 && tail.first() == Some(&pair.1) {
            out.push(joined);
            rest = &tail[1..];
        } else {
            out.push(first);
            rest = tail;
        }
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    Sign,
}

fn class(c: char) -> Class {
    match c {
        _ if c.is_alphabetic() => Class::Letter,
        _ if c.is_numeric() => Class::Digit,
        _ if c.is_whitespace() => Class::Space,
        _ => Class::Sign,
    }
}

/// Cuts a text into the pieces that merges stay within; together they are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let piece = &rest[..first_piece(rest)?];
        rest = &rest[piece.len()..];
        Some(piece)
    })
}

/// Length in bytes of the piece that a text begins with.
fn first_piece(text: &str) -> Option<usize> {
    let first = class(text.chars().next()?);
    let run = |text: &str, of: Class| text.find(|c| class(c) != of).unwrap_or(text.len());
    Some(match first {
        Class::Digit => text.chars().next()?.len_utf8(),
        Class::Space => {
            let len = run(text, Class::Space);
            let letters = run(&text[len..], Class::Letter);
            match text[..len].strip_suffix(' ') {
                Some("") if letters > 0 => 1 + letters,
                // The last space goes with the word that follows.
                Some(before) if letters > 0 => before.len(),
                _ => len,
            }
        }
        of => run(text, of),
    })
}

/// Words as ids, with what is needed to count pairs without looking at every word again.
struct Learner {
    words: Vec<(Vec<u32>, u64)>,
    counts: HashMap<Pair, i64>,
    places: HashMap<Pair, BTreeSet<usize>>,
}

impl Learner {
    fn new(words: Vec<(Vec<u32>, u64)>) -> Self {
        let mut learner = Self { words, counts: HashMap::new(), places: HashMap::new() };
        (0..learner.words.len()).for_each(|word| learner.tally(word, 1));
        learner
    }

    /// Adds (sign 1) or removes (sign -1) the pairs of one word.
    fn tally(&mut self, word: usize, sign: i64) {
        let (ids, count) = &self.words[word];
        for pair in ids.windows(2).map(|pair| (pair[0], pair[1])) {
            *self.counts.entry(pair).or_default() += sign * *count as i64;
            let places = self.places.entry(pair).or_default();
            if sign > 0 {
                places.insert(word)
            } else {
                places.remove(&word)
            };
        }
    }

    fn learn(mut self, most: usize) -> Vec<Pair> {
        let mut merges = Vec::new();
        while merges.len() < most {
            // A pair seen once saves nothing worth a token.
            let candidates = self.counts.iter().filter(|(_, count)| **count > 1);
            let best = candidates.max_by(|(a, x), (b, y)| x.cmp(y).then(b.cmp(a))).map(|(pair, _)| *pair);
            let Some(pair) = best else { break };
            let joined = FIRST_MERGE + merges.len() as u32;
            for word in self.places.remove(&pair).unwrap_or_default() {
                self.tally(word, -1);
                self.words[word].0 = join(&self.words[word].0, pair, joined);
                self.tally(word, 1);
            }
            self.counts.retain(|_, count| *count > 0);
            merges.push(pair);
        }
        merges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_digits_apart_and_words_with_their_space() {
        let check = |text: &str, want: &[&str]| assert_eq!(pieces(text).collect::<Vec<_>>(), want);
        check("a cat, 42", &["a", " cat", ",", " ", "4", "2"]);
        check("x  = y1\n z", &["x", "  ", "=", " y", "1", "\n", " z"]);
        check("été ½", &["été", " ", "½"]);
        check("   ", &["   "]);
        check("", &[]);
    }

    #[test]
    fn the_most_frequent_pair_is_merged_first_and_ties_go_to_the_smaller_ids() {
        // "ab" three times, "cd" and "ce" twice each; "ce" loses the tie to "cd".
        let tokenizer =
            Trained::train(["ab\nab\nab\ncd\ncd\nce\nce\n"].into_iter(), 265, WholeWords::default());
        let learnt: Vec<&[u8]> = (263..265).map(|id| tokenizer.bytes(TokenId(id))).collect();
        assert_eq!(learnt, [b"ab", b"cd"]);
    }

    #[test]
    fn earlier_merges_win_over_longer_ones() {
        // Learnt: ab, then (ab)c, then bc; "abc" must use ab first although bc also fits.
        let a = FIRST_BYTE + u32::from(b'a');
        let merges = vec![(a, a + 1), (a + 1, a + 2)];
        let tokenizer = Trained::from_merges(merges, WholeWords::default()).unwrap();
        assert_eq!(tokenizer.encode("abc"), [TokenId(FIRST_MERGE), TokenId(a + 2)]);
        assert_eq!(tokenizer.encode("bc"), [TokenId(FIRST_MERGE + 1)]);
    }

    #[test]
    fn special_names_in_a_text_are_only_text() {
        let tokenizer = Trained::train(["<|end|><|end|>"].into_iter(), 300, WholeWords::default());
        let end = tokenizer.special("<|end|>").unwrap();
        assert!(!tokenizer.encode("<|end|>").contains(&end));
        assert!(tokenizer.bytes(end).is_empty());
        assert_eq!(tokenizer.special("<|nothing|>"), None);
    }
}
