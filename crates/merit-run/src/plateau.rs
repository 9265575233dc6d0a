//! When a `repeat` has had enough rounds: its evaluation has not become better for a while.

use crate::driver::Drive;
use crate::progress::Event;
use crate::stage::Stage;
use crate::stage_checks::hint;
use crate::stages::{Evaluating, Repeat, StageSettings};
use crate::{RunError, now_ms};
use merit_core::Phase;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The end of a `repeat` before its last round.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plateau {
    /// A number of the evaluation; more of it is better.
    pub metric: String,
    /// An evaluation among the stages that are repeated.
    pub of: String,
    /// Rounds without a new best after which it ends.
    pub patience: u64,
    /// What a new best has to be better by.
    #[serde(default)]
    pub min_delta: f64,
}

impl Plateau {
    /// Whether these rounds are enough.
    pub(crate) fn reached(&self, rounds: &[f64]) -> bool {
        let mut rounds = rounds.iter();
        let Some(mut best) = rounds.next().copied() else { return false };
        let mut waited = 0;
        for value in rounds {
            if *value > best + self.min_delta {
                (best, waited) = (*value, 0);
            } else {
                waited += 1;
            }
        }
        waited >= self.patience
    }

    /// `Err` with the reason where it cannot mean anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.patience == 0 {
            return Err("`until.patience` is 0; it is a number of rounds, at least 1".into());
        }
        if !(self.min_delta.is_finite() && self.min_delta >= 0.0) {
            return Err(format!("`until.min_delta` is {}; it must be at least 0", self.min_delta));
        }
        Ok(())
    }
}

/// The evaluation that ends a `repeat` is one of its own.
pub(crate) fn until(repeat: &Repeat) -> Result<(), String> {
    let Some(until) = &repeat.until else { return Ok(()) };
    until.check()?;
    let evaluations: Vec<&Evaluating> = repeat
        .stages
        .iter()
        .filter_map(|stage| if let StageSettings::Evaluate(one) = stage { Some(one) } else { None })
        .collect();
    if evaluations.iter().any(|one| one.name == until.of) {
        return Ok(());
    }
    let hint = hint(&until.of, evaluations.iter().map(|one| one.name.as_str()));
    Err(format!("`until.of = \"{}\"`: no evaluation among the repeated stages is called so{hint}", until.of))
}

impl Drive<'_> {
    /// Whether the `repeat` that `stage` opens a round of has had enough; then the rounds that are left are none.
    pub(crate) fn enough(&mut self, stage: &Stage) -> Result<bool, RunError> {
        let Some(ending) = stage.until.as_ref().filter(|_| self.place.step == 0) else { return Ok(false) };
        let measured = self.folder.metric(&ending.phase, &ending.until.metric)?;
        let before = |step: u64| match ending.phase {
            Phase::Eval(..) => step <= self.place.version,
            _ => step < stage.round,
        };
        let values: Vec<f64> =
            measured.into_iter().filter(|(step, _)| before(*step)).map(|(_, value)| value).collect();
        if !ending.until.reached(&values) {
            return Ok(false);
        }
        self.place.rounds.insert(ending.repeat, stage.round);
        let stages = Stage::all(&Arc::new(self.recipe.clone()), &self.place.rounds)?;
        self.total = stages.iter().map(Stage::weight).sum();
        self.stages = stages.into_iter().map(Arc::new).collect();
        let text = format!(
            "`{}` of `{}` has not become better for {} rounds: enough after {} rounds",
            ending.until.metric, ending.until.of, ending.until.patience, stage.round
        );
        self.folder.record_event(now_ms(), "plateau", &text)?;
        (self.watch)(Event::Note { text });
        self.checkpoint()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::Plateau;

    #[test]
    fn a_plateau_is_as_many_rounds_without_a_new_best_as_there_is_patience() {
        let until = |patience, min_delta| Plateau {
            metric: "success".into(),
            of: "round".into(),
            patience,
            min_delta,
        };
        assert!(!until(1, 0.0).reached(&[]));
        assert!(!until(1, 0.0).reached(&[0.5]));
        assert!(until(1, 0.0).reached(&[0.5, 0.5]));
        assert!(!until(2, 0.0).reached(&[0.5, 0.4, 0.6]));
        assert!(until(2, 0.0).reached(&[0.5, 0.4, 0.5]));
        assert!(until(1, 0.2).reached(&[0.5, 0.6]));
    }
}
