//! The seam of a combinator at work: an expression that can be evaluated for one episode.
//!
//! Scopes. An expression is evaluated for one episode of a batch, or for one turn of it ([`NodeContext::at_turn`]). A part that
//! compares episodes asks the compiler for a *slot*: before the expression itself is evaluated, the part below is evaluated
//! for every episode of the batch, and [`NodeContext::group`] and [`NodeContext::batch`] show what it came to in the others. A
//! part that learns from step to step reads [`NodeContext::kept`] and writes as a [`StateUpdate`].

use crate::ScoreContext;
use crate::compile::CompiledTerm;
use crate::range::Range;
use crate::run_term::value_of;
use crate::state::RewardState;
use crate::trace::Tracer;
use crate::value::Value;
use merit_core::{Episode, TermOutcome, TermScore};
use std::sync::Arc;

/// A compiled part.
pub type Node = Arc<dyn Expression>;

/// A part that can be evaluated. Pure: the same context gives the same value.
pub trait Expression: Send + Sync {
    /// What it comes to. Parts below are evaluated with [`evaluate`] or [`evaluate_as`], so that they are traced.
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value;

    /// Its name in an explanation.
    fn label(&self, context: &NodeContext<'_>) -> String;

    /// What of its value is earned by turn: one number per turn, in the units of the value. The rest is paid at the end.
    /// Absent: everything is.
    fn paid_by_turn(&self, _context: &NodeContext<'_>) -> Option<Vec<f64>> {
        None
    }

    /// The values it can come to, given those of every raw term.
    fn range(&self, terms: &[Range]) -> Range;
}

pub fn evaluate(part: &dyn Expression, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
    evaluate_in(None, part, context, tracer)
}

/// Evaluates a part that plays `role` in the one above.
pub fn evaluate_as(
    role: &'static str,
    part: &dyn Expression,
    context: &NodeContext<'_>,
    tracer: &mut Tracer,
) -> Value {
    evaluate_in(Some(role), part, context, tracer)
}

fn evaluate_in(
    role: Option<&'static str>,
    part: &dyn Expression,
    context: &NodeContext<'_>,
    tracer: &mut Tracer,
) -> Value {
    tracer.enter(role);
    let value = part.value(context, tracer).sound();
    tracer.leave(|| part.label(context), &value);
    value
}

/// Evaluates every part of a list.
pub fn evaluate_all(parts: &[Node], context: &NodeContext<'_>, tracer: &mut Tracer) -> Vec<Value> {
    parts.iter().map(|part| evaluate(part.as_ref(), context, tracer)).collect()
}

/// What the batch knows: who belongs together, and what the slots came to so far.
#[derive(Debug, Default)]
pub struct BatchValues {
    /// Positions of the members of each group, in the order of the batch.
    pub(crate) groups: Vec<Vec<usize>>,
    /// The group of each episode.
    pub(crate) group_of: Vec<usize>,
    /// What each slot came to, for each episode.
    pub(crate) slots: Vec<Vec<Value>>,
}

impl BatchValues {
    /// What a slot came to, for each episode of the batch.
    pub fn slot(&self, slot: Slot) -> &[Value] {
        self.slots.get(slot.0).map_or(&[], Vec::as_slice)
    }

    /// The mean of the numbers that a slot came to. Absent: there are none.
    pub fn mean(&self, slot: Slot) -> Option<f64> {
        let numbers = self.slot(slot).iter().filter_map(Value::number);
        let (sum, count) = numbers.fold((0.0, 0_u32), |(sum, count), x| (sum + x, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }
}

/// A part that is evaluated for the whole batch before the expression is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub(crate) usize);

/// What an expression is evaluated over: one episode among its batch, or one turn of it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NodeContext<'a> {
    pub episode: &'a Episode,
    pub(crate) terms: &'a [CompiledTerm],
    /// What every term said of it, in the order of the file.
    pub scores: &'a [TermScore],
    /// Step, policy version, seed and discount.
    pub run: &'a ScoreContext,
    pub(crate) state: &'a RewardState,
    pub(crate) values: &'a BatchValues,
    /// Position of the episode in the batch.
    pub(crate) at: usize,
    /// The turn looked at. Absent: the whole episode.
    pub turn: Option<usize>,
}

impl<'a> NodeContext<'a> {
    /// The same facts for one turn only.
    pub fn at_turn(&self, turn: usize) -> NodeContext<'a> {
        NodeContext { turn: Some(turn), ..*self }
    }

    /// The raw value of a term, or what stands in for it. For a turn: what the term found there; a term that looks at the
    /// whole episode says the same of every turn.
    pub fn raw(&self, term: usize) -> Value {
        let score = &self.scores[term];
        let whole = || value_of(&score.outcome, self.terms[term].on_parse_failure);
        match (self.turn, score.turns.is_empty(), &score.outcome) {
            (Some(turn), false, TermOutcome::Value { .. }) => {
                match score.turns.get(turn).copied().flatten() {
                    Some(value) => Value::Number(value),
                    None => Value::NotApplicable(format!("nothing to say of turn {turn}")),
                }
            }
            _ => whole(),
        }
    }

    /// What the slot came to in every member of the episode's group, the episode itself included, in the order of the batch.
    pub fn group(&self, slot: Slot) -> Vec<&'a Value> {
        let Some(column) = self.values.slots.get(slot.0) else { return Vec::new() };
        let members = self.values.group_of.get(self.at).and_then(|&group| self.values.groups.get(group));
        members.into_iter().flatten().filter_map(|&member| column.get(member)).collect()
    }

    /// What the slot came to in every member of the group but this one.
    pub fn others(&self, slot: Slot) -> Vec<&'a Value> {
        let Some(column) = self.values.slots.get(slot.0) else { return Vec::new() };
        let members = self.values.group_of.get(self.at).and_then(|&group| self.values.groups.get(group));
        let others = members.into_iter().flatten().filter(|&&member| member != self.at);
        others.filter_map(|&member| column.get(member)).collect()
    }

    /// What the slot came to in every episode of the batch.
    pub fn batch(&self, slot: Slot) -> &'a [Value] {
        self.values.slots.get(slot.0).map_or(&[], Vec::as_slice)
    }

    /// What the slot came to in this episode.
    pub fn own(&self, slot: Slot) -> Option<&'a Value> {
        self.values.slots.get(slot.0)?.get(self.at)
    }

    /// What is kept under `key` from earlier steps, while it is fresh.
    pub fn kept(&self, key: &str) -> Option<&'a [f64]> {
        self.state.get(key, self.run.version)
    }
}

/// A part that keeps something for the next step. Called once per batch, after every episode of it was scored.
pub trait StateUpdate: Send + Sync {
    /// Reads what the slots came to over the batch, and keeps what the next step needs.
    fn update(&self, values: &BatchValues, run: &ScoreContext, before: &RewardState, next: &mut RewardState);
}

/// A term in its place in the expression.
pub(crate) struct TermAt(pub(crate) usize);

impl Expression for TermAt {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        tracer.reads(self.0);
        let score = &context.scores[self.0];
        if let TermOutcome::ParseFailure { why } = &score.outcome {
            tracer.note(|| format!("parse failure: {why}"));
        }
        for evidence in &score.evidence {
            tracer.note(|| format!("{}: {}", evidence.act, evidence.finding));
        }
        if context.turn.is_none() && !score.turns.is_empty() {
            tracer.note(|| format!("by turn: {}", by_turn(&score.turns)));
        }
        context.raw(self.0).map(|raw| raw * score.weight)
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        let score = &context.scores[self.0];
        if score.weight == 1.0 {
            score.name.clone()
        } else {
            format!("{} (weight {})", score.name, score.weight)
        }
    }

    /// The weighted value goes to the turns in proportion to what the term found there. Turns that cancel out are paid as they
    /// are where the value is 0 too; otherwise there is no proportion.
    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let score = &context.scores[self.0];
        let value = score.outcome.value().filter(|_| score.turns.len() == context.episode.turns.len())?;
        let found: f64 = score.turns.iter().flatten().sum();
        let turns = score.turns.iter().map(|here| here.unwrap_or(0.0));
        if found != 0.0 {
            return Some(turns.map(|here| score.weight * value * here / found).collect());
        }
        let cancel = value == 0.0 && turns.clone().any(|here| here != 0.0);
        cancel.then(|| turns.map(|here| score.weight * here).collect())
    }

    fn range(&self, terms: &[Range]) -> Range {
        terms.get(self.0).copied().unwrap_or(Range::ALL)
    }
}

fn by_turn(turns: &[Option<f64>]) -> String {
    let shown: Vec<String> =
        turns.iter().map(|t| t.map_or_else(|| "–".to_owned(), |v| format!("{v}"))).collect();
    shown.join(" ")
}

/// Adds what several parts pay by turn. Absent: none of them does.
pub fn add_by_turn(parts: impl Iterator<Item = Option<Vec<f64>>>) -> Option<Vec<f64>> {
    parts.flatten().reduce(|mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(total, here)| *total += here);
        sum
    })
}
