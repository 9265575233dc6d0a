//! The seam of a combinator at work: an expression that can be evaluated over the facts of one episode.
//!
//! Scopes. An expression is evaluated for one episode of a batch, or for one turn of it ([`Facts::at_turn`]). A part that
//! compares episodes asks the compiler for a *slot*: before the expression itself is evaluated, the part below is evaluated
//! for every episode of the batch, and [`Facts::group`] and [`Facts::batch`] show what it came to in the others. A part that
//! learns from step to step reads [`Facts::kept`] and writes as a [`Watcher`].

use crate::ScoreContext;
use crate::compile::CompiledTerm;
use crate::range::Range;
use crate::state::RewardState;
use crate::term;
use crate::trace::Tracer;
use crate::worth::Worth;
use merit_core::{Episode, TermOutcome, TermScore};
use std::sync::Arc;

/// A compiled part.
pub(crate) type Node = Arc<dyn Expression>;

/// A part that can be evaluated. Pure: the same facts give the same worth.
pub(crate) trait Expression: Send + Sync {
    /// What it comes to. Parts below are evaluated with [`evaluate`] or [`evaluate_as`], so that they are traced.
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth;

    /// Its name in an explanation.
    fn label(&self, facts: &Facts<'_>) -> String;

    /// What of its value is earned by turn: one number per turn, in the units of the value. The rest is paid at the end.
    /// Absent: everything is.
    fn paid_by_turn(&self, _facts: &Facts<'_>) -> Option<Vec<f64>> {
        None
    }

    /// The values it can come to, given those of every raw term.
    fn range(&self, terms: &[Range]) -> Range;
}

/// Evaluates a part.
pub(crate) fn evaluate(part: &dyn Expression, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
    evaluate_in(None, part, facts, tracer)
}

/// Evaluates a part that plays `role` in the one above.
pub(crate) fn evaluate_as(
    role: &'static str,
    part: &dyn Expression,
    facts: &Facts<'_>,
    tracer: &mut Tracer,
) -> Worth {
    evaluate_in(Some(role), part, facts, tracer)
}

fn evaluate_in(
    role: Option<&'static str>,
    part: &dyn Expression,
    facts: &Facts<'_>,
    tracer: &mut Tracer,
) -> Worth {
    tracer.enter(role);
    let worth = part.value(facts, tracer).sound();
    tracer.leave(|| part.label(facts), &worth);
    worth
}

/// Evaluates every part of a list.
pub(crate) fn evaluate_all(parts: &[Node], facts: &Facts<'_>, tracer: &mut Tracer) -> Vec<Worth> {
    parts.iter().map(|part| evaluate(part.as_ref(), facts, tracer)).collect()
}

/// What the batch knows: who belongs together, and what the slots came to so far.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Positions of the members of each group, in the order of the batch.
    pub(crate) groups: Vec<Vec<usize>>,
    /// The group of each episode.
    pub(crate) group_of: Vec<usize>,
    /// What each slot came to, for each episode.
    pub(crate) slots: Vec<Vec<Worth>>,
}

/// A place in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub(crate) usize);

/// What an expression is evaluated over: one episode among its batch, or one turn of it.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) episode: &'a Episode,
    pub(crate) terms: &'a [CompiledTerm],
    pub(crate) scores: &'a [TermScore],
    pub(crate) context: &'a ScoreContext,
    pub(crate) state: &'a RewardState,
    pub(crate) table: &'a Table,
    /// Position of the episode in the batch.
    pub(crate) at: usize,
    /// The turn looked at. Absent: the whole episode.
    pub(crate) turn: Option<usize>,
}

impl<'a> Facts<'a> {
    /// The same facts for one turn only.
    pub(crate) fn at_turn(&self, turn: usize) -> Facts<'a> {
        Facts { turn: Some(turn), ..*self }
    }

    /// The raw value of a term, or what stands in for it. For a turn: what the term found there; a term that looks at the
    /// whole episode says the same of every turn.
    pub(crate) fn raw(&self, term: usize) -> Worth {
        let score = &self.scores[term];
        let whole = || term::worth(&score.outcome, self.terms[term].settings.on_parse_failure);
        match (self.turn, score.turns.is_empty(), &score.outcome) {
            (Some(turn), false, TermOutcome::Value { .. }) => {
                match score.turns.get(turn).copied().flatten() {
                    Some(value) => Worth::Number(value),
                    None => Worth::NotApplicable(format!("nothing to say of turn {turn}")),
                }
            }
            _ => whole(),
        }
    }

    /// What the slot came to in every member of the episode's group, the episode itself included, in the order of the batch.
    pub(crate) fn group(&self, slot: Slot) -> Vec<&'a Worth> {
        let Some(column) = self.table.slots.get(slot.0) else { return Vec::new() };
        let members = self.table.group_of.get(self.at).and_then(|&group| self.table.groups.get(group));
        members.into_iter().flatten().filter_map(|&member| column.get(member)).collect()
    }

    /// What the slot came to in every member of the group but this one.
    pub(crate) fn others(&self, slot: Slot) -> Vec<&'a Worth> {
        let Some(column) = self.table.slots.get(slot.0) else { return Vec::new() };
        let members = self.table.group_of.get(self.at).and_then(|&group| self.table.groups.get(group));
        let others = members.into_iter().flatten().filter(|&&member| member != self.at);
        others.filter_map(|&member| column.get(member)).collect()
    }

    /// What the slot came to in every episode of the batch.
    pub(crate) fn batch(&self, slot: Slot) -> &'a [Worth] {
        self.table.slots.get(slot.0).map_or(&[], Vec::as_slice)
    }

    /// What the slot came to in this episode.
    pub(crate) fn own(&self, slot: Slot) -> Option<&'a Worth> {
        self.table.slots.get(slot.0)?.get(self.at)
    }

    /// What is kept under `key` from earlier steps, while it is fresh.
    pub(crate) fn kept(&self, key: &str) -> Option<&'a [f64]> {
        self.state.get(key, self.context.version)
    }
}

/// A part that keeps something for the next step. Called once per batch, after every episode of it was scored.
pub(crate) trait Watcher: Send + Sync {
    fn observe(&self, table: &Table, context: &ScoreContext, before: &RewardState, next: &mut RewardState);
}

/// A term in its place in the expression.
pub(crate) struct TermAt(pub(crate) usize);

impl Expression for TermAt {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        tracer.reads(self.0);
        let score = &facts.scores[self.0];
        if let TermOutcome::ParseFailure { why } = &score.outcome {
            tracer.note(|| format!("parse failure: {why}"));
        }
        for evidence in &score.evidence {
            tracer.note(|| format!("{}: {}", evidence.act, evidence.finding));
        }
        if facts.turn.is_none() && !score.turns.is_empty() {
            tracer.note(|| format!("by turn: {}", by_turn(&score.turns)));
        }
        facts.raw(self.0).map(|raw| raw * score.weight)
    }

    fn label(&self, facts: &Facts<'_>) -> String {
        let score = &facts.scores[self.0];
        if score.weight == 1.0 {
            score.name.clone()
        } else {
            format!("{} (weight {})", score.name, score.weight)
        }
    }

    /// The weighted value goes to the turns in proportion to what the term found there.
    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        let score = &facts.scores[self.0];
        let found: f64 = score.turns.iter().flatten().sum();
        let value = score
            .outcome
            .value()
            .filter(|_| found != 0.0 && score.turns.len() == facts.episode.turns.len())?;
        Some(score.turns.iter().map(|here| score.weight * value * here.unwrap_or(0.0) / found).collect())
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
pub(crate) fn add_by_turn(parts: impl Iterator<Item = Option<Vec<f64>>>) -> Option<Vec<f64>> {
    parts.flatten().reduce(|mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(total, here)| *total += here);
        sum
    })
}
