//! Adds its parts, each first normalised over the group or the batch:
//!
//!   R_i = Σ_k w_k · (r_ik − mean_k) / (std_k + eps)
//!
//! so that a part which is nearly saturated, or small by its unit, is not drowned by the others (TA-MDP's per-component
//! normalisation, GDPO). A part that does not vary adds nothing. The standard deviation is that of the numbers at hand
//! (divided by their count). Since the result is an advantage already, credit it with a rule that does not divide by the
//! standard deviation again.

use crate::prelude::*;

/// Adds its parts, each normalised over the group or the batch first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NormalisedSum {
    /// The parts; at least one.
    pub of: Vec<RewardConfig>,
    /// One for each part; a term's own `weight` is cancelled by the normalisation. Absent: all 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Over whom each part is normalised.
    #[serde(default)]
    pub scope: Scope,
    /// Added to the standard deviation.
    #[serde(default = "small")]
    pub eps: f64,
}

fn small() -> f64 {
    1e-6
}

/// Who is compared with whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The members of the episode's group.
    #[default]
    Group,
    /// Every episode of the batch.
    Batch,
}

impl Component for NormalisedSum {
    const ABOUT: About = About {
        name: "normalised-sum",
        summary: "Adds its parts, each normalised over the group or the batch first.",
        paper: "Rethinking Reinforcement Fine-Tuning in LVLM (TA-MDP, 2026)",
    };
    const EXAMPLE: &'static str = r#"
weights = [1.0, 0.3]
scope = "group"
of = [{ type = "exact-answer" }, { type = "tool-success" }]
"#;
}

impl Combinator for NormalisedSum {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("normalised-sum")?;
        let weights = self.weights.clone().unwrap_or_else(|| vec![1.0; self.of.len()]);
        if weights.len() != self.of.len() {
            let problem = Problem::Count { field: "weights", got: weights.len(), want: self.of.len() };
            return Err(compiler.error(problem));
        }
        for &weight in &weights {
            compiler.finite("weights", weight)?;
        }
        if compiler.finite("eps", self.eps)? <= 0.0 {
            return Err(compiler.error(Problem::NotPositive { field: "eps", value: self.eps }));
        }
        let parts = compiler.list("normalised-sum", &self.of)?;
        let parts = parts.into_iter().zip(weights);
        let parts =
            parts.map(|(node, weight)| Weighed { slot: compiler.slot(&node), node, weight }).collect();
        Ok(Arc::new(NormalisedSumNode { parts, scope: self.scope, eps: self.eps }))
    }
}

struct Weighed {
    node: Node,
    slot: Slot,
    weight: f64,
}

struct NormalisedSumNode {
    parts: Vec<Weighed>,
    scope: Scope,
    eps: f64,
}

impl NormalisedSumNode {
    /// The spread is 0 where all numbers are the same up to float noise.
    fn normalise(&self, value: f64, part: &Weighed, context: &NodeContext<'_>) -> f64 {
        let among: Vec<f64> = match self.scope {
            Scope::Group => context.group(part.slot).into_iter().filter_map(Value::number).collect(),
            Scope::Batch => context.batch(part.slot).iter().filter_map(Value::number).collect(),
        };
        let n = among.len().max(1) as f64;
        let mean = among.iter().sum::<f64>() / n;
        let variance = among.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let scale = among.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        if variance.sqrt() <= 1e-9 * scale { 0.0 } else { (value - mean) / (variance.sqrt() + self.eps) }
    }
}

impl Expression for NormalisedSumNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let values: Vec<Value> = self
            .parts
            .iter()
            .map(|part| {
                let own = evaluate(part.node.as_ref(), context, tracer);
                let entered = own.clone().map(|value| part.weight * self.normalise(value, part, context));
                if let (Some(value), Some(entered)) = (own.number(), entered.number()) {
                    tracer.note(|| format!("{value} enters as {entered}"));
                }
                entered
            })
            .collect();
        numbers(&values).map_or_else(|other| other, |n| Value::Number(n.iter().sum()))
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("normalised sum (over the {:?})", self.scope).to_lowercase()
    }

    fn range(&self, _: &[Range]) -> Range {
        Range::ALL
    }
}
