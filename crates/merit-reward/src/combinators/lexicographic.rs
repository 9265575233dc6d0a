//! Ordered tiers: a tier counts only where every tier before it passes (OptiAgent, PRS).
//!
//!   R = Σ_k w_k · s_k · Π_{j<k} 1[s_j ≥ pass_j]
//!
//! so a lower tier can never be bought with a higher one, as it can in a weighted sum. The first tier that does not pass
//! still counts with what it is worth; those after it are not evaluated. A tier that does not apply is passed over: there is
//! nothing that failed. What counts is paid by turn as in a sum.

use crate::prelude::*;

/// Ordered tiers; a tier counts only where every tier before it passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lexicographic {
    /// The tiers, the most important first; at least two.
    pub tiers: Vec<TierConfig>,
}

/// A tier of `lexicographic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TierConfig {
    /// What it is worth.
    pub of: RewardConfig,
    /// Factor of what it is worth; `pass` looks at the value before it.
    #[serde(default = "crate::term::one")]
    pub weight: f64,
    /// The next tier counts from this worth on. Every tier has one but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
}

impl Component for Lexicographic {
    const ABOUT: About = About {
        name: "lexicographic",
        summary: "Ordered tiers; a tier counts only where every tier before it passes.",
        paper: "OPTIAGENT: A Physics-Driven Agentic Framework for Automated Optical Design (2026), arXiv:2602.23761",
    };
    const EXAMPLE: &'static str = r#"
tiers = [
  { of = { type = "format" }, weight = 0.1, pass = 1.0 },
  { of = { type = "tool-success" }, weight = 0.1, pass = 0.5 },
  { of = { type = "exact-answer" }, weight = 0.8 },
]
"#;
}

impl Combinator for Lexicographic {
    fn children(&self) -> Vec<&RewardConfig> {
        self.tiers.iter().map(|tier| &tier.of).collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        let count = self.tiers.len();
        if count < 2 {
            let text = format!("`lexicographic` has {count} tiers; list at least two in `tiers`");
            return Err(compiler.error(Problem::Setting(text)));
        }
        let tiers = self.tiers.iter().enumerate().map(|(i, tier)| {
            let pass = tier.pass(i, count).map_err(|problem| compiler.error(problem))?;
            Ok(Tier {
                weight: compiler.finite("weight", tier.weight)?,
                pass: compiler.finite("pass", pass)?,
                of: compiler.part(format!("tiers[{i}].of"), &tier.of)?,
            })
        });
        Ok(Arc::new(LexicographicNode(tiers.collect::<Result<_, RewardError>>()?)))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        for (i, tier) in self.tiers.iter().enumerate() {
            let place = format!("tiers[{i}].of");
            advice.adds(&place, tier.weight.abs());
            let (Some(range), Some(pass)) = (advice.range(&place), tier.pass) else { continue };
            let lost_if_never = (i + 1..self.tiers.len()).map(|i| format!("tiers[{i}].of")).collect();
            let threshold = Threshold::new(place, format!("tier {i}"), range, Bound::AtLeast(pass));
            advice.threshold(Threshold { lost_if_never, ..threshold });
        }
    }
}

impl TierConfig {
    /// The last tier has nothing after it; any number will do.
    fn pass(&self, i: usize, count: usize) -> Result<f64, Problem> {
        match (self.pass, i + 1 == count) {
            (Some(pass), false) => Ok(pass),
            (None, true) => Ok(0.0),
            (None, false) => {
                Err(Problem::Setting(format!("`tiers[{i}]` says no `pass`; only the last tier needs none")))
            }
            (Some(_), true) => Err(Problem::Setting(format!(
                "`tiers[{i}]` is the last, so its `pass` decides nothing; remove it"
            ))),
        }
    }
}

struct Tier {
    of: Node,
    weight: f64,
    pass: f64,
}

struct LexicographicNode(Vec<Tier>);

impl LexicographicNode {
    /// What each tier that counts is worth, before its weight.
    fn reached(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Vec<Value> {
        let mut reached = Vec::with_capacity(self.0.len());
        for tier in &self.0 {
            let value = evaluate(tier.of.as_ref(), context, tracer);
            let stops = match &value {
                Value::Number(value) => *value < tier.pass,
                Value::NotApplicable(_) => false,
                Value::Unscorable(_) | Value::Broken(_) => true,
            };
            reached.push(value);
            if stops {
                break;
            }
        }
        reached
    }
}

impl Expression for LexicographicNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let reached = self.reached(context, tracer);
        let count = self.0.len();
        let last = reached.len();
        tracer.note(|| match reached.last() {
            Some(Value::Number(value)) if last < count => {
                format!("stopped at tier {last} of {count}: {value} is below {}", self.0[last - 1].pass)
            }
            _ if last == count => format!("reached the last of {count} tiers"),
            _ => format!("stopped at tier {last} of {count}"),
        });
        let weighted: Vec<Value> = reached
            .into_iter()
            .zip(&self.0)
            .map(|(value, tier)| value.map(|value| tier.weight * value))
            .collect();
        numbers(&weighted).map_or_else(|other| other, |n| Value::Number(n.iter().sum()))
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "lexicographic".to_owned()
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let reached = self.reached(context, &mut Tracer::off()).len();
        add_by_turn(self.0[..reached].iter().map(|tier| {
            let paid = tier.of.paid_by_turn(context)?;
            Some(paid.into_iter().map(|here| tier.weight * here).collect())
        }))
    }

    fn range(&self, terms: &[Range]) -> Range {
        // A tier that is not reached adds 0, and so does one that is passed over, which hides no tier after it.
        let tiers = self.0.iter().map(|tier| tier.of.range(terms).scaled(tier.weight).hull(Range::only(0.0)));
        tiers.fold(Range::only(0.0), Range::plus)
    }
}
