//! A utility and what it cost (AI-SearchPlanner): `R = utility + alpha · cost`.
//!
//! `cost` is the better the higher: a `cost` term, which is at most 0, or one minus a share of a budget. Each alpha has a best
//! policy of its own; runs over several alphas trace the front of utility against cost, and `sweep` moves alpha over the
//! steps of one run. Where the utility does not apply there is nothing to trade and the whole does not; where the cost does
//! not, the utility stands alone. Both are paid by turn as in a sum. To rank by dominance instead, see `pareto-rank`.

use super::slope::Slope;
use crate::prelude::*;

/// A utility plus alpha times a cost; alpha is fixed or swept over the steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// The part that should be high whatever it costs.
    pub utility: Box<RewardConfig>,
    /// What it cost; the higher, the cheaper.
    pub cost: Box<RewardConfig>,
    /// How much the cost counts, at least 0. Exactly one of `alpha` and `sweep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// How much it counts over the steps, at least 0 throughout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Slope>,
}

impl Component for Pareto {
    const ABOUT: About = About {
        name: "pareto",
        summary: "A utility plus alpha times a cost; alpha is fixed or swept over the steps.",
        paper: "AI-SearchPlanner: Modular Agentic Search via Pareto-Optimal Multi-Objective Reinforcement Learning \
                (2025), arXiv:2508.20368",
    };
    const EXAMPLE: &'static str = r#"
utility = { type = "exact-answer" }
cost = { type = "clip", of = { type = "cost", per_call = 0.1 }, low = -1.0, high = 0.0 }
alpha = 0.2
"#;
}

impl Combinator for Pareto {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.utility, &self.cost]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let alpha = match (self.alpha, self.sweep) {
            (Some(alpha), None) => Slope::level(compiler.finite("alpha", alpha)?),
            (None, Some(sweep)) => sweep,
            _ => {
                let text = "`pareto` needs exactly one of `alpha` and `sweep`";
                return Err(compiler.error(Problem::Setting(text.into())));
            }
        };
        alpha.check(compiler)?;
        if alpha.range().low < 0.0 {
            let least = alpha.range().low;
            let text = format!(
                "alpha goes down to {least}, which would pay for being expensive; it must be at least 0"
            );
            return Err(compiler.error(Problem::Setting(text)));
        }
        let utility = compiler.part("utility", &self.utility)?;
        Ok(Arc::new(ParetoNode { utility, cost: compiler.part("cost", &self.cost)?, alpha }))
    }
}

struct ParetoNode {
    utility: Node,
    cost: Node,
    alpha: Slope,
}

impl Expression for ParetoNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let utility = evaluate_as("utility", self.utility.as_ref(), context, tracer);
        let cost = evaluate_as("cost", self.cost.as_ref(), context, tracer);
        let both = [utility, cost];
        if let Some(stopper) = stopper(&both) {
            return stopper;
        }
        let [utility, cost] = both;
        let alpha = self.alpha.at(context.run.step);
        match cost.number() {
            Some(cost) => tracer.note(|| format!("{cost} enters as {}", alpha * cost)),
            None => tracer.note(|| "no cost applies; the utility stands alone".to_owned()),
        }
        utility.map(|utility| utility + alpha * cost.number().unwrap_or(0.0))
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        let step = context.run.step;
        format!("utility and cost (alpha {} at step {step})", self.alpha.at(step))
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let alpha = self.alpha.at(context.run.step);
        let cost = self.cost.paid_by_turn(context);
        let cost = cost.map(|paid| paid.into_iter().map(|here| alpha * here).collect());
        add_by_turn([self.utility.paid_by_turn(context), cost].into_iter())
    }

    fn range(&self, terms: &[Range]) -> Range {
        let cost = self.cost.range(terms).times(self.alpha.range());
        self.utility.range(terms).plus(cost.hull(Range::only(0.0)))
    }
}
