//! Turns that are held to a grammar while they are sampled.

use crate::ChatFormat;
use merit_api::sampler::ConstraintSource;
use merit_core::{Boundary, Fault};
use merit_model::grammar_constraint;
use merit_text::{GrammarFactory, GrammarSource};
use serde_json::{Value, json};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What makes constraints for the tokenizer of a rollout; made when the first one is asked for.
#[derive(Default)]
pub struct Grammars {
    factory: OnceLock<Result<GrammarFactory, String>>,
    /// The last one: a world may hold all of its tasks to the same.
    last: Mutex<Option<(Value, ConstraintSource)>>,
}

impl Grammars {
    /// The constraint of JSON that fits `schema`, or of text that matches `{ "regex": … }`; the fault is the environment's, whose
    /// schema it is.
    pub(crate) fn of(&self, chat: &ChatFormat, schema: Option<Value>) -> Result<ConstraintSource, Fault> {
        let fault = |why: String| Fault::new(Boundary::Environment, why);
        let missing = || {
            let why = "it has no JSON Schema and no regular expression, which `rollout.grammar` needs; leave that out";
            fault(why.to_owned())
        };
        let schema = schema.ok_or_else(missing)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = last.as_ref().filter(|(known, _)| *known == schema) {
            return Ok(made.clone());
        }
        let make = || GrammarFactory::new(chat.tokenizer(), chat.ends()).map_err(|error| error.to_string());
        let factory = self.factory.get_or_init(make).as_ref().map_err(|why| fault(why.clone()))?;
        let grammar = factory.compile(&source(schema.clone())).map_err(|error| fault(error.to_string()))?;
        Ok(last.insert((schema, grammar_constraint(grammar))).1.clone())
    }
}

fn source(mut schema: Value) -> GrammarSource {
    if let Some(keys) = schema.as_object_mut() {
        if let (1, Some(Value::String(regex))) = (keys.len(), keys.get("regex")) {
            return GrammarSource::Regex(regex.clone());
        }
        // White space may go on for ever, and says nothing.
        keys.entry("x-guidance").or_insert_with(|| json!({ "whitespace_flexible": false }));
    }
    GrammarSource::JsonSchema(schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_api::sampler::TokenMask;
    use merit_core::Seed;
    use merit_model::Tokenizer;
    use std::sync::Arc;

    #[test]
    fn whatever_is_sampled_under_a_regular_expression_matches_it() {
        let names = ["home cut rope yard", "home cut wool cup", "lab heat soup hour"];
        let text = "use home cut rope yard then lab heat soup hour";
        let tokenizer = Arc::new(Tokenizer::train([text, text].into_iter(), 300));
        let chat = ChatFormat::new(Arc::clone(&tokenizer)).unwrap();
        let grammars = Grammars::default();
        let regex = json!({ "regex": format!("use ({})", names.join("|")) });
        let held = grammars.of(&chat, Some(regex.clone())).unwrap();
        assert_eq!(grammars.of(&chat, Some(regex)).unwrap(), held, "compiled once");
        let mut rng = Seed::root(1).stream();
        for _ in 0..20 {
            let (mut state, mut tokens) = (held.begin(), Vec::new());
            while !state.may_stop().unwrap() {
                let mut mask = TokenMask::none(tokenizer.vocab_len());
                state.mask(&mut mask).unwrap();
                let allowed: Vec<_> = (0..tokenizer.vocab_len() as u32)
                    .map(merit_core::TokenId)
                    .filter(|t| mask.allows(*t))
                    .collect();
                let token = *rng.pick(&allowed).unwrap();
                state.advance(token).unwrap();
                tokens.push(token);
            }
            let said = tokenizer.decode(&tokens);
            assert!(names.contains(&said.strip_prefix("use ").unwrap()), "{said}");
        }
        let wrong = grammars.of(&chat, Some(json!({ "regex": "a(b" }))).unwrap_err();
        assert!(wrong.message.contains("regular expression"), "{}", wrong.message);
        let none = grammars.of(&chat, None).unwrap_err();
        assert!(none.message.contains("no JSON Schema and no regular expression"), "{}", none.message);
    }
}
