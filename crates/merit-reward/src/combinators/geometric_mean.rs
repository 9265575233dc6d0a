//! Signed geometric mean (Lucy-SKG's kinesthetic reward combination):
//!
//!   R = s · (Π_i |R_i|^{w_i})^{1 / Σ w_i},   s = +1 if every R_i ≥ 0, else −1
//!
//! A soft "and": it pays for all aspects together where a sum pays for one alone. A part of 0 makes it 0, whatever the
//! others are; one negative part makes it negative; multiplying every part by c > 0 multiplies it by c. A part that does not
//! apply is left out, and the exponents are those of the rest.

use crate::prelude::*;

/// Signed geometric mean: pays for all parts together, not for one alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeometricMean {
    /// The parts; at least one.
    pub of: Vec<RewardConfig>,
    /// The exponent of each part, above 0; only their proportions matter. Absent: all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
}

impl Component for GeometricMean {
    const ABOUT: About = About {
        name: "geometric-mean",
        summary: "Signed geometric mean: pays for all parts together, not for one alone.",
        paper: "Lucy-SKG: Learning to Play Rocket League Efficiently Using Deep Reinforcement Learning (2023)",
    };
    const EXAMPLE: &'static str = r#"
weights = [2.0, 1.0]
of = [{ type = "exact-answer" }, { type = "format" }]
"#;
}

impl Combinator for GeometricMean {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let weights = self.weights.clone().unwrap_or_else(|| vec![1.0; self.of.len()]);
        if weights.len() != self.of.len() {
            let problem = Problem::Count { field: "weights", got: weights.len(), want: self.of.len() };
            return Err(compiler.error(problem));
        }
        for &weight in &weights {
            if compiler.finite("weights", weight)? <= 0.0 {
                return Err(compiler.error(Problem::NotPositive { field: "weights", value: weight }));
            }
        }
        Ok(Arc::new(GeometricMeanNode { parts: compiler.list("geometric-mean", &self.of)?, weights }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        advice.multiplies();
    }
}

struct GeometricMeanNode {
    parts: Vec<Node>,
    weights: Vec<f64>,
}

/// The mean of magnitudes, each with its exponent. Sums of logarithms neither overflow nor lose small factors.
fn mean(magnitudes: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    if magnitudes.clone().any(|(magnitude, _)| magnitude == 0.0) {
        return 0.0;
    }
    let (logs, weights) = magnitudes.fold((0.0, 0.0), |(logs, weights), (magnitude, weight)| {
        (logs + weight * magnitude.ln(), weights + weight)
    });
    (logs / weights).exp()
}

impl Expression for GeometricMeanNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let parts = evaluate_all(&self.parts, context, tracer);
        if let Some(stopper) = stopper(&parts) {
            return stopper;
        }
        let numbers: Vec<(f64, f64)> = parts
            .iter()
            .zip(&self.weights)
            .filter_map(|(part, &weight)| Some((part.number()?, weight)))
            .collect();
        if numbers.is_empty() {
            return Value::NotApplicable("no part applies".to_owned());
        }
        let magnitude = mean(numbers.iter().map(|(value, weight)| (value.abs(), *weight)));
        let below = numbers.iter().filter(|(value, _)| *value < 0.0).count();
        if magnitude == 0.0 {
            tracer.note(|| "a part is 0, so the whole is".to_owned());
            return Value::Number(0.0);
        }
        if below > 0 {
            tracer.note(|| format!("{below} of {} parts are below 0, so the whole is", numbers.len()));
        }
        Value::Number(if below > 0 { -magnitude } else { magnitude })
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "geometric mean".to_owned()
    }

    fn range(&self, terms: &[Range]) -> Range {
        // Any of the parts may be left out, so the bounds are those of the least and the greatest alone.
        let hull = self.parts.iter().map(|part| part.range(terms)).reduce(Range::hull).unwrap_or(Range::ALL);
        let greatest = hull.high.abs().max(hull.low.abs());
        Range { low: if hull.low < 0.0 { -greatest } else { hull.low }, high: hull.high.max(0.0) }
    }
}
