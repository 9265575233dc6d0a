//! Multiplies its parts. A part that is not applicable is left out; if every part is, so is the product.

use crate::prelude::*;

/// Multiplies its parts; a part that is not applicable is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// The parts; at least one.
    pub of: Vec<RewardConfig>,
}

impl Component for Product {
    const ABOUT: About = About {
        name: "product",
        summary: "Multiplies its parts; a part that is not applicable is left out.",
        paper: "",
    };
    const EXAMPLE: &'static str = r#"
of = [{ type = "exact-answer" }, { type = "format" }]
"#;
}

impl Combinator for Product {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(ProductNode(compiler.list("product", &self.of)?)))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        advice.multiplies();
    }
}

struct ProductNode(Vec<Node>);

impl Expression for ProductNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let parts = evaluate_all(&self.0, context, tracer);
        numbers(&parts).map_or_else(|other| other, |n| Value::Number(n.iter().product()))
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "product".to_owned()
    }

    fn range(&self, terms: &[Range]) -> Range {
        // A part that is left out multiplies by 1, unless it is the only one.
        let left_out = |range: Range| if self.0.len() > 1 { range.hull(Range::only(1.0)) } else { range };
        self.0.iter().map(|part| left_out(part.range(terms))).fold(Range::only(1.0), Range::times)
    }
}
