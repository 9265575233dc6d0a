//! The loss of the value head: half the squared error, with the clip of PPO where a recipe asks for it.
//!
//!   `l = (v - R)^2 / 2`, or `max((v - R)^2, (clip(v, v_old - c, v_old + c) - R)^2) / 2`.

use merit_core::registry::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value loss beside the policy's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueLoss {
    /// How much it counts.
    pub coefficient: f64,
    /// How far the value may move from where it was when the token was chosen. Absent: as far as it likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
}

impl ValueLoss {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let c = self.coefficient;
        let want = "positive (leave `value` out to have no value loss)";
        Refusal::unless(c.is_finite() && c > 0.0, "value.coefficient", c, want)?;
        let clip = self.clip.unwrap_or(1.0);
        let want = "positive (leave it out to have no clip)";
        Refusal::unless(clip.is_finite() && clip > 0.0, "value.clip", clip, want)
    }

    /// `(l, dl/dvalue)` before the coefficient. `old_value` is what the clip is taken from.
    pub(super) fn at(&self, value: f64, old_value: Option<f64>, target: f64) -> (f64, f64) {
        let error = value - target;
        let free = 0.5 * error * error;
        let (Some(clip), Some(old_value)) = (self.clip, old_value) else { return (free, error) };
        let held = value.clamp(old_value - clip, old_value + clip) - target;
        let held = 0.5 * held * held;
        if held > free { (held, 0.0) } else { (free, error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old value 0, target 2.
    fn check(clip: Option<f64>, value: f64, want: (f64, f64)) {
        assert_eq!(ValueLoss { coefficient: 1.0, clip }.at(value, Some(0.0), 2.0), want);
    }

    #[test]
    fn the_value_is_pulled_to_its_target() {
        check(None, 1.0, (0.5, -1.0));
        check(None, 3.0, (0.5, 1.0));
    }

    #[test]
    fn a_clipped_value_that_went_far_enough_towards_its_target_rests() {
        // Held at 0.5: (0.5 - 2)^2 / 2.
        check(Some(0.5), 1.0, (1.125, 0.0));
    }

    #[test]
    fn a_clipped_value_that_went_the_wrong_way_is_still_pulled_back() {
        check(Some(0.5), -1.0, (4.5, -3.0));
    }

    #[test]
    fn a_value_within_the_clip_is_free() {
        check(Some(0.5), 0.25, (0.5 * 1.75 * 1.75, -1.75));
    }
}
