//! What sample episodes show: terms that never move, and a reward without a signal.

use super::tree::Tree;
use super::{Severity, Warning, WarningKind};
use crate::{RewardState, ScoreContext};
use merit_core::{Episode, ScoredEpisode, TermOutcome};
use std::sync::Arc;

/// What the samples show. Nothing can be said of fewer than two.
pub(crate) fn check(tree: &Tree<'_>, samples: &[Episode]) -> Vec<Warning> {
    let batch: Vec<Arc<Episode>> = samples.iter().cloned().map(Arc::new).collect();
    let scored = tree.scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default()).episodes;
    if scored.len() < 2 {
        return Vec::new();
    }
    let terms = tree.parts.iter().filter_map(|part| {
        let name = part.config.term_name()?;
        still(part.at, &name, &scored)
    });
    terms.chain(no_signal(&scored)).collect()
}

fn still(at: &str, name: &str, scored: &[ScoredEpisode]) -> Option<Warning> {
    let found = scored.iter().filter_map(|s| s.score.as_ref()?.terms.iter().find(|term| term.name == name));
    let outcomes: Vec<&TermOutcome> = found.map(|term| &term.outcome).collect();
    let first = outcomes.first()?;
    let silent = |outcome: &&TermOutcome| matches!(outcome, TermOutcome::NotApplicable { .. });
    let what = if outcomes.iter().all(silent) {
        format!("term `{name}` applies to none of the {} samples", outcomes.len())
    } else if let Some(value) = first.value().filter(|_| outcomes.iter().all(|outcome| outcome == first)) {
        format!("term `{name}` is {value} in all {} samples", outcomes.len())
    } else {
        return None;
    };
    Some(Warning {
        at: at.to_owned(),
        severity: Severity::Hint,
        kind: WarningKind::NeverMoves,
        what,
        why: "what does not vary teaches nothing".to_owned(),
        advice: "look whether the samples are alike, or the term is misplaced".to_owned(),
    })
}

fn no_signal(scored: &[ScoredEpisode]) -> Option<Warning> {
    let rewards: Vec<f64> = scored.iter().filter_map(ScoredEpisode::reward).collect();
    let first = *rewards.first()?;
    (rewards.len() > 1 && rewards.iter().all(|reward| *reward == first)).then(|| Warning {
        at: "reward".to_owned(),
        severity: Severity::Warning,
        kind: WarningKind::NoSignal,
        what: format!("all {} samples that can be scored get {first}", rewards.len()),
        why: "what does not vary teaches nothing".to_owned(),
        advice: "add a term that tells the samples apart, or easier tasks".to_owned(),
    })
}
