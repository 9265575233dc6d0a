//! Multiplies a part by a number that moves linearly over the training steps.

use super::slope::Slope;
use crate::prelude::*;

/// Multiplies a part by a number that moves linearly over the training steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The part whose value is multiplied.
    pub of: Box<RewardConfig>,
    /// The multiplier up to `start_step`.
    pub from: f64,
    /// The multiplier from `end_step` on.
    pub to: f64,
    /// The step at which it begins to move.
    pub start_step: u64,
    /// The step at which it has arrived.
    pub end_step: u64,
}

impl Component for Schedule {
    const ABOUT: About = About {
        name: "schedule",
        summary: "Multiplies a part by a number that moves linearly over the training steps.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
of = { type = "exact-answer" }
from = 0.2
to = 1.0
start_step = 0
end_step = 50
"#;
}

impl Combinator for Schedule {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let Self { from, to, start_step, end_step, .. } = *self;
        let slope = Slope { from, to, start_step, end_step };
        slope.check(compiler)?;
        Ok(Arc::new(ScheduleNode { of: compiler.part("of", &self.of)?, slope }))
    }
}

struct ScheduleNode {
    of: Node,
    slope: Slope,
}

impl Expression for ScheduleNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let multiplier = self.slope.at(context.run.step);
        evaluate(self.of.as_ref(), context, tracer).map(|value| value * multiplier)
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        let step = context.run.step;
        format!("schedule (× {} at step {step})", self.slope.at(step))
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let multiplier = self.slope.at(context.run.step);
        Some(self.of.paid_by_turn(context)?.into_iter().map(|paid| paid * multiplier).collect())
    }

    fn range(&self, terms: &[Range]) -> Range {
        self.of.range(terms).times(Range::between(self.slope.from, self.slope.to))
    }
}
