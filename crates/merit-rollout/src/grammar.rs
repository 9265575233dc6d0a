//! Turns that are held to a grammar while they are sampled.

use crate::ChatFormat;
use merit_api::sampler::ConstraintSource;
use merit_core::{Boundary, Fault};
use merit_model::grammar_constraint;
use merit_text::{GrammarFactory, GrammarSource};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// What makes constraints for the tokenizer of a rollout; made when the first one is asked for.
#[derive(Default)]
pub struct Grammars(OnceLock<Result<GrammarFactory, String>>);

impl Grammars {
    /// The constraint of JSON that fits `schema`; the fault is the environment's, whose schema it is.
    pub(crate) fn of(&self, chat: &ChatFormat, schema: Option<Value>) -> Result<ConstraintSource, Fault> {
        let fault = |why: String| Fault::new(Boundary::Environment, why);
        let missing =
            || fault("it has no JSON Schema, which `rollout.grammar` needs; leave that out".to_owned());
        let mut schema = schema.ok_or_else(missing)?;
        // White space may go on for ever, and says nothing.
        if let Some(keys) = schema.as_object_mut() {
            keys.entry("x-guidance").or_insert_with(|| json!({ "whitespace_flexible": false }));
        }
        let make = || GrammarFactory::new(chat.tokenizer(), chat.ends()).map_err(|error| error.to_string());
        let factory = self.0.get_or_init(make).as_ref().map_err(|why| fault(why.clone()))?;
        let grammar = factory.compile(&GrammarSource::JsonSchema(schema));
        grammar.map(grammar_constraint).map_err(|error| fault(error.to_string()))
    }
}
