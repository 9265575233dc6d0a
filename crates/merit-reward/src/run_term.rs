//! Evaluates a term and turns whatever goes wrong into a recorded outcome.

use crate::compile::CompiledTerm;
use crate::term::{BatchCounts, EvalContext, ParseFailurePath, Term, TermResult};
use crate::value::Value;
use merit_core::{Episode, TermOutcome, TermScore};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Lets `term` count over the batch, and catches whatever goes wrong.
pub(crate) fn count(term: &dyn Term, batch: &[&Episode]) -> Result<BatchCounts, String> {
    catch_unwind(AssertUnwindSafe(|| term.count(batch))).map_err(|panic| panicked(panic.as_ref()))
}

/// What a term said, and what it would have said without its error rates, where it has any.
pub(crate) struct EvaluatedTerm {
    pub(crate) score: TermScore,
    /// Absent: the same as the score's.
    pub(crate) undisturbed: Option<TermOutcome>,
}

/// Evaluates `term`, and catches whatever goes wrong.
pub(crate) fn run(
    term: &CompiledTerm,
    context: &EvalContext<'_>,
    counts: &Result<BatchCounts, String>,
) -> EvaluatedTerm {
    let evaluate =
        |counts| catch_unwind(AssertUnwindSafe(|| term.term.evaluate(&EvalContext { counts, ..*context })));
    let mut result = match counts.as_ref().map(evaluate) {
        Ok(Ok(result)) => sound(result, context.episode.turns.len()),
        Ok(Err(panic)) => TermResult::broken(panicked(panic.as_ref())),
        Err(why) => TermResult::broken(why.clone()),
    };
    let undisturbed = term.errors.map(|errors| {
        let before = result.outcome.clone();
        errors.disturb(&mut result, context.run.seed, &term.name, &context.episode.id);
        before
    });
    let score = TermScore::new(&term.name, result.outcome)
        .with_weight(term.weight)
        .with_turns(result.turns)
        .with_evidence(result.evidence);
    EvaluatedTerm { score, undisturbed }
}

fn sound(result: TermResult, turns: usize) -> TermResult {
    if let TermOutcome::Value { value } = result.outcome
        && !value.is_finite()
    {
        return TermResult::broken(format!("it came to {value}"));
    }
    if result.turns.iter().flatten().any(|value| !value.is_finite()) {
        return TermResult::broken("a turn's value is not finite");
    }
    if !result.turns.is_empty() && result.turns.len() != turns {
        return TermResult::broken(format!("it gave {} values for {turns} turns", result.turns.len()));
    }
    result
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_else(|| "no message".to_owned()))
}

/// What a term's outcome enters the expression as, before its weight.
pub(crate) fn value_of(outcome: &TermOutcome, path: ParseFailurePath) -> Value {
    match (outcome, path) {
        (TermOutcome::Value { value }, _) => Value::Number(*value),
        (TermOutcome::NotApplicable { why }, _) => Value::NotApplicable(why.clone()),
        (TermOutcome::ParseFailure { .. }, ParseFailurePath::Value(value)) => Value::Number(value),
        (TermOutcome::ParseFailure { why }, ParseFailurePath::Unscorable) => Value::Unscorable(why.clone()),
        (TermOutcome::GraderFailed { why }, _) => Value::Broken(why.clone()),
    }
}
