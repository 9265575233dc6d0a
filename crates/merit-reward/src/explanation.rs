//! A score in words: the reward, the tree of its parts, the terms that did not enter, what each turn was paid.

use crate::trace::Traced;
use crate::value::Value;
use merit_core::{Reward, Score, TermOutcome, TermScore};
use std::fmt::Write as _;

/// The score as text; the first line is the reward.
pub(crate) fn explanation(score: &Score, traced: &Traced) -> String {
    let mut text = match &score.reward {
        Reward::Value { value } => format!("reward = {value}\n"),
        Reward::Unscorable { why } => format!("reward: unscorable ({why})\n"),
        Reward::GraderFailed { why } => format!("reward: grader failed ({why})\n"),
    };
    traced.parts.iter().for_each(|trace| trace.render(1, &mut text));
    let unread = score.terms.iter().enumerate().filter(|(at, _)| !traced.read.contains(at));
    let unread: Vec<String> = unread.map(|(_, term)| not_entered(term)).collect();
    if !unread.is_empty() && !traced.parts.is_empty() {
        text.push_str("did not enter:\n");
        text.extend(unread);
    }
    if !score.turn_rewards.is_empty() {
        let shown: Vec<String> = score.turn_rewards.iter().map(|r| format!("{r}")).collect();
        let _ = writeln!(text, "paid by turn: {}", shown.join(" "));
    }
    if let Some(solved) = score.solved {
        text.push_str(if solved { "solved: yes\n" } else { "solved: no\n" });
    }
    text
}

/// A term that stands in the score although nothing asked for it: a branch not taken, a tier not reached.
fn not_entered(term: &TermScore) -> String {
    let value = match &term.outcome {
        TermOutcome::Value { value } => Value::Number(*value),
        TermOutcome::NotApplicable { why } => Value::NotApplicable(why.clone()),
        TermOutcome::ParseFailure { why } => Value::Unscorable(format!("parse failure: {why}")),
        TermOutcome::GraderFailed { why } => Value::Broken(why.clone()),
    };
    let gap = if matches!(value, Value::Number(_)) { " " } else { "" };
    let mut text = format!("  raw {}{gap}{}\n", term.name, value.text());
    for evidence in &term.evidence {
        let _ = writeln!(text, "    | {}: {}", evidence.act, evidence.finding);
    }
    text
}
