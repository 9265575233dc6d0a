//! The potential of a shaped reward: what a term or an expression says of each turn.
//!
//! It may look at what has happened so far and at nothing later. A term that looks at the whole episode would tell early
//! turns of the end, so one that has no values by turn is refused as a broken grader. What a gate inside it looks at by name
//! stands elsewhere and is not checked.

use crate::prelude::*;
use merit_core::TermOutcome;
use std::ops::Range as Span;

pub(super) enum Potential {
    /// The raw turn values of a term.
    Term(usize),
    /// A part evaluated at every turn, and which terms are its own.
    Part(Node, Span<usize>),
}

impl Potential {
    pub(super) fn compile(config: &Condition, compiler: &mut Compiler) -> Result<Self, RewardError> {
        match config {
            Condition::Term(name) => compiler.find(name).map(Self::Term),
            Condition::Expression(config) => {
                let first = compiler.terms.len();
                let part = compiler.part_by_turn("potential", config)?;
                Ok(Self::Part(part, first..compiler.terms.len()))
            }
        }
    }

    /// Its value after each turn; a turn of which nothing is said holds the value before.
    pub(super) fn after_turns(
        &self,
        start: f64,
        context: &NodeContext<'_>,
        tracer: &mut Tracer,
    ) -> Result<Vec<f64>, Value> {
        self.check(context)?;
        let mut held = start;
        (0..context.episode.turns.len())
            .map(|turn| {
                let context = context.at_turn(turn);
                let value = match self {
                    Self::Term(term) => {
                        tracer.reads(*term);
                        context.raw(*term).sound()
                    }
                    Self::Part(part, _) => evaluate_as("potential", part.as_ref(), &context, tracer),
                };
                match value {
                    Value::Number(value) => held = value,
                    Value::NotApplicable(_) => {}
                    other => return Err(other),
                }
                Ok(held)
            })
            .collect()
    }

    fn check(&self, context: &NodeContext<'_>) -> Result<(), Value> {
        let terms = match self {
            Self::Term(term) => *term..*term + 1,
            Self::Part(_, terms) => terms.clone(),
        };
        let whole = context.scores[terms].iter().find(|score| {
            let says = matches!(score.outcome, TermOutcome::Value { .. });
            says && score.turns.is_empty() && !context.episode.turns.is_empty()
        });
        match whole {
            Some(score) => {
                let why = format!("term `{}` has no values by turn, so it is no potential", score.name);
                Err(Value::Broken(why))
            }
            None => Ok(()),
        }
    }

    pub(super) fn range(&self, terms: &[Range]) -> Range {
        match self {
            // `terms` are weighted values, and the raw ones enter here.
            Self::Term(_) => Range::ALL,
            Self::Part(part, _) => part.range(terms),
        }
    }
}
