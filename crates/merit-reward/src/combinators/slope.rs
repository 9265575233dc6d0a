//! A number that moves linearly over the training steps: `from` up to and including `start_step`, `to` from `end_step` on, a
//! straight line between. With equal steps it jumps: `from` before that step, `to` at it and after.

use crate::prelude::*;

/// A number that moves linearly over the training steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slope {
    /// The number up to `start_step`.
    pub from: f64,
    /// The number from `end_step` on.
    pub to: f64,
    /// The step at which it begins to move.
    pub start_step: u64,
    /// The step at which it has arrived.
    pub end_step: u64,
}

impl Slope {
    /// The same number at every step.
    pub(crate) fn level(at: f64) -> Self {
        Self { from: at, to: at, start_step: 0, end_step: 0 }
    }

    pub(crate) fn check(&self, compiler: &Compiler) -> Result<(), RewardError> {
        compiler.finite("from", self.from)?;
        compiler.finite("to", self.to)?;
        if self.start_step > self.end_step {
            return Err(compiler.error(Problem::Steps { start: self.start_step, end: self.end_step }));
        }
        Ok(())
    }

    pub(crate) fn at(&self, step: u64) -> f64 {
        if step >= self.end_step {
            self.to
        } else if step <= self.start_step {
            self.from
        } else {
            let done = (step - self.start_step) as f64 / (self.end_step - self.start_step) as f64;
            self.from + (self.to - self.from) * done
        }
    }

    pub(crate) fn range(&self) -> Range {
        Range::between(self.from, self.to)
    }
}
