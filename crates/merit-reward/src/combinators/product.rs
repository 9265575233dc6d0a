//! Multiplies its parts. A part that is not applicable is left out; if every part is, so is the product.

use crate::compile::{Combinator, Compiler};
use crate::evaluate::{Expression, Facts, Trace, Worth, numbers};
use crate::{Component, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};

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

    fn compile(&self, compiler: &mut Compiler) -> Result<Box<dyn Expression>, RewardError> {
        Ok(Box::new(Product(compiler.list("product", &self.of)?)))
    }
}

struct Product(Vec<Box<dyn Expression>>);

impl Expression for Product {
    fn evaluate(&self, facts: &Facts<'_>) -> Trace {
        let parts: Vec<Trace> = self.0.iter().map(|part| part.evaluate(facts)).collect();
        let worth = numbers(&parts).map_or_else(|other| other, |n| Worth::Number(n.iter().product()));
        Trace::new("product", worth, parts)
    }
}
