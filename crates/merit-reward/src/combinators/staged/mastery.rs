//! How far the policy has come in a curriculum by mastery: counted after every batch, kept for the next.

use crate::prelude::*;
use merit_core::Refresh;

pub(super) struct Mastery {
    /// For each stage but the last: what tells its mastery, and from which batch mean on.
    pub(super) marks: Vec<(Slot, f64)>,
    pub(super) patience: u32,
    /// Mean of the stage before below which it comes back.
    pub(super) relapse: Option<f64>,
    pub(super) max_age: u64,
    pub(super) key: String,
}

/// What is kept: the stage at work, and for how many steps in a row its own mean was high enough and that of the stage
/// before too low.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Progress {
    pub(super) stage: usize,
    high: u32,
    low: u32,
}

impl Mastery {
    /// What was kept may come from outside; anything odd is the beginning.
    pub(super) fn progress(&self, kept: Option<&[f64]>) -> Progress {
        let whole = |number: f64| (number >= 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32);
        let read = |kept: &[f64]| {
            let [stage, high, low] = *kept else { return None };
            let stage = (whole(stage)? as usize).min(self.marks.len());
            Some(Progress { stage, high: whole(high)?, low: whole(low)? })
        };
        kept.and_then(read).unwrap_or_default()
    }

    pub(super) fn why(&self, kept: Option<&[f64]>) -> String {
        let Progress { stage, high, low } = self.progress(kept);
        let mut why = match self.marks.get(stage) {
            Some((_, mark)) => format!("{high} of {} steps in a row at least {mark}", self.patience),
            None => "every stage before is mastered".to_owned(),
        };
        if let (Some(relapse), true) = (self.relapse, stage > 0) {
            why.push_str(&format!("; {low} of {} below {relapse} in the stage before", self.patience));
        }
        why
    }

    fn moved(&self, mut progress: Progress, mean: impl Fn(Slot) -> Option<f64>) -> Progress {
        if let Some(&(slot, mark)) = self.marks.get(progress.stage)
            && let Some(mean) = mean(slot)
        {
            progress.high = if mean >= mark { progress.high.saturating_add(1) } else { 0 };
        }
        let before = progress.stage.checked_sub(1).and_then(|before| self.marks.get(before));
        if let (Some(relapse), Some(&(slot, _))) = (self.relapse, before)
            && let Some(mean) = mean(slot)
        {
            progress.low = if mean < relapse { progress.low.saturating_add(1) } else { 0 };
        }
        // A stage that is lost comes back even where the next one was just mastered.
        if progress.low >= self.patience {
            return Progress { stage: progress.stage - 1, high: 0, low: 0 };
        }
        if progress.high >= self.patience {
            return Progress { stage: progress.stage + 1, high: 0, low: 0 };
        }
        progress
    }
}

impl StateUpdate for Mastery {
    fn update(&self, values: &BatchValues, run: &ScoreContext, before: &RewardState, next: &mut RewardState) {
        let mean = |slot: Slot| values.mean(slot);
        let news = self.marks.iter().any(|&(slot, _)| mean(slot).is_some());
        if !news {
            return;
        }
        let Progress { stage, high, low } =
            self.moved(self.progress(before.get(&self.key, run.version)), mean);
        let kept = vec![stage as f64, f64::from(high), f64::from(low)];
        next.keep(self.key.clone(), kept, run.version, Refresh::After { versions: self.max_age });
    }
}

/// What the mean is taken of: the raw value of a term by its name, an expression, or what the stage pays.
pub(super) fn measure(
    compiler: &mut Compiler,
    place: String,
    by: Option<&Condition>,
    of: &Node,
) -> Result<Node, RewardError> {
    match by {
        None => Ok(Arc::clone(of)),
        Some(Condition::Term(name)) => Ok(Arc::new(Raw(compiler.find(name)?))),
        Some(Condition::Expression(config)) => compiler.part(place, config),
    }
}

/// The raw value of a term.
struct Raw(usize);

impl Expression for Raw {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        tracer.reads(self.0);
        context.raw(self.0)
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        format!("raw {}", context.scores[self.0].name)
    }

    fn range(&self, _: &[Range]) -> Range {
        Range::ALL
    }
}
