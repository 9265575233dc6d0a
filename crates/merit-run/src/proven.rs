//! May a fitted model decide what is learned? Only with a row: how it did on tasks that it never learned from.
//!
//! In: a stage that learns or collects, and what the fits before it recorded. A model without a row is refused, whatever it is asked
//! for. One with a row that is no better than what knows nothing of quality (length, tokens said, the last turn) is refused where it
//! pays or chooses what is learned from, unless `[models.NAME]` says `force = true`; who tests such models on purpose is only told.

use crate::driver::Drive;
use crate::metrics::Metrics;
use crate::progress::Event;
use crate::stage::{Stage, Work};
use crate::{RunError, now_ms};
use merit_reward::Scorer;
use std::collections::BTreeSet;

/// The kind of event that says so in a run's folder.
const EVENT: &str = "unproven-model";

/// What becomes of a stage that is decided by a model which beats nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unproven {
    /// It is refused, unless the recipe says `force = true`.
    #[default]
    Refuse,
    /// The record says so and the stage goes on, as where an experiment is about such models.
    Tell,
}

/// Rows that know nothing of quality, by their names in the metrics and in words.
const LEAKS: [(&str, &str); 3] = [
    ("pair_accuracy_length", "length only"),
    ("pair_accuracy_actions", "tokens said"),
    ("pair_accuracy_last", "last turn"),
];

impl Drive<'_> {
    /// Refuses a stage that is decided by a model which has no row, or one that beats nothing.
    pub(crate) fn proven(&mut self, stage: &Stage) -> Result<(), RunError> {
        if self.place.step > 0 {
            return Ok(());
        }
        for model in self.deciding(stage) {
            let row = self.row(&model)?.ok_or_else(|| RunError::NotFitted { model: model.clone() })?;
            let Err(why) = beats(&row) else { continue };
            let forced = self.recipe.models.get(&model).is_some_and(|settings| settings.force);
            if !forced && self.options.unproven == Unproven::Refuse {
                let run = self.folder.path().display().to_string();
                return Err(RunError::Unproven { model, stage: stage.phase.to_string(), why, run });
            }
            let text =
                format!("`{}` is decided by model `{model}`, which proved nothing: {why}", stage.phase);
            self.folder.record_event(now_ms(), EVENT, &text)?;
            (self.watch)(Event::Note { text });
        }
        Ok(())
    }

    /// The models of the recipe that pay or choose what a stage gives to learn from.
    fn deciding(&self, stage: &Stage) -> BTreeSet<String> {
        let search = match &stage.work {
            Work::Collect { search, .. } => search.as_ref(),
            Work::Learn { .. } | Work::Alter { .. } => None,
            _ => return BTreeSet::new(),
        };
        let paying = Scorer::compile(&stage.recipe.reward).map(|scorer| scorer.needs()).unwrap_or_default();
        let names = paying.into_iter().map(|need| need.name).chain(search.map(|how| how.value().to_owned()));
        let steering = stage.recipe.credit.needs().annotations.into_iter().map(|need| need.name);
        let names = names.chain(steering);
        names.filter(|name| self.recipe.models.contains_key(name)).collect()
    }

    /// The row of a model: what its last fit measured on the tasks that it keeps aside.
    fn row(&self, model: &str) -> Result<Option<Metrics>, RunError> {
        let before = self.stages[..self.place.stage].iter().rev();
        for stage in before.filter(|stage| matches!(&stage.work, Work::Fit { how, .. } if how.model == model))
        {
            let last = stage.first_step() + stage.steps().saturating_sub(1);
            let measured = self.folder.metrics()?.into_iter();
            let measured = measured.filter(|metric| metric.phase == stage.phase && metric.step == last);
            let row: Metrics = measured.map(|metric| (metric.name, metric.value)).collect();
            if row.contains_key("held_out_tasks") {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

/// `Err` with the reason when a row is no better than what knows nothing of quality.
fn beats(row: &Metrics) -> Result<(), String> {
    let tasks = row.get("held_out_tasks").copied().unwrap_or_default();
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    if let Some(own) = row.get("pair_accuracy") {
        let better =
            LEAKS.iter().find_map(|(name, words)| Some((words, *row.get(*name).filter(|r| *r >= own)?)));
        return better.map_or(Ok(()), |(words, theirs)| {
            let (own, theirs) = (percent(*own), percent(theirs));
            Err(format!(
                "on {tasks} held-out tasks it puts {own} of the pairs in order, and `{words}`, which knows nothing of quality, {theirs}"
            ))
        });
    }
    match (row.get("mse"), row.get("mse_of_mean")) {
        (Some(own), Some(mean)) if own < mean => Ok(()),
        (Some(own), Some(mean)) => Err(format!(
            "on {tasks} held-out tasks its mean squared error is {own:.4}, and that of the mean reward {mean:.4}"
        )),
        _ => Err(format!(
            "no task of the {tasks} that it keeps aside has two episodes of which one is better, so that nothing was compared"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(numbers: &[(&str, f64)]) -> Metrics {
        numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn a_row_beats_what_knows_nothing_or_says_what_is_better() {
        let mut measured =
            row(&[("held_out_tasks", 8.0), ("pair_accuracy", 0.75), ("pair_accuracy_length", 0.5)]);
        assert_eq!(beats(&measured), Ok(()));
        measured.insert("pair_accuracy_last".into(), 0.75);
        let why = beats(&measured).unwrap_err();
        assert!(
            why.contains("puts 75.0 % of the pairs in order, and `last turn`") && why.ends_with("75.0 %"),
            "{why}"
        );
    }

    #[test]
    fn without_pairs_a_regression_must_beat_the_mean_and_a_verdict_proves_nothing() {
        let (off, near) = ([("mse", 0.2), ("mse_of_mean", 0.2)], [("mse", 0.1), ("mse_of_mean", 0.2)]);
        assert!(beats(&row(&off)).unwrap_err().contains("mean squared error is 0.2000"));
        assert_eq!(beats(&row(&near)), Ok(()));
        assert!(beats(&row(&[("accuracy", 1.0)])).unwrap_err().contains("nothing was compared"));
    }
}
