//! Ordered tiers: a tier counts only where every tier before it passes (OptiAgent, PRS).
//!
//!   R = Σ_k w_k · s_k · Π_{j<k} 1[s_j ≥ pass_j]
//!
//! so a lower tier can never be bought with a higher one, as it can in a weighted sum. The first tier that does not pass
//! still counts with what it is worth; those after it are not evaluated. A tier that does not apply is passed over: there is
//! nothing that failed. What counts is paid by turn as in a sum.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, add_by_turn, evaluate};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::{Worth, numbers};
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const LEXICOGRAPHIC: Component = Component {
    about: About {
        name: "lexicographic",
        summary: "Ordered tiers; a tier counts only where every tier before it passes.",
        paper: "OPTIAGENT: A Physics-Driven Agentic Framework for Automated Optical Design (2026), arXiv:2602.23761",
    },
    example: r#"
type = "lexicographic"
tiers = [
  { of = { type = "format" }, weight = 0.1, pass = 1.0 },
  { of = { type = "tool-success" }, weight = 0.1, pass = 0.5 },
  { of = { type = "exact-answer" }, weight = 0.8 },
]
"#,
};

/// `lexicographic`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LexicographicConfig {
    /// The tiers, the most important first; at least two.
    pub tiers: Vec<TierConfig>,
}

/// A tier of `lexicographic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierConfig {
    /// What it is worth.
    pub of: RewardConfig,
    /// Factor of what it is worth; `pass` looks at the worth before it.
    #[serde(default = "crate::term::one")]
    pub weight: f64,
    /// The next tier counts from this worth on. Every tier has one but the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<f64>,
}

impl Combinator for LexicographicConfig {
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
        Ok(Arc::new(Lexicographic(tiers.collect::<Result<_, RewardError>>()?)))
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

struct Lexicographic(Vec<Tier>);

impl Lexicographic {
    /// What each tier that counts is worth, before its weight.
    fn reached(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Vec<Worth> {
        let mut reached = Vec::with_capacity(self.0.len());
        for tier in &self.0 {
            let worth = evaluate(tier.of.as_ref(), facts, tracer);
            let stops = match &worth {
                Worth::Number(value) => *value < tier.pass,
                Worth::NotApplicable(_) => false,
                Worth::Unscorable(_) | Worth::Broken(_) => true,
            };
            reached.push(worth);
            if stops {
                break;
            }
        }
        reached
    }
}

impl Expression for Lexicographic {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let reached = self.reached(facts, tracer);
        let count = self.0.len();
        let last = reached.len();
        tracer.note(|| match reached.last() {
            Some(Worth::Number(value)) if last < count => {
                format!("stopped at tier {last} of {count}: {value} is below {}", self.0[last - 1].pass)
            }
            _ if last == count => format!("reached the last of {count} tiers"),
            _ => format!("stopped at tier {last} of {count}"),
        });
        let weighted: Vec<Worth> = reached
            .into_iter()
            .zip(&self.0)
            .map(|(worth, tier)| worth.map(|value| tier.weight * value))
            .collect();
        numbers(&weighted).map_or_else(|other| other, |n| Worth::Number(n.iter().sum()))
    }

    fn label(&self, _: &Facts<'_>) -> String {
        "lexicographic".to_owned()
    }

    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        let reached = self.reached(facts, &mut Tracer::off()).len();
        add_by_turn(self.0[..reached].iter().map(|tier| {
            let paid = tier.of.paid_by_turn(facts)?;
            Some(paid.into_iter().map(|here| tier.weight * here).collect())
        }))
    }

    fn range(&self, terms: &[Range]) -> Range {
        // A tier that is not reached adds 0, and so does one that is passed over, which hides no tier after it.
        let tiers = self.0.iter().map(|tier| tier.of.range(terms).scaled(tier.weight).hull(Range::only(0.0)));
        tiers.fold(Range::only(0.0), Range::plus)
    }
}
