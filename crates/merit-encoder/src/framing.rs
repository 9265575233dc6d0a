//! A text as the tokens that an encoder reads: marks, words, marks, cut to what the model takes.
//!
//! What the tokenizer puts around a text is found by showing it two texts. Words never become marks, also where they spell
//! the name of one.

use merit_core::TokenId;
use merit_text::Tokenizer;

/// What stands around every text, and how long it may be.
#[derive(Debug)]
pub(crate) struct Framing {
    before: Vec<TokenId>,
    after: Vec<TokenId>,
    most: usize,
    lower_case: bool,
}

impl Framing {
    /// The marks of a tokenizer whose texts may have `most` tokens; the number of marks where they alone are too many.
    pub(crate) fn new(tokenizer: &Tokenizer, most: usize, lower_case: bool) -> Result<Self, usize> {
        let (empty, full) = (tokenizer.encode_framed(""), tokenizer.encode_framed("a"));
        let shared = empty.iter().zip(&full).take_while(|(a, b)| a == b).count();
        let (before, after) = empty.split_at(shared);
        if empty.len() >= most {
            return Err(empty.len());
        }
        Ok(Self { before: before.to_vec(), after: after.to_vec(), most, lower_case })
    }

    /// The tokens of a text; words that do not fit are left out at its end.
    pub(crate) fn tokens(&self, tokenizer: &Tokenizer, text: &str) -> Vec<TokenId> {
        let words = match self.lower_case {
            true => tokenizer.encode(&text.to_lowercase()),
            false => tokenizer.encode(text),
        };
        let room = self.most - self.before.len() - self.after.len();
        let words = words.into_iter().take(room);
        self.before.iter().copied().chain(words).chain(self.after.iter().copied()).collect()
    }
}
