//! Ranks the members of a group by dominance over several objectives at once:
//!
//!   R = 1 − rank / (n − 1)
//!
//! where `rank` is the front of the episode by non-dominated sorting, 0 for the best, and `n` the members compared. One
//! episode dominates another if it is at least as good in every part and better in one. Equal episodes share a front, and so
//! do those that trade one part against another: within a front no episode is better, and no crowding distance breaks the tie.
//! Compared are the members to which every part applies; anyone else, and an episode without company, has no rank.

use crate::prelude::*;

/// Ranks the members of a group by dominance over several objectives, from 1 down to 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoRank {
    /// The objectives, each the better the higher; at least two.
    pub of: Vec<RewardConfig>,
}

impl Component for ParetoRank {
    const ABOUT: About = About {
        name: "pareto-rank",
        summary: "Ranks the members of a group by dominance over several objectives, from 1 down to 0.",
        paper: "Deb et al., A Fast and Elitist Multiobjective Genetic Algorithm: NSGA-II (2002)",
    };
    const EXAMPLE: &'static str = r#"
of = [{ type = "exact-answer" }, { type = "cost", per_call = 0.1 }]
"#;
}

impl Combinator for ParetoRank {
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
        Ok(Arc::new(ParetoRankNode { parts, slots }))
    }
}

struct ParetoRankNode {
    parts: Vec<Node>,
    slots: Vec<Slot>,
}

impl ParetoRankNode {
    /// The members of the group to which every part applies.
    fn compared(&self, context: &NodeContext<'_>) -> Vec<Vec<f64>> {
        let columns: Vec<Vec<&Value>> = self.slots.iter().map(|&slot| context.group(slot)).collect();
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

impl Expression for ParetoRankNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let parts = evaluate_all(&self.parts, context, tracer);
        if let Some(stopper) = stopper(&parts) {
            return stopper;
        }
        let Some(own) = parts.iter().map(Value::number).collect::<Option<Vec<f64>>>() else {
            return Value::NotApplicable("an objective does not apply".to_owned());
        };
        let points = self.compared(context);
        if points.len() < 2 {
            return Value::NotApplicable("nobody else of the group can be compared".to_owned());
        }
        let rank = front(&own, &points);
        let above = points.iter().filter(|point| dominates(point, &own)).count();
        tracer.note(|| format!("front {rank} among {}; {above} dominate it", points.len()));
        Value::Number(1.0 - rank as f64 / (points.len() - 1) as f64)
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        "Pareto rank in the group".to_owned()
    }

    fn range(&self, _: &[Range]) -> Range {
        Range::UNIT
    }
}
