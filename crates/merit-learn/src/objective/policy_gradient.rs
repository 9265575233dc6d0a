//! Clipped policy gradient with optional KL penalty, entropy bonus and value loss.
//!
//!   `l = surrogate + kl.coefficient * k(logprob, reference) - entropy * H + cost of the band + value.coefficient * value loss`.
//!
//! The ratio is taken to the log-probability recorded when the token was chosen. Which baseline, which level and which
//! discount made the advantage is not known here.

use super::entropy::{EntropyBand, check_bonus, held};
use super::surrogate::{dual, surrogate};
use super::{LossParts, Needs, Objective, SequenceLoss, TokenLoss, Undeclared, Unit};
use crate::{KlPenalty, ValueLoss};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the policy gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyGradient {
    /// How far below 1 the ratio may go before the gradient of a bad token is cut.
    pub clip_low: f64,
    /// How far above 1 the ratio may go before the gradient of a good token is cut.
    pub clip_high: f64,
    /// The loss of a bad token ends at this many times its advantage, however far its ratio has run away. Absent: it does not end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dual_clip: Option<f64>,
    /// A pull towards a reference policy. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kl: Option<KlPenalty>,
    /// How much entropy counts as a bonus.
    pub entropy: f64,
    /// A cost of an entropy that moves away from what it was when the update began. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy_band: Option<EntropyBand>,
    /// A value loss. Absent: values are not trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueLoss>,
}

impl Default for PolicyGradient {
    fn default() -> Self {
        Self {
            clip_low: 0.2,
            clip_high: 0.28,
            dual_clip: None,
            kl: None,
            entropy: 0.0,
            entropy_band: None,
            value: None,
        }
    }
}

impl Component for PolicyGradient {
    const ABOUT: About = About {
        name: "policy-gradient",
        summary: "clipped policy gradient over the advantages of the samples, with optional KL, entropy and value parts",
        paper: "PPO, arXiv:1707.06347",
    };
    const EXAMPLE: &'static str =
        "kl = { coefficient = 0.01 }\nentropy = 0.001\nvalue = { coefficient = 0.5, clip = 0.2 }";

    fn check(&self) -> Result<(), Refusal> {
        check_clip(self.clip_low, self.clip_high)?;
        let dual = self.dual_clip.is_none_or(|most| most.is_finite() && most > 1.0);
        Refusal::unless(dual, "dual_clip", self.dual_clip.unwrap_or(0.0), "above 1; leave it out for none")?;
        check_bonus(self.entropy)?;
        self.entropy_band.as_ref().map_or(Ok(()), EntropyBand::check)?;
        self.kl.as_ref().map_or(Ok(()), KlPenalty::check)?;
        self.value.as_ref().map_or(Ok(()), ValueLoss::check)
    }
}

/// Refuses limits of a ratio that cannot work.
pub(super) fn check_clip(low: f64, high: f64) -> Result<(), Refusal> {
    Refusal::unless(low > 0.0 && low <= 1.0, "clip_low", low, "above 0 and at most 1 (1 never clips)")?;
    let want = "a positive number (a large one never clips)";
    Refusal::unless(high.is_finite() && high > 0.0, "clip_high", high, want)
}

impl Objective for PolicyGradient {
    fn needs(&self) -> Needs {
        let value = self.value.as_ref();
        Needs {
            on_policy: true,
            old_logprobs: true,
            advantages: true,
            reference: self.kl.is_some(),
            entropy: self.entropy > 0.0 || self.entropy_band.is_some(),
            old_entropy: self.entropy_band.is_some(),
            values: value.is_some(),
            old_values: value.is_some_and(|value| value.clip.is_some()),
            returns: value.is_some(),
            ..Needs::default()
        }
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        for (member, out) in unit.members.iter().zip(out) {
            let streams = Streams {
                logprobs: member.logprobs(),
                old_logprobs: member.old_logprobs()?,
                advantages: member.advantages()?,
                reference: self.kl.map(|_| member.reference()).transpose()?.unwrap_or_default(),
                entropy: if self.needs().entropy { member.entropy()? } else { &[] },
                old_entropy: self.entropy_band.map(|_| member.old_entropy()).transpose()?,
                values: self.value.map(|_| member.values()).transpose()?.unwrap_or_default(),
                old_values: self.value.and_then(|v| v.clip).map(|_| member.old_values()).transpose()?,
                returns: self.value.map(|_| member.returns()).transpose()?.unwrap_or_default(),
            };
            member.positions().for_each(|at| out.token(at, &self.token(&streams, at)));
        }
        Ok(())
    }
}

/// What is read of a sequence; empty where the settings do not ask for it.
struct Streams<'a> {
    logprobs: &'a [f32],
    old_logprobs: &'a [f32],
    advantages: &'a [f32],
    reference: &'a [f32],
    entropy: &'a [f32],
    old_entropy: Option<&'a [f32]>,
    values: &'a [f32],
    old_values: Option<&'a [f32]>,
    returns: &'a [f32],
}

impl PolicyGradient {
    fn token(&self, streams: &Streams<'_>, at: usize) -> TokenLoss {
        let number = |stream: &[f32]| f64::from(stream[at]);
        let logprob = number(streams.logprobs);
        let (old, advantage) = (number(streams.old_logprobs), number(streams.advantages));
        let (policy, mut d_logprob, clipped) = dual(
            surrogate(logprob, old, advantage, self.clip_low, self.clip_high),
            advantage,
            self.dual_clip,
        );
        let mut parts = LossParts::of_policy(policy);
        if let Some(KlPenalty { coefficient, estimator }) = self.kl {
            let reference = number(streams.reference);
            parts.kl = coefficient * estimator.estimate(logprob, reference);
            d_logprob += coefficient * estimator.derivative(logprob, reference);
        }
        let mut d_entropy = 0.0;
        if !streams.entropy.is_empty() {
            let old = streams.old_entropy.map(number);
            (parts.entropy, d_entropy) = held(self.entropy, self.entropy_band, number(streams.entropy), old);
        }
        let mut d_value = 0.0;
        if let Some(value) = &self.value {
            let old = streams.old_values.map(number);
            let (loss, derivative) = value.at(number(streams.values), old, number(streams.returns));
            parts.value = value.coefficient * loss;
            d_value = value.coefficient * derivative;
        }
        TokenLoss { parts, d_logprob, d_entropy, d_value, clipped }
    }
}
