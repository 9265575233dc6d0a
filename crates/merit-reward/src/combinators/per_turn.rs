//! Evaluates a part at every turn and takes the turns together.
//!
//! Inside, a term that looks at turns says what it found at that turn; a term that looks at the whole episode says the same
//! of every turn. A turn at which nothing applies is left out. A sum or a mean is also paid turn by turn, the last turn's
//! value at the last turn; a least or greatest value belongs to the episode and is paid at the end.

use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, evaluate};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::{Worth, numbers};
use crate::{Component, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const PER_TURN: Component = Component {
    about: About {
        name: "per-turn",
        summary: "Evaluates a part at every turn; pays their sum or mean turn by turn.",
        paper: "Doctor-R1: Mastering Clinical Inquiry with Experiential Agentic Reinforcement Learning (2025)",
    },
    example: r#"
type = "per-turn"
reduce = "mean"
of = { type = "veto", when = { type = "format" }, below = 1, value = -1.0, then = { type = "tool-success" } }
"#,
};

/// `per-turn`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerTurnConfig {
    /// The part, evaluated at every turn.
    pub of: Box<RewardConfig>,
    /// How the turns are taken together.
    pub reduce: Reduce,
}

/// How turns are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Their mean. More turns pay no more.
    Mean,
    /// Their sum. More turns pay more: cap it with `clip`, or they are farmed.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The last turn's.
    Last,
}

impl Combinator for PerTurnConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("per-turn")?;
        Ok(Arc::new(PerTurn { of: compiler.part_by_turn("of", &self.of)?, reduce: self.reduce }))
    }
}

struct PerTurn {
    of: Node,
    reduce: Reduce,
}

impl PerTurn {
    fn turns(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Vec<Worth> {
        let turns = 0..facts.episode.turns.len();
        turns.map(|turn| evaluate(self.of.as_ref(), &facts.at_turn(turn), tracer)).collect()
    }
}

impl Expression for PerTurn {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let numbers = match numbers(&self.turns(facts, tracer)) {
            Ok(numbers) => numbers,
            Err(other) => return other,
        };
        let sum: f64 = numbers.iter().sum();
        Worth::Number(match self.reduce {
            Reduce::Sum => sum,
            Reduce::Mean => sum / numbers.len() as f64,
            Reduce::Min => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Reduce::Max => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Reduce::Last => numbers[numbers.len() - 1],
        })
    }

    fn label(&self, _: &Facts<'_>) -> String {
        format!("per turn ({:?})", self.reduce).to_lowercase()
    }

    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        let worths = self.turns(facts, &mut Tracer::off());
        let count = worths.iter().filter_map(Worth::number).count();
        let last = worths.iter().rposition(|worth| worth.number().is_some())?;
        let share = |(turn, worth): (usize, &Worth)| {
            let value = worth.number().unwrap_or(0.0);
            match self.reduce {
                Reduce::Sum => Some(value),
                Reduce::Mean => Some(value / count as f64),
                Reduce::Last => Some(if turn == last { value } else { 0.0 }),
                Reduce::Min | Reduce::Max => None,
            }
        };
        worths.iter().enumerate().map(share).collect()
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
