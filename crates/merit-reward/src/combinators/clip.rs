//! Keeps a part between `low` and `high`.

use crate::compile::{Combinator, Compiler};
use crate::evaluate::{Expression, Facts, Trace, Worth};
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

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

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError> {
        let low = compiler.finite("low", self.low)?;
        let high = compiler.finite("high", self.high)?;
        if low > high {
            return Err(compiler.error(Problem::Bounds { low, high }));
        }
        Ok(Box::new(Clip { of: compiler.part("of", &self.of)?, low, high }))
    }
}

struct Clip {
    of: Box<dyn Expression>,
    low: f64,
    high: f64,
}

impl Expression for Clip {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let of = self.of.evaluate(facts);
        let worth = match of.worth {
            Worth::Number(value) => Worth::Number(value.clamp(self.low, self.high)),
            _ => of.worth.clone(),
        };
        Trace::new(format!("clip to [{}, {}]", self.low, self.high), worth, vec![of])
    }
}
