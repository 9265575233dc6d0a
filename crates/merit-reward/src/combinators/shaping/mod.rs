//! Potential-based shaping (Ng, Harada and Russell; Robo-Dopamine): pays progress turn by turn without changing what is best.
//!
//! The potential after turn t is what a term, or an expression, says of turn t; a turn of which it says nothing holds the
//! value before, and `start` is the value before the first turn. Turn t is paid
//!
//!   F_t = γ · Φ(s_{t+1}) − γ^{−(n_t − 1)} · Φ(s_t)
//!
//! with γ the learner's own discount and Φ = 0 behind a real end. Where the episode was cut, or it is unknown how it ended,
//! the world went on and Φ is kept. n_t is how many of the learner's steps the turn took. Learners that discount per token
//! (`step = "token"`, as GAE and REINFORCE++ here do) see a turn's reward at its last token, n_t − 1 steps after the turn
//! began; the power undoes exactly that, or long turns would be paid for standing at a high potential. It is large for long
//! turns under a discount well below 1, where such a learner hardly sees past the turn. With
//! `step = "turn"`, for learners that discount once per turn, n_t = 1 and F_t = γΦ(s_{t+1}) − Φ(s_t). A turn without known
//! tokens counts as one step.
//!
//! The discounted return of the turns then telescopes to −Φ(s_0), the same for every policy, plus the discounted Φ where the
//! episode was cut: every Q moves by −Φ(s) and the best action stays the best. The episode's *value* is the plain sum of what
//! is paid, `of + Σ F_t`, so that turns and end add up. With γ = 1 the sum of all F_t is that same −Φ(s_0); with γ < 1 it also
//! holds −(1 − γ)ΣΦ and is book-keeping, not a return. A credit rule that reads only the value acts with γ = 1 and says so by
//! its discount.

mod potential;

use crate::prelude::*;

use potential::Potential;

/// Potential-based shaping: pays progress by turn without changing what is best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shaping {
    /// The reward that is shaped.
    pub of: Box<RewardConfig>,
    /// The potential after each turn: the name of a term (its raw turn values) or an expression, evaluated at every turn.
    pub potential: Condition,
    /// The potential before the first turn.
    #[serde(default)]
    pub start: f64,
    /// What the learner's discount counts.
    #[serde(default)]
    pub step: ShapingStep,
}

/// What a discount counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShapingStep {
    /// Every token that the policy sampled, as the credit rules here do.
    #[default]
    Token,
    /// Every turn of the policy.
    Turn,
}

impl Component for Shaping {
    const ABOUT: About = About {
        name: "shaping",
        summary: "Potential-based shaping: pays progress by turn without changing what is best.",
        paper: "Robo-Dopamine: General Process Reward Modeling for High-Precision Robotic Manipulation (2025)",
    };
    const EXAMPLE: &'static str = r#"
of = { type = "exact-answer" }
potential = { type = "tool-success", weight = 0.5 }
start = 0.0
"#;
}

impl Combinator for Shaping {
    fn children(&self) -> Vec<&RewardConfig> {
        [Some(&*self.of), self.potential.children()].into_iter().flatten().collect()
    }

    fn compile(&self, compiler: &mut Compiler) -> Result<Node, RewardError> {
        compiler.whole_episodes("shaping")?;
        let start = compiler.finite("start", self.start)?;
        let of = compiler.part("of", &self.of)?;
        let potential = Potential::compile(&self.potential, compiler)?;
        Ok(Arc::new(ShapingNode { of, potential, start, step: self.step }))
    }
}

struct ShapingNode {
    of: Node,
    potential: Potential,
    start: f64,
    step: ShapingStep,
}

impl ShapingNode {
    /// F_t for each turn.
    fn payments(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Result<Vec<f64>, Value> {
        let after = self.potential.after_turns(self.start, context, tracer)?;
        let ended = context.episode.end.terminal();
        tracer.note(|| {
            let shown: Vec<String> = after.iter().map(|phi| format!("{phi}")).collect();
            let end = if ended { "0 at the real end" } else { "kept, since it did not really end" };
            format!("potential {} → {}; {end}", self.start, shown.join(" → "))
        });
        let gamma = context.run.discount;
        let mut before = self.start;
        let mut paid = Vec::with_capacity(after.len());
        for (turn, &phi) in after.iter().enumerate() {
            let reached = if ended && turn + 1 == after.len() { 0.0 } else { phi };
            let steps = self.steps(context.episode, turn);
            paid.push(gamma * reached - gamma.powi(1 - steps) * before);
            before = phi;
        }
        Ok(paid)
    }

    /// How many of the learner's steps a turn took.
    fn steps(&self, episode: &Episode, turn: usize) -> i32 {
        if self.step == ShapingStep::Turn {
            return 1;
        }
        let own = episode.transcript.segments().iter().filter(|s| {
            s.turn as usize == turn && s.role.trainable() && s.provenance != Provenance::Replayed
        });
        i32::try_from(own.map(|s| s.tokens.len()).sum::<usize>().max(1)).unwrap_or(i32::MAX)
    }
}

impl Expression for ShapingNode {
    fn value(&self, context: &NodeContext<'_>, tracer: &mut Tracer) -> Value {
        let base = match evaluate(self.of.as_ref(), context, tracer) {
            Value::Number(base) => base,
            other => return other,
        };
        match self.payments(context, tracer) {
            Ok(paid) => {
                let sum: f64 = paid.iter().sum();
                tracer.note(|| format!("{base} and {sum} by shaping"));
                Value::Number(base + sum)
            }
            Err(why) => why,
        }
    }

    fn label(&self, context: &NodeContext<'_>) -> String {
        let unit = match self.step {
            ShapingStep::Token => "token",
            ShapingStep::Turn => "turn",
        };
        format!("shaping (discount {} per {unit})", context.run.discount)
    }

    fn paid_by_turn(&self, context: &NodeContext<'_>) -> Option<Vec<f64>> {
        let shaped = self.payments(context, &mut Tracer::off()).ok()?;
        add_by_turn([self.of.paid_by_turn(context), Some(shaped)].into_iter())
    }

    fn range(&self, terms: &[Range]) -> Range {
        let phi = self.potential.range(terms).hull(Range::only(self.start));
        // Σ F_t = γΦ_T − g_0Φ_0 − Σ_{0<t<T} (g_t − γ)Φ_t with every g_t ≥ 1 ≥ γ, over any number of turns.
        let shaped = if phi.low >= 0.0 {
            Range { low: if phi.high > 0.0 { f64::NEG_INFINITY } else { 0.0 }, high: phi.high - self.start }
        } else if phi.high <= 0.0 {
            Range { low: phi.low - self.start, high: f64::INFINITY }
        } else {
            Range::ALL
        };
        self.of.range(terms).plus(shaped)
    }
}
