//! Error rates: makes a verdict wrong now and then, so that a recipe can ask how robust a method is to a noisy judge.
//!
//! A value of at least one half is a yes. With probability `false_negative` a yes becomes 0, with probability
//! `false_positive` a no becomes 1; turn values flip independently. Who is flipped is a function of the seed, the term and
//! the episode, so scoring twice gives the same score. Whether the task was *solved* is told by the untouched verdict.

use crate::term::TermResult;
use merit_core::{EpisodeId, Evidence, Seed, Stream, TermOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often a verdict is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ErrorRates {
    /// Probability that a no becomes a yes.
    pub false_positive: f64,
    /// Probability that a yes becomes a no.
    pub false_negative: f64,
}

impl ErrorRates {
    /// The first rate that is no probability, by name.
    pub(crate) fn wrong(&self) -> Option<(&'static str, f64)> {
        [("errors.false_positive", self.false_positive), ("errors.false_negative", self.false_negative)]
            .into_iter()
            .find(|(_, rate)| !(0.0..=1.0).contains(rate))
    }

    /// Turns verdicts of `result` over at these rates, each told as evidence; the same ones for the same seed, term and episode.
    pub(crate) fn disturb(&self, result: &mut TermResult, seed: u64, term: &str, id: &EpisodeId) {
        let TermOutcome::Value { value } = &mut result.outcome else { return };
        let seed = Seed::root(seed).child("error rates", 0).child(term, 0).child(&id.to_string(), 0);
        let mut stream = seed.stream();
        if result.turns.is_empty() {
            if let Some(flipped) = self.flip(*value, &mut stream) {
                let finding = format!("the error rate turned {value} into {flipped}");
                *value = flipped;
                result.evidence.push(Evidence::new("disturbed", finding));
            }
            return;
        }
        // The whole moves with its turns: their mean before and after differ by what was flipped.
        let mut flips = 0;
        let mean = |turns: &[Option<f64>]| {
            let (sum, n) = turns.iter().flatten().fold((0.0, 0_usize), |(s, n), v| (s + v, n + 1));
            if n == 0 { 0.0 } else { sum / n as f64 }
        };
        let before = mean(&result.turns);
        for turn in result.turns.iter_mut().flatten() {
            if let Some(flipped) = self.flip(*turn, &mut stream) {
                *turn = flipped;
                flips += 1;
            }
        }
        if flips > 0 {
            // The whole may weigh its turns unequally; moving it by their plain mean must not carry it past a verdict's ends.
            let (low, high) = (value.min(0.0), value.max(1.0));
            *value = (*value + mean(&result.turns) - before).clamp(low, high);
            result.evidence.push(Evidence::new("disturbed", format!("the error rate flipped {flips} turns")));
        }
    }

    fn flip(&self, value: f64, stream: &mut Stream) -> Option<f64> {
        // One draw whatever the verdict, so that a change of one rate does not move the other's errors.
        let draw = stream.unit();
        match value >= 0.5 {
            true if draw < self.false_negative => Some(0.0),
            false if draw < self.false_positive => Some(1.0),
            _ => None,
        }
    }
}
