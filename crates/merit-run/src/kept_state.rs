//! What a reward keeps between steps, for the evaluations of a run: they read what their arm's training had kept by then.
//!
//! In: a run's episodes, scored again batch by batch, with evaluations scored as if nothing had been kept. Out: the same
//! batches with those evaluations scored again. An evaluation of step `s` comes after the training steps below `s`.

use crate::rescore::RescoredBatch;
use merit_core::{Episode, Phase};
use merit_reward::{RewardState, Scorer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// By learning and step: what was kept before that step was trained.
type States = BTreeMap<(Phase, u64), RewardState>;

/// Scores the evaluations among `batches` with what their arm had kept.
pub(crate) fn with_kept_state(scorer: &Scorer, batches: &mut [RescoredBatch]) {
    let mut states = States::new();
    for batch in batches.iter() {
        if let Some(learning) = phase(batch).filter(|phase| phase.is_train()) {
            let after = scorer
                .score_annotated(&episodes(batch), &batch.annotations, &batch.context, &batch.state)
                .state;
            states.insert((learning.clone(), batch.context.step + 1), after);
        }
    }
    for batch in batches.iter_mut() {
        let Some(learning) = phase(batch).and_then(Phase::learning) else { continue };
        let last = states.range((learning.clone(), 0)..=(learning, batch.context.step)).next_back();
        if let Some((_, state)) = last.filter(|(_, state)| **state != batch.state) {
            batch.scored =
                scorer.score_annotated(&episodes(batch), &batch.annotations, &batch.context, state).episodes;
            batch.state = state.clone();
        }
    }
}

fn phase(batch: &RescoredBatch) -> Option<&Phase> {
    batch.scored.first().map(|scored| &scored.episode.id.phase)
}

fn episodes(batch: &RescoredBatch) -> Vec<Arc<Episode>> {
    batch.scored.iter().map(|scored| Arc::clone(&scored.episode)).collect()
}
