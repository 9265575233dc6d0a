//! Parts of a loss that hold the entropy of the policy: a bonus, and a band around what it was when the update began.

use merit_core::registry::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cost of an entropy that moves away, within one update, from what it was before.
///
/// `coefficient * max(0, H - H_old)` against growth, `coefficient * max(0, H_old - H)` against decay. With a bonus on entropy, the
/// cost of growth makes a band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntropyBand {
    /// What a nat costs.
    pub coefficient: f64,
    /// Which way costs: `growth`, as TableGPT-R1 prints it, or `decay`.
    #[serde(default)]
    pub against: Against,
}

/// Which way the entropy may not go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The entropy may not grow.
    #[default]
    Growth,
    /// The entropy may not fall.
    Decay,
}

impl EntropyBand {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let fine = self.coefficient.is_finite() && self.coefficient > 0.0;
        Refusal::unless(
            fine,
            "entropy_band.coefficient",
            self.coefficient,
            "above 0; leave the band out for none",
        )
    }

    /// `(l, dl/dH)` of one token.
    pub(super) fn at(&self, entropy: f64, old: f64) -> (f64, f64) {
        let sign = match self.against {
            Against::Growth => 1.0,
            Against::Decay => -1.0,
        };
        let beyond = sign * (entropy - old);
        // A NaN must reach the check of the loss, so it may not hide behind `max`.
        if beyond <= 0.0 { (0.0, 0.0) } else { (self.coefficient * beyond, self.coefficient * sign) }
    }
}

/// Refuses a bonus that is none.
pub(super) fn check_bonus(entropy: f64) -> Result<(), Refusal> {
    let want = "at least 0, where 0 means no bonus";
    Refusal::unless(entropy.is_finite() && entropy >= 0.0, "entropy", entropy, want)
}

/// `(l, dl/dH)` of a bonus and a band together. `old` is read where there is a band.
pub(super) fn held(bonus: f64, band: Option<EntropyBand>, entropy: f64, old: Option<f64>) -> (f64, f64) {
    let (mut loss, mut slope) = (0.0, 0.0);
    if bonus > 0.0 {
        (loss, slope) = (-bonus * entropy, -bonus);
    }
    if let (Some(band), Some(old)) = (band, old) {
        let (cost, push) = band.at(entropy, old);
        (loss, slope) = (loss + cost, slope + push);
    }
    (loss, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(against: Against) -> EntropyBand {
        EntropyBand { coefficient: 0.5, against }
    }

    #[test]
    fn growth_costs_what_it_is_beyond_and_decay_nothing_or_the_other_way_round() {
        // Half a nat above: 0.5 * 0.5, and every further nat costs 0.5.
        assert_eq!(band(Against::Growth).at(2.0, 1.5), (0.25, 0.5));
        assert_eq!(band(Against::Growth).at(1.0, 1.5), (0.0, 0.0));
        assert_eq!(band(Against::Decay).at(1.0, 1.5), (0.25, -0.5));
        assert_eq!(band(Against::Decay).at(2.0, 1.5), (0.0, 0.0));
        assert_eq!(band(Against::Growth).at(1.5, 1.5), (0.0, 0.0));
        assert!(band(Against::Growth).at(f64::NAN, 1.5).0.is_nan());
    }

    #[test]
    fn a_bonus_and_a_cost_of_growth_are_a_band() {
        // Below the old entropy the bonus pulls up by 0.1, above it the cost of 0.5 pushes down by 0.4.
        let held = |entropy| held(0.1, Some(band(Against::Growth)), entropy, Some(1.0)).1;
        assert!((held(0.5) + 0.1).abs() < 1e-12 && (held(1.5) - 0.4).abs() < 1e-12);
    }
}
