//! Ranks the members of a group by dominance over several objectives at once:
//!
//!   R = 1 − rank / (n − 1)
//!
//! where `rank` is the front of the episode by non-dominated sorting, 0 for the best, and `n` the members compared. One
//! episode dominates another if it is at least as good in every part and better in one. Equal episodes share a front, and so
//! do those that trade one part against another: within a front nobody is better, and no crowding distance breaks the tie.
//! Compared are the members to which every part applies; anyone else, and an episode without company, has no rank.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, Slot, evaluate_all};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::{Worth, stopper};
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const PARETO_RANK: Component = Component {
    about: About {
        name: "pareto-rank",
        summary: "Ranks the members of a group by dominance over several objectives, from 1 down to 0.",
        paper: "Deb et al., A Fast and Elitist Multiobjective Genetic Algorithm: NSGA-II (2002)",
    },
    example: r#"
type = "pareto-rank"
of = [{ type = "exact-answer" }, { type = "cost", per_call = 0.1 }]
"#,
};

/// `pareto-rank`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParetoRankConfig {
    /// The objectives, each the better the higher; at least two.
    pub of: Vec<RewardConfig>,
}

impl Combinator for ParetoRankConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        self.of.iter().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("pareto-rank")?;
        if self.of.len() < 2 {
            let text = "`pareto-rank` needs at least two objectives in `of`; one alone has no trade to make";
            return Err(compiler.error(Problem::Setting(text.into())));
        }
        let parts = compiler.list("pareto-rank", &self.of)?;
        let slots = parts.iter().map(|part| compiler.slot(part)).collect();
        Ok(Arc::new(ParetoRank { parts, slots }))
    }
}

struct ParetoRank {
    parts: Vec<Node>,
    slots: Vec<Slot>,
}

impl ParetoRank {
    /// The members of the group to which every part applies.
    fn compared(&self, facts: &Facts<'_>) -> Vec<Vec<f64>> {
        let columns: Vec<Vec<&Worth>> = self.slots.iter().map(|&slot| facts.group(slot)).collect();
        let members = columns.iter().map(Vec::len).min().unwrap_or(0);
        (0..members)
            .filter_map(|member| columns.iter().map(|column| column[member].number()).collect())
            .collect()
    }
}

fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a >= b) && a.iter().zip(b).any(|(a, b)| a > b)
}

/// The front of `own` among `points`: the length of the longest chain of points that dominate one another down to it.
fn front(own: &[f64], points: &[Vec<f64>]) -> usize {
    let mut left: Vec<&Vec<f64>> = points.iter().collect();
    let mut rank = 0;
    while left.iter().any(|point| dominates(point, own)) {
        let all = left.clone();
        left.retain(|point| all.iter().any(|other| dominates(other, point)));
        rank += 1;
    }
    rank
}

impl Expression for ParetoRank {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let parts = evaluate_all(&self.parts, facts, tracer);
        if let Some(stopper) = stopper(&parts) {
            return stopper;
        }
        let Some(own) = parts.iter().map(Worth::number).collect::<Option<Vec<f64>>>() else {
            return Worth::NotApplicable("an objective does not apply".to_owned());
        };
        let points = self.compared(facts);
        if points.len() < 2 {
            return Worth::NotApplicable("nobody else of the group can be compared".to_owned());
        }
        let rank = front(&own, &points);
        let above = points.iter().filter(|point| dominates(point, &own)).count();
        tracer.note(|| format!("front {rank} among {}; {above} dominate it", points.len()));
        Worth::Number(1.0 - rank as f64 / (points.len() - 1) as f64)
    }

    fn label(&self, _: &Facts<'_>) -> String {
        "Pareto rank in the group".to_owned()
    }

    fn range(&self, _: &[Range]) -> Range {
        Range::UNIT
    }
}
