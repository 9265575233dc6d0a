//! Multiplies a part by a number that moves linearly over the training steps.
//!
//! `from` up to and including `start_step`, `to` from `end_step` on, a straight line between. With equal steps the number
//! jumps: `from` before that step, `to` at it and after.

use crate::compile::{Combinator, Compiler};
use crate::evaluate::{Expression, Facts, Trace, Worth};
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

pub(crate) const SCHEDULE: Component = Component {
    about: About {
        name: "schedule",
        summary: "Multiplies a part by a number that moves linearly over the training steps.",
        paper: "",
    },
    example: r#"
type = "sum"
of = [
  { type = "exact-answer" },
  { type = "schedule", of = { type = "format" }, from = 1.0, to = 0.0, start_step = 0, end_step = 50 },
]
"#,
};

/// `schedule`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleConfig {
    /// The part.
    pub of: Box<RewardConfig>,
    /// The multiplier at first.
    pub from: f64,
    /// The multiplier at last.
    pub to: f64,
    /// The step at which it begins to move.
    pub start_step: u64,
    /// The step at which it has arrived.
    pub end_step: u64,
}

impl Combinator for ScheduleConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError> {
        compiler.finite("from", self.from)?;
        compiler.finite("to", self.to)?;
        if self.start_step > self.end_step {
            let problem = Problem::Steps { start: self.start_step, end: self.end_step };
            return Err(compiler.error(problem));
        }
        Ok(Box::new(Schedule { of: compiler.part("of", &self.of)?, slope: self.clone() }))
    }
}

struct Schedule {
    of: Box<dyn Expression>,
    slope: ScheduleConfig,
}

impl ScheduleConfig {
    fn multiplier(&self, step: u64) -> f64 {
        if step >= self.end_step {
            self.to
        } else if step <= self.start_step {
            self.from
        } else {
            let done = (step - self.start_step) as f64 / (self.end_step - self.start_step) as f64;
            self.from + (self.to - self.from) * done
        }
    }
}

impl Expression for Schedule {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let multiplier = self.slope.multiplier(facts.step);
        let of = self.of.evaluate(facts);
        let worth = match of.worth {
            Worth::Number(value) => Worth::Number(value * multiplier),
            _ => of.worth.clone(),
        };
        Trace::new(format!("schedule (× {multiplier} at step {})", facts.step), worth, vec![of])
    }
}
