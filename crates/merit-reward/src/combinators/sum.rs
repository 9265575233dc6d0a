//! Adds its parts. A part that is not applicable is left out; if every part is, so is the sum.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, add_by_turn, evaluate_all};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::{Worth, numbers};
use crate::{Component, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(Sum(compiler.list("sum", &self.of)?)))
    }
}

struct Sum(Vec<Node>);

impl Expression for Sum {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let parts = evaluate_all(&self.0, facts, tracer);
        numbers(&parts).map_or_else(|other| other, |n| Worth::Number(n.iter().sum()))
    }

    fn label(&self, _: &Facts<'_>) -> String {
        "sum".to_owned()
    }

    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        add_by_turn(self.0.iter().map(|part| part.paid_by_turn(facts)))
    }

    fn range(&self, terms: &[Range]) -> Range {
        // A part that is left out adds 0, whatever it could have come to.
        let parts = self.0.iter().map(|part| part.range(terms).hull(Range::only(0.0)));
        parts.fold(Range::only(0.0), Range::plus)
    }
}
