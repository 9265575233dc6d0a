//! Exact ascent on a composite reward: all components at once, or decomposed.

use super::grpo::Problem;
use super::targets::composite;
use super::tool_mdp::{Logits, add, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the ascent treats the components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ascent {
    /// Their weighted sum.
    Joint,
    /// One after the other, each from where the last one ended; the mean return of both orders.
    Sequential,
    /// Each from the start; the logits are added up.
    Separate,
}

/// Steps per component, and their size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    pub count: usize,
    pub size: f64,
}

impl Ascent {
    /// The composite return of what the ascent finds.
    pub fn value(self, problem: &Problem, steps: Steps) -> f64 {
        let value = |logits: &Logits| problem.mdp.value(&problem.composite(), logits);
        let count = problem.weights.len();
        match self {
            Self::Joint => {
                let mut logits = uniform();
                problem.mdp.ascend(&problem.composite(), &mut logits, steps.count * count, steps.size);
                value(&logits)
            }
            Self::Separate => {
                let mut sum = uniform();
                (0..count).for_each(|k| add(&mut sum, &one_by_one(problem, steps, [k]), 1.0));
                value(&sum)
            }
            Self::Sequential => {
                let forth = value(&one_by_one(problem, steps, 0..count));
                let back = value(&one_by_one(problem, steps, (0..count).rev()));
                0.5 * (forth + back)
            }
        }
    }
}

fn one_by_one(problem: &Problem, steps: Steps, order: impl IntoIterator<Item = usize>) -> Logits {
    let mut logits = uniform();
    for k in order {
        let reward = composite(&problem.tables[k..=k], &problem.weights[k..=k]);
        problem.mdp.ascend(&reward, &mut logits, steps.count, steps.size);
    }
    logits
}
