//! What may be said, token by token: the seam for grammars and schemas.
//!
//! A [`ConstraintSource`] goes with the sampling parameters and begins a [`Constraint`] for each completion. The sampler
//! asks for the tokens that may come next, draws one of them and tells which.

use merit_core::TokenId;
use std::fmt;
use std::sync::Arc;

/// The state of one constrained completion. An error ends that completion alone.
pub trait Constraint: Send {
    /// Allows the tokens that may come next; `allowed` comes with none. Stop tokens are the sampler's: it allows them where
    /// [`Constraint::may_stop`], and nowhere else.
    fn mask(&mut self, allowed: &mut TokenMask) -> Result<(), String>;

    /// Takes note of the token that was drawn; never a stop token.
    fn advance(&mut self, token: TokenId) -> Result<(), String>;

    /// Whether what was said so far may stand as it is.
    fn may_stop(&mut self) -> Result<bool, String>;
}

/// Begins a constraint for each completion; clones begin the same one.
#[derive(Clone)]
pub struct ConstraintSource(Arc<dyn Fn() -> Box<dyn Constraint> + Send + Sync>);

impl ConstraintSource {
    /// Wraps the function that begins one.
    pub fn new(begin: impl Fn() -> Box<dyn Constraint> + Send + Sync + 'static) -> Self {
        Self(Arc::new(begin))
    }

    /// A constraint that has seen nothing yet.
    pub fn begin(&self) -> Box<dyn Constraint> {
        (self.0)()
    }
}

impl fmt::Debug for ConstraintSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConstraintSource")
    }
}

impl PartialEq for ConstraintSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A set of tokens of one vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenMask {
    words: Vec<u64>,
    vocab: usize,
}

impl TokenMask {
    /// No token of a vocabulary of this size.
    pub fn none(vocab: usize) -> Self {
        Self { words: vec![0; vocab.div_ceil(64)], vocab }
    }

    /// Takes all tokens out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Puts a token in; one outside the vocabulary is ignored, since it can never be drawn.
    pub fn allow(&mut self, token: TokenId) {
        let token = token.0 as usize;
        if token < self.vocab {
            self.words[token / 64] |= 1 << (token % 64);
        }
    }

    /// The token may not be drawn at this position.
    pub fn forbid(&mut self, token: TokenId) {
        let token = token.0 as usize;
        if token < self.vocab {
            self.words[token / 64] &= !(1 << (token % 64));
        }
    }

    /// Whether a token is in.
    pub fn allows(&self, token: TokenId) -> bool {
        let token = token.0 as usize;
        token < self.vocab && self.words[token / 64] >> (token % 64) & 1 == 1
    }

    /// Whether no token is in.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many tokens there are to choose from.
    pub fn vocab(&self) -> usize {
        self.vocab
    }

    /// The set as bits: token t is bit `t % 64` of word `t / 64`. Bits behind the vocabulary are ignored.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The set as bits, as [`TokenMask::words_mut`] has them.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_holds_what_was_put_in_and_nothing_behind_the_vocabulary() {
        let mut mask = TokenMask::none(70);
        assert!(mask.is_empty());
        for token in [0, 63, 64, 69, 70, 1000] {
            mask.allow(TokenId(token));
        }
        let held: Vec<u32> = (0..2000).filter(|&token| mask.allows(TokenId(token))).collect();
        assert_eq!(held, [0, 63, 64, 69]);
        mask.forbid(TokenId(63));
        mask.forbid(TokenId(5000));
        assert!(!mask.allows(TokenId(63)) && mask.allows(TokenId(64)));
        mask.clear();
        assert!(mask.is_empty());
    }
}
