//! Adds its parts. A part that is not applicable is left out; if every part is, so is the sum.

use crate::prelude::*;

/// Adds its parts; a part that is not applicable is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// The parts; at least one.
    pub of: Vec<RewardConfig>,
}

impl Component for Sum {
    const ABOUT: About = About {
        name: "sum",
        summary: "Adds its parts; a part that is not applicable is left out.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
of = [{ type = "exact-answer", weight = 2.0 }, { type = "format" }, { type = "tool-success" }]
"#;
}

impl Combinator for Sum {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(SumNode(compiler.list("sum", &self.of)?)))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        (0..self.of.len()).for_each(|i| advice.adds(&format!("of[{i}]"), 1.0));
    }
}

struct SumNode(Vec<Node>);

impl Expression for SumNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let parts = evaluate_all(&self.0, context, tracer);
        numbers(&parts).map_or_else(|other| other, |n| Value::Number(n.iter().sum()))
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "sum".to_owned()
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        add_by_turn(self.0.iter().map(|part| part.paid_by_turn(context)))
    }

    fn range(&self, terms: &[Range]) -> Range {
        // A part that is left out adds 0, whatever it could have come to.
        let parts = self.0.iter().map(|part| part.range(terms).hull(Range::only(0.0)));
        parts.fold(Range::only(0.0), Range::plus)
    }
}
