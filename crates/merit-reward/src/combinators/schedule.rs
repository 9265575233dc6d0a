//! Multiplies a part by a number that moves linearly over the training steps.
//!
//! `from` up to and including `start_step`, `to` from `end_step` on, a straight line between. With equal steps the number
//! jumps: `from` before that step, `to` at it and after.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, evaluate};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::Worth;
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.finite("from", self.from)?;
        compiler.finite("to", self.to)?;
        if self.start_step > self.end_step {
            let problem = Problem::Steps { start: self.start_step, end: self.end_step };
            return Err(compiler.error(problem));
        }
        Ok(Arc::new(Schedule { of: compiler.part("of", &self.of)?, slope: self.clone() }))
    }
}

struct Schedule {
    of: Node,
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
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let multiplier = self.slope.multiplier(facts.context.step);
        evaluate(self.of.as_ref(), facts, tracer).map(|value| value * multiplier)
    }

    fn label(&self, facts: &Facts<'_>) -> String {
        let step = facts.context.step;
        format!("schedule (× {} at step {step})", self.slope.multiplier(step))
    }

    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        let multiplier = self.slope.multiplier(facts.context.step);
        Some(self.of.paid_by_turn(facts)?.into_iter().map(|paid| paid * multiplier).collect())
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.of.range(terms).times(Range::between(self.slope.from, self.slope.to))
    }
}
