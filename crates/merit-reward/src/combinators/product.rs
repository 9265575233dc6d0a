//! Multiplies its parts. A part that is not applicable is left out; if every part is, so is the product.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, evaluate_all};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::{Worth, numbers};
use crate::{Component, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const PRODUCT: Component = Component {
    about: About {
        name: "product",
        summary: "Multiplies its parts; a part that is not applicable is left out.",
        paper: "",
    },
    example: r#"
type = "product"
of = [{ type = "exact-answer" }, { type = "format" }]
"#,
};

/// `product`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductConfig {
    /// The parts; at least one.
    pub of: Vec<RewardConfig>,
}

impl Combinator for ProductConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        Ok(Arc::new(Product(compiler.list("product", &self.of)?)))
    }
}

struct Product(Vec<Node>);

impl Expression for Product {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let parts = evaluate_all(&self.0, facts, tracer);
        numbers(&parts).map_or_else(|other| other, |n| Worth::Number(n.iter().product()))
    }

    fn label(&self, _: &Facts<'_>) -> String {
        "product".to_owned()
    }

    fn range(&self, terms: &[Range]) -> Range {
        // A part that is left out multiplies by 1, unless it is the only one.
        let left_out = |range: Range| if self.0.len() > 1 { range.hull(Range::only(1.0)) } else { range };
        self.0.iter().map(|part| left_out(part.range(terms))).fold(Range::only(1.0), Range::times)
    }
}
