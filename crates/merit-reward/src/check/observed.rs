//! What sample episodes show: terms that cannot judge, terms that never move, and a reward without a signal.

use super::tree::Tree;
use super::{Severity, Warning, WarningKind};
use crate::{RewardState, ScoreContext};
use merit_core::{Episode, ScoredEpisode, TermOutcome};
use std::sync::Arc;

/// What the samples show. Of fewer than two, only whether they can be judged.
pub(crate) fn check(tree: &Tree<'_>, samples: &[Episode]) -> Vec<Warning> {
    let batch: Vec<Arc<Episode>> = samples.iter().cloned().map(Arc::new).collect();
    let scored = tree.scorer.score_batch(&batch, &ScoreContext::default(), &RewardState::default()).episodes;
    let named = || tree.parts.iter().filter_map(|part| Some((part.at, part.config.term_name()?)));
    let failing = named().filter_map(|(at, name)| cannot_judge(at, &name, &scored));
    if scored.len() < 2 {
        return failing.collect();
    }
    let still = named().filter_map(|(at, name)| still(at, &name, &scored));
    failing.chain(still).chain(no_signal(&scored)).collect()
}

fn cannot_judge(at: &str, name: &str, scored: &[ScoredEpisode]) -> Option<Warning> {
    let reasons: Vec<&str> = outcomes_of(name, scored)
        .filter_map(|outcome| match outcome {
            TermOutcome::GraderFailed { why } => Some(why.as_str()),
            _ => None,
        })
        .collect();
    let first = reasons.first()?;
    Some(Warning {
        at: at.to_owned(),
        severity: Severity::Warning,
        kind: WarningKind::CannotJudge,
        what: format!("term `{name}` cannot judge {} of {} samples: {first}", reasons.len(), scored.len()),
        why: "an episode that cannot be judged has no reward and teaches nothing, however right it is"
            .to_owned(),
        advice: "mend what the reason names, or take those tasks out".to_owned(),
    })
}

fn outcomes_of<'a>(name: &'a str, scored: &'a [ScoredEpisode]) -> impl Iterator<Item = &'a TermOutcome> {
    let terms =
        scored.iter().filter_map(move |s| s.score.as_ref()?.terms.iter().find(|term| term.name == name));
    terms.map(|term| &term.outcome)
}

fn still(at: &str, name: &str, scored: &[ScoredEpisode]) -> Option<Warning> {
    let outcomes: Vec<&TermOutcome> = outcomes_of(name, scored).collect();
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
