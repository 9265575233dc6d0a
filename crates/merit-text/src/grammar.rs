//! Grammars: which tokens may come next so that the whole is what was asked for.
//!
//! In: a JSON Schema, a regular expression or a grammar in Lark's notation, and a tokenizer. Out: a mask over the vocabulary
//! at every step, across token borders. A [`GrammarFactory`] is made once for a tokenizer, a [`Grammar`] once for a source; a
//! [`GrammarState`] follows one text. Parsing is llguidance's; every step has its limit of work, set there.

use crate::Tokenizer;
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};
use llguidance::{Matcher, ParserFactory};
use merit_core::TokenId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the text has to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrammarSource {
    /// JSON that fits this schema.
    JsonSchema(serde_json::Value),
    /// Text that matches this regular expression as a whole.
    Regex(String),
    /// Text of this grammar, in llguidance's variant of Lark; its start rule is `start`.
    Lark(String),
}

/// A grammar that cannot be used, or a token that it does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// The tokenizer cannot be used for grammars.
    #[error("grammar: {0}")]
    Tokenizer(String),
    #[error("{kind}: {why}")]
    Source {
        /// `JSON schema`, `regular expression` or `grammar`.
        kind: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A token that may not come here.
    #[error("token {token} ({text:?}) may not come here")]
    NotAllowed { token: u32, text: String },
    /// The work of one step passed its limit, or the state was used after an error.
    #[error("grammar: {0}")]
    Failed(String),
}

/// Makes grammars for one tokenizer. Cheap to clone.
#[derive(Clone)]
pub struct GrammarFactory {
    factory: Arc<ParserFactory>,
    tokenizer: Tokenizer,
    ends: Arc<[TokenId]>,
}

/// A compiled grammar. Cheap to clone.
#[derive(Clone)]
pub struct Grammar {
    fresh: Arc<std::sync::Mutex<Matcher>>,
    tokenizer: Tokenizer,
    ends: Arc<[TokenId]>,
}

/// How far a text has come in a grammar.
#[derive(Clone)]
pub struct GrammarState {
    matcher: Matcher,
    tokenizer: Tokenizer,
    ends: Arc<[TokenId]>,
    /// Whether an end token has been taken; nothing may follow.
    ended: bool,
}

/// One bit for each token: whether it may come next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenMask {
    words: Vec<u32>,
    len: usize,
}

impl GrammarFactory {
    /// A factory for `tokenizer`, whose texts are ended by any of `ends`.
    ///
    /// ```
    /// use merit_text::{GrammarFactory, GrammarSource, Tokenizer};
    /// let tokenizer = Tokenizer::train(["yes no"].into_iter(), 300);
    /// let end = tokenizer.special("<|end|>").unwrap();
    /// let factory = GrammarFactory::new(&tokenizer, &[end])?;
    /// let mut state = factory.compile(&GrammarSource::Regex("yes|no".to_owned()))?.state();
    /// state.advance(tokenizer.encode("n")[0])?;
    /// assert!(state.mask()?.allows(tokenizer.encode("o")[0]));
    /// let refused = state.advance(tokenizer.encode("x")[0]);
    /// assert!(matches!(refused, Err(merit_text::GrammarError::NotAllowed { .. })));
    /// # Ok::<(), merit_text::GrammarError>(())
    /// ```
    pub fn new(tokenizer: &Tokenizer, ends: &[TokenId]) -> Result<Self, GrammarError> {
        let vocab = tokenizer.vocab_len();
        let Some(first) = ends.first() else {
            return Err(GrammarError::Tokenizer("no token that ends a text was given".to_owned()));
        };
        if let Some(end) = ends.iter().find(|end| end.0 as usize >= vocab) {
            let message = format!("end token {} is not one of the {vocab} tokens", end.0);
            return Err(GrammarError::Tokenizer(message));
        }
        let words: Vec<Vec<u8>> = (0..vocab as u32).map(|id| word(tokenizer, TokenId(id))).collect();
        let bytes: usize = words.iter().map(Vec::len).sum();
        if bytes > MOST_BYTES {
            let message = format!("the tokens have {bytes} bytes together; {MOST_BYTES} are possible");
            return Err(GrammarError::Tokenizer(message));
        }
        let ids: Vec<u32> = ends.iter().map(|end| end.0).collect();
        let trie = TokTrie::from(&TokRxInfo::new(vocab as u32, first.0), &words).with_eos_tokens(&ids);
        let env: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory =
            ParserFactory::new_simple(&env).map_err(|error| GrammarError::Tokenizer(error.to_string()))?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory: Arc::new(factory), tokenizer: tokenizer.clone(), ends: ends.into() })
    }

    pub fn compile(&self, source: &GrammarSource) -> Result<Grammar, GrammarError> {
        let (kind, grammar) = match source {
            GrammarSource::JsonSchema(schema) => {
                ("JSON schema", TopLevelGrammar::from_json_schema(schema.clone()))
            }
            GrammarSource::Regex(regex) => ("regular expression", TopLevelGrammar::from_regex(regex)),
            GrammarSource::Lark(text) => ("grammar", TopLevelGrammar::from_lark(text.clone())),
        };
        let why = |error: String| GrammarError::Source { kind, why: error };
        let parser = self.factory.create_parser(grammar).map_err(|error| why(format!("{error:#}")))?;
        let matcher = Matcher::new(Ok(parser));
        match matcher.get_error() {
            Some(error) => Err(why(error)),
            None => Ok(Grammar {
                fresh: Arc::new(std::sync::Mutex::new(matcher)),
                tokenizer: self.tokenizer.clone(),
                ends: Arc::clone(&self.ends),
            }),
        }
    }
}

impl Grammar {
    /// The state before the first token.
    pub fn state(&self) -> GrammarState {
        let fresh = self.fresh.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (tokenizer, ends) = (self.tokenizer.clone(), Arc::clone(&self.ends));
        GrammarState { matcher: fresh.clone(), tokenizer, ends, ended: false }
    }
}

impl GrammarState {
    /// The tokens that may come next; those that end the text are among them when it may end here.
    pub fn mask(&mut self) -> Result<TokenMask, GrammarError> {
        let vob: SimpleVob = self.matcher.compute_mask_or_eos().map_err(failed)?;
        Ok(TokenMask { words: vob.as_slice().to_vec(), len: self.tokenizer.vocab_len() })
    }

    /// Goes on by one token. A token that may not come here changes nothing.
    pub fn advance(&mut self, token: TokenId) -> Result<(), GrammarError> {
        let taken = if self.ends.contains(&token) {
            !self.ended && self.may_stop()?
        } else if (token.0 as usize) < self.tokenizer.vocab_len() && !self.is_stopped() {
            self.matcher.try_consume_tokens(&[token.0]).map_err(failed)? == 1
        } else {
            false
        };
        self.ended |= taken && self.ends.contains(&token);
        if taken {
            return Ok(());
        }
        let text = self.tokenizer.decode_with_specials(&[token]);
        Err(GrammarError::NotAllowed { token: token.0, text })
    }

    /// Whether the text may end here.
    pub fn may_stop(&mut self) -> Result<bool, GrammarError> {
        if let Some(error) = self.matcher.get_error() {
            return Err(failed(error));
        }
        Ok(self.is_stopped() || self.matcher.is_accepting().map_err(failed)?)
    }

    /// Whether the text has ended, or nothing but its end may follow.
    pub fn is_stopped(&self) -> bool {
        self.ended || self.matcher.is_stopped()
    }
}

impl TokenMask {
    /// Whether `token` may come next.
    pub fn allows(&self, token: TokenId) -> bool {
        let id = token.0 as usize;
        id < self.len && self.words.get(id / 32).is_some_and(|word| word >> (id % 32) & 1 == 1)
    }

    /// The tokens that may come next, in the order of their ids.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> + '_ {
        (0..self.len as u32).map(TokenId).filter(|&token| self.allows(token))
    }

    /// The bits, 32 to a word, lowest first.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// How many tokens the mask is about.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is about no token at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Longer tokens do not fit the trie of tokens and are never allowed.
const LONGEST_TOKEN: usize = 1000;
/// What the trie can hold in the worst case.
const MOST_BYTES: usize = (1 << 22) - 1;

/// The bytes of a token for the trie; special tokens are set apart by a byte that no text has.
fn word(tokenizer: &Tokenizer, token: TokenId) -> Vec<u8> {
    let bytes = match tokenizer.special_name(token) {
        Some(name) => [&[TokTrie::SPECIAL_TOKEN_MARKER], name.as_bytes()].concat(),
        None => tokenizer.bytes(token).to_vec(),
    };
    if bytes.len() > LONGEST_TOKEN { Vec::new() } else { bytes }
}

fn failed(error: impl std::fmt::Display) -> GrammarError {
    GrammarError::Failed(error.to_string())
}
