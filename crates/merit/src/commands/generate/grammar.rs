//! Schemas and patterns as constraints of the sampler.

use super::line::{Refusal, RefusalKind};
use merit_model::{ConstraintSource, LanguageModel, grammar_constraint};
use merit_text::{Grammar, GrammarFactory, GrammarSource};
use std::collections::HashMap;

/// Grammars that are kept compiled.
const KEPT: usize = 64;

/// Compiles grammars for one model.
pub(super) struct Grammars<'a> {
    model: &'a LanguageModel,
    factory: Option<GrammarFactory>,
    kept: HashMap<String, Grammar>,
}

impl<'a> Grammars<'a> {
    pub(super) fn new(model: &'a LanguageModel) -> Self {
        Self { model, factory: None, kept: HashMap::new() }
    }

    /// The constraint that a text be what `source` says.
    pub(super) fn constraint(&mut self, source: &GrammarSource) -> Result<ConstraintSource, Refusal> {
        let refuse =
            |error: merit_text::GrammarError| Refusal::new(RefusalKind::Constraint, error.to_string());
        let key = serde_json::to_string(source)
            .map_err(|error| Refusal::new(RefusalKind::Constraint, error.to_string()))?;
        let grammar = match self.kept.get(&key) {
            Some(grammar) => grammar.clone(),
            None => {
                let grammar = self.factory().map_err(refuse)?.compile(source).map_err(refuse)?;
                if self.kept.len() >= KEPT {
                    self.kept.clear();
                }
                self.kept.insert(key, grammar.clone());
                grammar
            }
        };
        Ok(grammar_constraint(grammar))
    }

    fn factory(&mut self) -> Result<&GrammarFactory, merit_text::GrammarError> {
        if self.factory.is_none() {
            self.factory = Some(GrammarFactory::new(self.model.tokenizer(), self.model.ends())?);
        }
        Ok(self.factory.as_ref().expect("it was just made"))
    }
}
