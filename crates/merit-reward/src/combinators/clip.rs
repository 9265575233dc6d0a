//! Keeps a part between `low` and `high`.

use crate::prelude::*;

/// Keeps a part within bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// The part whose value is clipped.
    pub of: Box<RewardConfig>,
    /// The least it can come to.
    pub low: f64,
    /// The most it can come to.
    pub high: f64,
}

impl Component for Clip {
    const ABOUT: About = About { name: "clip", summary: "Keeps a part within bounds.", paper: "" };
    const EXAMPLE: &'static str = r#"
of = { type = "cost", per_token = 0.001 }
low = -0.5
high = 0.0
"#;
}

impl Combinator for Clip {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let low = compiler.finite("low", self.low)?;
        let high = compiler.finite("high", self.high)?;
        if low > high {
            return Err(compiler.error(Problem::Bounds { low, high }));
        }
        Ok(Arc::new(ClipNode { of: compiler.part("of", &self.of)?, low, high }))
    }
}

struct ClipNode {
    of: Node,
    low: f64,
    high: f64,
}

impl Expression for ClipNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        evaluate(self.of.as_ref(), context, tracer).map(|value| value.clamp(self.low, self.high))
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("clip to [{}, {}]", self.low, self.high)
    }

    fn range(&self, terms: &[Range]) -> Range {
        let of = self.of.range(terms);
        Range { low: of.low.clamp(self.low, self.high), high: of.high.clamp(self.low, self.high) }
    }
}
