//! What a reward keeps between steps, for the evaluations of a run: they read what their arm's training had kept by then.
//!
//! In: a run's episodes, scored again batch by batch, with evaluations scored as if nothing had been kept. Out: the same
//! batches with those evaluations scored again. An evaluation of step `s` comes after the training steps below `s`.

use crate::rescore::RescoredBatch;
use merit_core::{Arm, Episode, Phase};
use merit_reward::{RewardState, Scorer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// By arm and step: what was kept before that step was trained.
type States = BTreeMap<(Arm, u64), RewardState>;

/// Scores the evaluations among `batches` with what their arm had kept.
pub(crate) fn with_kept_state(scorer: &Scorer, batches: &mut [RescoredBatch]) {
    let mut states = States::new();
    for batch in batches.iter() {
        if let Some(Phase::Train(arm)) = phase(batch) {
            let after = scorer
                .score_annotated(&episodes(batch), &batch.annotations, &batch.context, &batch.state)
                .state;
            states.insert((arm.clone(), batch.context.step + 1), after);
        }
    }
    for batch in batches.iter_mut() {
        let Some(Phase::Eval(arm, _)) = phase(batch).cloned() else { continue };
        let last = states.range((arm.clone(), 0)..=(arm, batch.context.step)).next_back();
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
