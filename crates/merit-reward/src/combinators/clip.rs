//! Keeps a part between `low` and `high`.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, evaluate};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::Worth;
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const CLIP: Component = Component {
    about: About { name: "clip", summary: "Keeps a part within bounds.", paper: "" },
    example: r#"
type = "clip"
of = { type = "cost", per_token = 0.001 }
low = -0.5
high = 0.0
"#,
};

/// `clip`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipConfig {
    /// The part.
    pub of: Box<RewardConfig>,
    /// The least it can come to.
    pub low: f64,
    /// The most it can come to.
    pub high: f64,
}

impl Combinator for ClipConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let low = compiler.finite("low", self.low)?;
        let high = compiler.finite("high", self.high)?;
        if low > high {
            return Err(compiler.error(Problem::Bounds { low, high }));
        }
        Ok(Arc::new(Clip { of: compiler.part("of", &self.of)?, low, high }))
    }
}

struct Clip {
    of: Node,
    low: f64,
    high: f64,
}

impl Expression for Clip {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        evaluate(self.of.as_ref(), facts, tracer).map(|value| value.clamp(self.low, self.high))
    }

    fn label(&self, _: &Facts<'_>) -> String {
        format!("clip to [{}, {}]", self.low, self.high)
    }

    fn range(&self, terms: &[Range]) -> Range {
        let of = self.of.range(terms);
        Range { low: of.low.clamp(self.low, self.high), high: of.high.clamp(self.low, self.high) }
    }
}
