//! What a reward keeps between steps, for the evaluations of a run: they read what their arm's training had kept by then.
//!
//! In: a run's episodes, scored again batch by batch, with evaluations scored as if nothing had been kept. Out: the same
//! batches with those evaluations scored again. An evaluation of step `s` comes after the training steps below `s`.

use crate::rescore::RescoredBatch;
use merit_core::Episode;
use merit_reward::{RewardState, Scorer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// By arm and step: what was kept before that step was trained.
type States = BTreeMap<(String, u64), RewardState>;

/// Scores the evaluations among `batches` with what their arm had kept.
pub(crate) fn with_kept_state(scorer: &Scorer, batches: &mut [RescoredBatch]) {
    let mut states = States::new();
    for batch in batches.iter() {
        if let Some(arm) = phase(batch).and_then(arm_trained) {
            let after = scorer.score_batch(&episodes(batch), &batch.context, &batch.state).state;
            states.insert((arm.to_owned(), batch.context.step + 1), after);
        }
    }
    for batch in batches.iter_mut() {
        let Some(arm) = phase(batch).and_then(arm_evaluated).map(str::to_owned) else { continue };
        let last = states.range((arm.clone(), 0)..=(arm, batch.context.step)).next_back();
        if let Some((_, state)) = last.filter(|(_, state)| **state != batch.state) {
            batch.scored = scorer.score_batch(&episodes(batch), &batch.context, state).episodes;
            batch.state = state.clone();
        }
    }
}

/// The arm that a phase trains; empty for the recipe itself.
fn arm_trained(phase: &str) -> Option<&str> {
    phase.strip_prefix("train").map(|arm| arm.strip_prefix('-').unwrap_or(arm))
}

/// The arm that a phase evaluates.
fn arm_evaluated(phase: &str) -> Option<&str> {
    match phase.strip_prefix("eval-")? {
        "before" | "step" | "after" => Some(""),
        control => Some(control),
    }
}

fn phase(batch: &RescoredBatch) -> Option<&str> {
    batch.scored.first().map(|scored| scored.episode.id.phase.as_str())
}

fn episodes(batch: &RescoredBatch) -> Vec<Arc<Episode>> {
    batch.scored.iter().map(|scored| Arc::clone(&scored.episode)).collect()
}
