//! Adds its parts. A part that is not applicable is left out; if every part is, so is the sum.

use crate::compile::{Combinator, Compiler};
use crate::evaluate::{Expression, Facts, Trace, Worth, numbers};
use crate::{Component, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

pub(crate) const SUM: Component = Component {
    about: About {
        name: "sum",
        summary: "Adds its parts; a part that is not applicable is left out.",
        paper: "",
    },
    example: r#"
type = "sum"
of = [{ type = "exact-answer", weight = 2.0 }, { type = "format" }, { type = "tool-success" }]
"#,
};

/// `sum`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumConfig {
    /// The parts; at least one.
    pub of: Vec<RewardConfig>,
}

impl Combinator for SumConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError> {
        Ok(Box::new(Sum(compiler.list("sum", &self.of)?)))
    }
}

struct Sum(Vec<Box<dyn Expression>>);

impl Expression for Sum {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let parts: Vec<Trace> = self.0.iter().map(|part| part.evaluate(facts)).collect();
        let worth = numbers(&parts).map_or_else(|other| other, |n| Worth::Number(n.iter().sum()));
        Trace::new("sum", worth, parts)
    }
}
