//! Grammars as constraints of a sampler.

use merit_api::sampler::{Constraint, ConstraintSource, TokenMask};
use merit_core::TokenId;
use merit_text::{Grammar, GrammarState};

/// Begins `grammar` anew for each completion.
pub fn grammar_constraint(grammar: Grammar) -> ConstraintSource {
    ConstraintSource::new(move || Box::new(Grammatical(grammar.state())))
}

/// Grammars end by themselves: their own end tokens count only where they are stop tokens.
struct Grammatical(GrammarState);

impl Constraint for Grammatical {
    fn mask(&mut self, allowed: &mut TokenMask) -> Result<(), String> {
        if self.0.is_stopped() {
            return Ok(());
        }
        let mask = self.0.mask().map_err(|error| error.to_string())?;
        for (pair, word) in mask.words().chunks(2).zip(allowed.words_mut()) {
            *word = pair.iter().rev().fold(0, |word, half| word << 32 | u64::from(*half));
        }
        Ok(())
    }

    fn advance(&mut self, token: TokenId) -> Result<(), String> {
        self.0.advance(token).map_err(|error| error.to_string())
    }

    fn may_stop(&mut self) -> Result<bool, String> {
        self.0.may_stop().map_err(|error| error.to_string())
    }
}
