//! Evaluates a part at every turn and takes the turns together.
//!
//! Inside, a term that looks at turns says what it found at that turn; a term that looks at the whole episode says the same
//! of every turn. A turn at which nothing applies is left out. A sum or a mean is also paid turn by turn, the last turn's
//! value at the last turn; a least or greatest value belongs to the episode and is paid at the end.

use crate::prelude::*;

/// Evaluates a part at every turn; pays their sum or mean turn by turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerTurn {
    /// The part, evaluated at every turn.
    pub of: Box<RewardConfig>,
    /// How the turns are taken together.
    pub reduce: Reduce,
}

/// How turns are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Their mean. More turns pay no more.
    Mean,
    /// Their sum. More turns pay more: cap it with `clip`, or they are farmed.
    Sum,
    /// The least of the turns' values.
    Min,
    /// The greatest of the turns' values.
    Max,
    /// The value of the last turn.
    Last,
}

impl Component for PerTurn {
    const ABOUT: About = About {
        name: "per-turn",
        summary: "Evaluates a part at every turn; pays their sum or mean turn by turn.",
        paper: "Doctor-R1: Mastering Clinical Inquiry with Experiential Agentic Reinforcement Learning (2025)",
    };
    const EXAMPLE: &'static str = r#"
reduce = "mean"
of = { type = "veto", when = { type = "format" }, below = 1, value = -1.0, then = { type = "tool-success" } }
"#;
}

impl Combinator for PerTurn {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("per-turn")?;
        Ok(Arc::new(PerTurnNode { of: compiler.part_by_turn("of", &self.of)?, reduce: self.reduce }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        if self.reduce == Reduce::Sum {
            advice.farms("of");
        }
    }
}

struct PerTurnNode {
    of: Node,
    reduce: Reduce,
}

impl PerTurnNode {
    fn turns(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Vec<Value> {
        let turns = 0..context.episode.turns.len();
        turns.map(|turn| evaluate(self.of.as_ref(), &context.at_turn(turn), tracer)).collect()
    }
}

impl Expression for PerTurnNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let numbers = match numbers(&self.turns(context, tracer)) {
            Ok(numbers) => numbers,
            Err(other) => return other,
        };
        let sum: f64 = numbers.iter().sum();
        Value::Number(match self.reduce {
            Reduce::Sum => sum,
            Reduce::Mean => sum / numbers.len() as f64,
            Reduce::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Reduce::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Reduce::Last => numbers[numbers.len() - 1],
        })
    }

    fn label(&self, _: &NodeContext<'_>) -> String {
        format!("per turn ({:?})", self.reduce).to_lowercase()
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let values = self.turns(context, &mut Tracer::off());
        let count = values.iter().filter_map(Value::number).count();
        let last = values.iter().rposition(|value| value.number().is_some())?;
        let share = |(turn, value): (usize, &Value)| {
            let value = value.number().unwrap_or(0.0);
            match self.reduce {
                Reduce::Sum => Some(value),
                Reduce::Mean => Some(value / count as f64),
                Reduce::Last => Some(if turn == last { value } else { 0.0 }),
                Reduce::Min | Reduce::Max => None,
            }
        };
        values.iter().enumerate().map(share).collect()
    }

    fn range(&self, terms: &[Range]) -> Range {
        let turn = self.of.range(terms);
        match self.reduce {
            // Any number of turns.
            Reduce::Sum => Range {
                low: if turn.low < 0.0 { f64::NEG_INFINITY } else { 0.0 },
                high: if turn.high > 0.0 { f64::INFINITY } else { 0.0 },
            },
            Reduce::Mean | Reduce::Min | Reduce::Max | Reduce::Last => turn,
        }
    }
}
