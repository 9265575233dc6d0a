//! Group sequence policy optimisation: the ratio and the clip are those of the whole sequence.
//!
//! With `n` trained tokens: `s = exp(1/n sum_t (logprob_t - old_logprob_t))`,
//! `l = -min(s A, clip(s, 1 - low, 1 + high) A)`, `dl/dlogprob_t = -s A / n` where the first is the smaller, else 0. `A` is the
//! mean advantage of the sequence, which rules that credit a whole episode write on every token of it. The loss of a batch is
//! the mean over sequences. Entropy counts by its mean over the sequence.

use super::entropy::{EntropyBand, check_bonus, held};
use super::policy_gradient::check_clip;
use super::surrogate::surrogate;
use super::{Average, LossParts, Needs, Objective, SequenceLoss, TokenLoss, Undeclared, Unit};
use merit_core::registry::{About, Component, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of GSPO. The ratio of a sequence is a geometric mean, so its clip is far narrower than that of a token.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gspo {
    /// How far below 1 the ratio may go before the gradient of a bad sequence is cut.
    pub clip_low: f64,
    /// How far above 1 the ratio may go before the gradient of a good sequence is cut.
    pub clip_high: f64,
    /// How much entropy counts as a bonus.
    #[serde(skip_serializing_if = "is_none")]
    pub entropy: f64,
    /// A cost of an entropy that moves away from what it was when the update began. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy_band: Option<EntropyBand>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so.
fn is_none(bonus: &f64) -> bool {
    *bonus == 0.0
}

impl Default for Gspo {
    fn default() -> Self {
        Self { clip_low: 3e-4, clip_high: 4e-4, entropy: 0.0, entropy_band: None }
    }
}

impl Component for Gspo {
    const ABOUT: About = About {
        name: "gspo",
        summary: "policy gradient with the length-normalised ratio of whole sequences, clipped by sequence",
        paper: "GSPO, arXiv:2507.18071",
    };

    fn check(&self) -> Result<(), Refusal> {
        check_clip(self.clip_low, self.clip_high)?;
        check_bonus(self.entropy)?;
        self.entropy_band.as_ref().map_or(Ok(()), EntropyBand::check)
    }
}

impl Objective for Gspo {
    fn needs(&self) -> Needs {
        Needs {
            on_policy: true,
            old_logprobs: true,
            advantages: true,
            entropy: self.entropy > 0.0 || self.entropy_band.is_some(),
            old_entropy: self.entropy_band.is_some(),
            ..Needs::default()
        }
    }

    fn average(&self) -> Average {
        Average::Units
    }

    fn loss(&self, unit: &Unit<'_>, out: &mut [SequenceLoss<'_>]) -> Result<(), Undeclared> {
        for (member, out) in unit.members.iter().zip(out) {
            let mean = |stream: &[f32]| {
                member.positions().map(|at| f64::from(stream[at])).sum::<f64>() / member.trained() as f64
            };
            let (new, old) = (mean(member.logprobs()), mean(member.old_logprobs()?));
            let advantage = mean(member.advantages()?);
            let (loss, slope, clipped) = surrogate(new, old, advantage, self.clip_low, self.clip_high);
            out.whole(LossParts::of_policy(loss), slope / member.trained() as f64, clipped);
            if !self.needs().entropy {
                continue;
            }
            let entropy = member.entropy()?;
            let old = self.entropy_band.map(|_| member.old_entropy()).transpose()?;
            for at in member.positions() {
                let before = old.map(|old| f64::from(old[at]));
                let (loss, slope) = held(self.entropy, self.entropy_band, f64::from(entropy[at]), before);
                let share = member.trained() as f64;
                let parts = LossParts { entropy: loss / share, ..LossParts::default() };
                out.token(at, &TokenLoss { parts, d_entropy: slope / share, ..TokenLoss::default() });
            }
        }
        Ok(())
    }
}
