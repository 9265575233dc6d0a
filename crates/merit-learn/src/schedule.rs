//! How the learning rate changes over steps. Pure in the step, so a resumed run goes on with the same rates.

use crate::LearnError;
use crate::config::require;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The schedules by name. All rise in a straight line over `warmup` steps first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// The full learning rate at every step.
    Constant {
        /// Steps until the full rate is reached.
        #[serde(default)]
        warmup: u64,
    },
    /// Half a cosine from the full rate down to `floor` of it at the last step.
    Cosine {
        /// Steps until the full rate is reached.
        #[serde(default)]
        warmup: u64,
        /// What is left at the end, as a fraction of the full rate.
        #[serde(default)]
        floor: f64,
    },
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Constant { warmup: 0 }
    }
}

impl Schedule {
    pub(crate) fn validate(&self) -> Result<(), LearnError> {
        match *self {
            Self::Constant { .. } => Ok(()),
            Self::Cosine { floor, .. } => require((0.0..=1.0).contains(&floor), "schedule.floor", || {
                format!("is {floor}; it is a fraction of the full rate, from 0 to 1")
            }),
        }
    }

    /// What the learning rate is multiplied with at `step` (from 0) of `total`.
    ///
    /// ```
    /// use merit_learn::Schedule;
    /// let schedule = Schedule::Constant { warmup: 4 };
    /// assert_eq!(schedule.factor(0, 10), 0.25);
    /// assert_eq!(schedule.factor(3, 10), 1.0);
    /// ```
    pub fn factor(&self, step: u64, total: u64) -> f64 {
        self.factor_at(step, total, 0.0)
    }

    /// The same where the share `spent` of a budget in another unit is gone: what is ahead decides. Warm-up goes by steps alone.
    pub fn factor_at(&self, step: u64, total: u64, spent: f64) -> f64 {
        let (Self::Constant { warmup } | Self::Cosine { warmup, .. }) = *self;
        if step < warmup {
            return (step + 1) as f64 / warmup as f64;
        }
        match *self {
            Self::Constant { .. } => 1.0,
            Self::Cosine { floor, .. } => {
                let span = total.saturating_sub(warmup + 1).max(1);
                let progress = ((step - warmup) as f64 / span as f64).max(spent).min(1.0);
                floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schedule: Schedule, total: u64, want: &[f64]) {
        for (step, &want) in want.iter().enumerate() {
            let got = schedule.factor(step as u64, total);
            assert!((got - want).abs() < 1e-12, "step {step}: {got}, not {want}");
        }
    }

    #[test]
    fn a_constant_rate_stays() {
        check(Schedule::default(), 3, &[1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn warmup_rises_in_a_straight_line() {
        check(Schedule::Constant { warmup: 2 }, 4, &[0.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_cosine_ends_at_its_floor_and_stays_there() {
        // Five steps after one of warmup: cos(0), cos(pi/3), cos(2pi/3), cos(pi) between steps 1 and 4.
        let cosine = Schedule::Cosine { warmup: 1, floor: 0.2 };
        check(cosine, 5, &[1.0, 1.0, 0.2 + 0.8 * 0.75, 0.2 + 0.8 * 0.25, 0.2, 0.2]);
    }

    #[test]
    fn what_is_ahead_decides_steps_or_the_share_that_is_spent() {
        let cosine = Schedule::Cosine { warmup: 1, floor: 0.0 };
        assert!((cosine.factor_at(1, 1000, 0.5) - 0.5).abs() < 1e-12);
        assert_eq!(cosine.factor_at(500, 1000, 0.1), cosine.factor(500, 1000));
        assert_eq!(cosine.factor_at(0, 1000, 0.9), 1.0, "warm-up is not skipped");
    }

    #[test]
    fn a_cosine_shorter_than_its_warmup_is_no_division_by_zero() {
        let cosine = Schedule::Cosine { warmup: 8, floor: 0.0 };
        assert_eq!(cosine.factor(2, 3), 0.375);
        assert_eq!(cosine.factor(8, 3), 1.0);
    }
}
