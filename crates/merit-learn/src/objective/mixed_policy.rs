//! The policy gradient over groups that a teacher's episodes have joined.
//!
//! Own tokens have the clipped surrogate. What the teacher's policy gave its tokens is not known, so that their ratio is taken to a
//! stand-in `d`, which is not differentiated and never clipped: `l = -(pi / d) A`, `dl/dlogprob = -(pi / d) A`.

use super::policy_gradient::check_clip;
use super::surrogate::surrogate;
use super::{LossParts, Member, Needs, Objective, SequenceLoss, TokenLoss, Undeclared, Unit};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the mixed policy gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MixedPolicy {
    /// How far below 1 the ratio of an own token may go before the gradient of a bad one is cut.
    pub clip_low: f64,
    /// How far above 1 the ratio of an own token may go before the gradient of a good one is cut.
    pub clip_high: f64,
    /// What stands for the teacher's probability.
    pub shift: Shift,
}

/// What stands for the probability that the teacher gave its token, with `pi` that of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shift {
    /// `d = 1`: the teacher was certain. Tokens that the policy finds unlikely are hardly learned.
    Certain,
    /// `d = pi + gamma`: unlikely tokens are learned too, likely ones hardly more (LUFFY).
    Constant {
        /// What is added; above 0.
        gamma: f64,
    },
    /// `d = pi + (1 - pi) p`, where `p` is the mean reward of the group's own episodes, within 0 and 1: full imitation of what the
    /// policy cannot solve, hardly any of what it can (RED).
    Accuracy,
}

impl Default for MixedPolicy {
    fn default() -> Self {
        Self { clip_low: 0.2, clip_high: 0.28, shift: Shift::Certain }
    }
}

impl Component for MixedPolicy {
    const ABOUT: About = About {
        name: "mixed-policy",
        summary: "clipped policy gradient over own episodes and a teacher's, whose tokens have a ratio to a stand-in",
        paper: "LUFFY, arXiv:2504.14945; RED (Recall-Extend Dynamics), 2025",
    };
    const EXAMPLE: &'static str = "shift = { type = \"constant\", gamma = 0.1 }";

    fn check(&self) -> Result<(), Refusal> {
        check_clip(self.clip_low, self.clip_high)?;
        match self.shift {
            Shift::Constant { gamma } => {
                Refusal::unless(gamma.is_finite() && gamma > 0.0, "shift.gamma", gamma, "a positive number")
            }
            Shift::Certain | Shift::Accuracy => Ok(()),
        }
    }
}

impl Objective for MixedPolicy {
    fn needs(&self) -> Needs {
        Needs { old_logprobs: true, advantages: true, guests: true, ..Needs::default() }
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        for (member, out) in unit.members.iter().zip(out) {
            if member.is_guest() {
                self.guest(member, out)?;
            } else {
                self.own(member, out)?;
            }
        }
        Ok(())
    }
}

impl MixedPolicy {
    fn own(&self, member: &Member<'_>, out: &mut SequenceLoss<'_>) -> Result<(), Undeclared> {
        let (logprobs, old, advantages) = (member.logprobs(), member.old_logprobs()?, member.advantages()?);
        for at in member.positions() {
            let number = |stream: &[f32]| f64::from(stream[at]);
            let (loss, d_logprob, clipped) =
                surrogate(number(logprobs), number(old), number(advantages), self.clip_low, self.clip_high);
            let parts = LossParts::of_policy(loss);
            out.token(at, &TokenLoss { parts, d_logprob, clipped, ..TokenLoss::default() });
        }
        Ok(())
    }

    fn guest(&self, member: &Member<'_>, out: &mut SequenceLoss<'_>) -> Result<(), Undeclared> {
        let (logprobs, advantages) = (member.logprobs(), member.advantages()?);
        // Without a valid own episode the group's success is taken as 0.
        let solved = member.own_reward()?.unwrap_or(0.0).clamp(0.0, 1.0);
        for at in member.positions() {
            let pi = f64::from(logprobs[at]).exp();
            let loss = -self.shift.ratio(pi, solved) * f64::from(advantages[at]);
            let parts = LossParts::of_policy(loss);
            out.token(at, &TokenLoss { parts, d_logprob: loss, ..TokenLoss::default() });
        }
        Ok(())
    }
}

impl Shift {
    /// `pi / d`.
    fn ratio(self, pi: f64, solved: f64) -> f64 {
        match self {
            Self::Certain => pi,
            Self::Constant { gamma } => pi / (pi + gamma),
            // `d` is 0 only where the policy gives the token no chance and solves nothing: the limit is full imitation.
            Self::Accuracy if solved == 0.0 => 1.0,
            Self::Accuracy => pi / (pi + (1.0 - pi) * solved),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_solved_is_imitated_in_full_and_what_can_hardly_at_all() {
        for pi in [0.0, 0.01, 0.5, 1.0] {
            assert_eq!(Shift::Accuracy.ratio(pi, 0.0), 1.0);
            assert_eq!(Shift::Accuracy.ratio(pi, 1.0), pi);
        }
        assert!((Shift::Accuracy.ratio(0.1, 0.5) - 0.1 / 0.55).abs() < 1e-12);
    }

    #[test]
    fn a_constant_shift_learns_unlikely_tokens_more_than_a_certain_teacher_does() {
        let luffy = Shift::Constant { gamma: 0.1 };
        assert!((luffy.ratio(0.1, 0.7) - 0.5).abs() < 1e-12);
        assert_eq!(Shift::Certain.ratio(0.1, 0.7), 0.1);
    }
}
