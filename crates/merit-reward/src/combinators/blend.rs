//! Blends two parts by shares that move over the training steps (Atom-Searcher's annealing):
//!
//!   R = a(T) · of + (1 − a(T)) · with
//!
//! with `a` going linearly from one share to another. A part without a share at the step is not evaluated. Where one part
//! does not apply the other counts whole: a blend of one. Give both parts the same scale, or the blend changes the scale of
//! the reward as it moves.

use super::slope::Slope;
use crate::compile::{Combinator, Compiler};
use crate::expression::{Expression, Facts, Node, add_by_turn, evaluate_as};
use crate::range::Range;
use crate::trace::Tracer;
use crate::worth::{Worth, stopper};
use crate::{Component, Problem, RewardConfig, RewardError};
use merit_core::About;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(crate) const BLEND: Component = Component {
    about: About {
        name: "blend",
        summary: "Blends two parts by shares that move linearly over the training steps.",
        paper: "Atom-Searcher: Enhancing Agentic Deep Research via Fine-Grained Atomic Thought Reward (2025), \
                arXiv:2508.12800",
    },
    example: r#"
type = "blend"
of = { type = "tool-success" }
with = { type = "exact-answer" }
share = { from = 0.5, to = 0.0, start_step = 0, end_step = 100 }
"#,
};

/// `blend`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlendConfig {
    /// The part whose share is given.
    pub of: Box<RewardConfig>,
    /// The part that has the rest.
    pub with: Box<RewardConfig>,
    /// The share of `of`; from 0 to 1.
    pub share: Slope,
}

impl Combinator for BlendConfig {
    fn children(&self) -> Vec<&RewardConfig> {
        vec![&self.of, &self.with]
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        self.share.check(compiler)?;
        for (field, value) in [("share.from", self.share.from), ("share.to", self.share.to)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(compiler.error(Problem::NotAShare { field, value }));
            }
        }
        let of = compiler.part("of", &self.of)?;
        Ok(Arc::new(Blend { of, with: compiler.part("with", &self.with)?, share: self.share }))
    }
}

struct Blend {
    of: Node,
    with: Node,
    share: Slope,
}

/// A part with its share, and what it came to.
struct Shared<'a> {
    part: &'a Node,
    share: f64,
    worth: Worth,
}

impl Blend {
    fn parts(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Vec<Shared<'_>> {
        let share = self.share.at(facts.context.step);
        [("of", &self.of, share), ("with", &self.with, 1.0 - share)]
            .into_iter()
            .filter(|(_, _, share)| *share > 0.0)
            .map(|(role, part, share)| Shared {
                part,
                share,
                worth: evaluate_as(role, part.as_ref(), facts, tracer),
            })
            .collect()
    }
}

/// The share of everything that applies.
fn applying(parts: &[Shared<'_>]) -> f64 {
    parts.iter().filter(|part| part.worth.number().is_some()).map(|part| part.share).sum()
}

impl Expression for Blend {
    fn value(&self, facts: &Facts<'_>, tracer: &mut Tracer) -> Worth {
        let parts = self.parts(facts, tracer);
        let worths: Vec<Worth> = parts.iter().map(|part| part.worth.clone()).collect();
        if let Some(stopper) = stopper(&worths) {
            return stopper;
        }
        let whole = applying(&parts);
        if whole == 0.0 {
            return Worth::NotApplicable("no part with a share applies".to_owned());
        }
        if parts.iter().any(|part| part.worth.number().is_none()) {
            tracer.note(|| "one part does not apply; the other counts whole".to_owned());
        }
        let blended = parts.iter().filter_map(|part| Some(part.share * part.worth.number()?));
        Worth::Number(blended.sum::<f64>() / whole)
    }

    fn label(&self, facts: &Facts<'_>) -> String {
        let step = facts.context.step;
        let share = self.share.at(step);
        format!("blend ({share} and {} at step {step})", 1.0 - share)
    }

    fn paid_by_turn(&self, facts: &Facts<'_>) -> Option<Vec<f64>> {
        let parts = self.parts(facts, &mut Tracer::off());
        let whole = applying(&parts);
        add_by_turn(parts.iter().filter(|part| part.worth.number().is_some()).map(|part| {
            let paid = part.part.paid_by_turn(facts)?;
            Some(paid.into_iter().map(|here| here * part.share / whole).collect())
        }))
    }

    fn range(&self, terms: &[Range]) -> Range {
        // Either part may be left to count whole, as long as it ever has a share.
        let share = self.share.range();
        let of = (share.high > 0.0).then(|| self.of.range(terms));
        let with = (share.low < 1.0).then(|| self.with.range(terms));
        of.into_iter().chain(with).reduce(Range::hull).unwrap_or(Range::ALL)
    }
}
