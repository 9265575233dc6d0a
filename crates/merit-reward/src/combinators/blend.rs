//! Blends two parts by shares that move over the training steps (Atom-Searcher's annealing):
//!
//!   R = a(T) · of + (1 − a(T)) · with
//!
//! with `a` going linearly from one share to another. A part without a share at the step is not evaluated. Where one part
//! does not apply the other counts whole: a blend of one. Give both parts the same scale, or the blend changes the scale of
//! the reward as it moves.

use super::slope::Slope;
use crate::prelude::*;

/// Blends two parts by shares that move linearly over the training steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blend {
    /// The part whose share is given.
    pub of: Box<RewardConfig>,
    /// The part that has the rest.
    pub with: Box<RewardConfig>,
    /// The share of `of`; from 0 to 1.
    pub share: Slope,
}

impl Component for Blend {
    const ABOUT: About = About {
        name: "blend",
        summary: "Blends two parts by shares that move linearly over the training steps.",
        paper: "Atom-Searcher: Enhancing Agentic Deep Research via Fine-Grained Atomic Thought Reward (2025), \
                arXiv:2508.12800",
    };
    const EXAMPLE: &'static str = r#"
of = { type = "tool-success" }
with = { type = "exact-answer" }
share = { from = 0.5, to = 0.0, start_step = 0, end_step = 100 }
"#;
}

impl Combinator for Blend {
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
        Ok(Arc::new(BlendNode { of, with: compiler.part("with", &self.with)?, share: self.share }))
    }

    fn advise(&self, advice: &mut Advice<'_>) {
        advice.adds("of", 1.0);
        advice.adds("with", 1.0);
        match (self.share.from, self.share.to) {
            (0.0, 0.0) => advice.never("of", "its share is 0 at every step", "give it a share, or remove it"),
            (1.0, 1.0) => {
                let why = "the other part has all of the share at every step";
                advice.never("with", why, "give it a share, or remove it");
            }
            _ => {}
        }
    }
}

struct BlendNode {
    of: Node,
    with: Node,
    share: Slope,
}

/// A part with its share, and what it came to.
struct Shared<'a> {
    part: &'a Node,
    share: f64,
    value: Value,
}

impl BlendNode {
    fn parts(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Vec<Shared<'_>> {
        let share = self.share.at(context.run.step);
        [("of", &self.of, share), ("with", &self.with, 1.0 - share)]
            .into_iter()
            .filter(|(_, _, share)| *share > 0.0)
            .map(|(role, part, share)| Shared {
                part,
                share,
                value: evaluate_as(role, part.as_ref(), context, tracer),
            })
            .collect()
    }
}

/// The share of everything that applies.
fn applying(parts: &[Shared<'_>]) -> f64 {
    parts.iter().filter(|part| part.value.number().is_some()).map(|part| part.share).sum()
}

impl Expression for BlendNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let parts = self.parts(context, tracer);
        let values: Vec<Value> = parts.iter().map(|part| part.value.clone()).collect();
        if let Some(stopper) = stopper(&values) {
            return stopper;
        }
        let whole = applying(&parts);
        if whole == 0.0 {
            return Value::NotApplicable("no part with a share applies".to_owned());
        }
        if parts.iter().any(|part| part.value.number().is_none()) {
            tracer.note(|| "one part does not apply; the other counts whole".to_owned());
        }
        let blended = parts.iter().filter_map(|part| Some(part.share * part.value.number()?));
        Value::Number(blended.sum::<f64>() / whole)
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        let step = context.run.step;
        let share = self.share.at(step);
        format!("blend ({share} and {} at step {step})", 1.0 - share)
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let parts = self.parts(context, &mut Tracer::off());
        let whole = applying(&parts);
        add_by_turn(parts.iter().filter(|part| part.value.number().is_some()).map(|part| {
            let paid = part.part.paid_by_turn(context)?;
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
