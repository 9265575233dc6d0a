//! One gate for whatever is admitted: a change of a library, a memory, a reward model. It is kept by what it does to the same
//! items before and after, never by how good it looks alone.
//!
//! In: one number per item without and with the change, in the same order. Out: whether it is kept, the mean difference and its
//! interval. Pure.

use crate::stats::{Interval, mean, t_interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a change is kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GateRule {
    /// It is always kept: the control.
    Always,
    /// The mean does not fall by more than `margin`.
    Margin {
        /// How far the mean may fall, e.g. 0.075.
        margin: f64,
    },
    /// The low end of the 95 % interval of the paired differences is above `-margin`.
    Interval {
        /// How far the mean may fall.
        margin: f64,
    },
    /// The mean over one fold of the items does not fall by more than `margin`. The fold changes from change to change, so that
    /// the same items do not decide everything.
    Rotating {
        /// How many folds; item `i` is in fold `i % folds`.
        folds: usize,
        /// How far below 0 the low end may lie.
        margin: f64,
    },
}

/// The decision of a gate and the numbers behind it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gated {
    /// Whether the change is kept.
    pub keep: bool,
    /// Mean of (after − before) over the items that decided.
    pub difference: f64,
    /// 95 % of that mean; absent below two items.
    pub interval: Option<Interval>,
    /// How many items decided.
    pub items: usize,
}

/// Why a gate cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum GateError {
    /// The two sides are not about the same items.
    #[error(
        "{before} items before the change and {after} after it; both must be the same items in the same order"
    )]
    Unpaired { before: usize, after: usize },
    /// There is nothing to decide by.
    #[error("no item is left to decide by")]
    Empty,
}

/// Whether a change is kept. `turn` counts the changes that were tried, and chooses the fold of [`GateRule::Rotating`].
///
/// ```
/// use merit_core::gate::{GateRule, gate};
/// let gated = gate(&[0.0, 1.0], &[1.0, 1.0], &GateRule::Margin { margin: 0.0 }, 0).expect("paired");
/// assert!(gated.keep && gated.difference == 0.5);
/// ```
pub fn gate(before: &[f64], after: &[f64], rule: &GateRule, turn: usize) -> Result<Gated, GateError> {
    if before.len() != after.len() {
        return Err(GateError::Unpaired { before: before.len(), after: after.len() });
    }
    let folds = match rule {
        GateRule::Rotating { folds, .. } => (*folds).clamp(1, before.len().max(1)),
        _ => 1,
    };
    let paired = before.iter().zip(after).skip(turn % folds).step_by(folds);
    let differences: Vec<f64> = paired.map(|(before, after)| after - before).collect();
    let difference = mean(&differences).ok_or(GateError::Empty)?;
    let interval = t_interval(&differences, 0.95);
    let keep = match rule {
        GateRule::Always => true,
        GateRule::Margin { margin } | GateRule::Rotating { margin, .. } => difference >= -margin - 1e-12,
        GateRule::Interval { margin } => interval.is_some_and(|interval| interval.low > -margin),
    };
    Ok(Gated { keep, difference, interval, items: differences.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_allows_three_of_forty_and_not_four() {
        // 3 / 40 = 0.075
        let lost = |n: usize| (0..40).map(|i| f64::from(u8::from(i >= n))).collect::<Vec<_>>();
        let rule = GateRule::Margin { margin: 0.075 };
        assert!(gate(&lost(0), &lost(3), &rule, 0).unwrap().keep);
        assert!(!gate(&lost(0), &lost(4), &rule, 0).unwrap().keep);
        assert!(gate(&lost(0), &lost(40), &GateRule::Always, 0).unwrap().keep);
    }

    #[test]
    fn an_interval_asks_for_more_than_luck() {
        // Two of eight better and one worse: mean 0.125, sd 0.641, half width 2.365 · 0.641 / √8 = 0.536.
        let before = [0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        let after = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        let gated = gate(&before, &after, &GateRule::Interval { margin: 0.0 }, 0).unwrap();
        assert!(!gated.keep && gated.difference == 0.125);
        assert!((gated.interval.unwrap().low + 0.411).abs() < 1e-3, "{gated:?}");
    }

    #[test]
    fn folds_take_turns() {
        let rule = GateRule::Rotating { folds: 2, margin: 0.0 };
        let (before, after) = ([0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 1.0, -1.0]);
        let said = |turn| gate(&before, &after, &rule, turn).unwrap();
        assert_eq!((said(0).keep, said(1).keep, said(2).keep, said(0).items), (true, false, true, 2));
    }

    #[test]
    fn what_is_not_paired_is_refused() {
        let rule = GateRule::Margin { margin: 0.0 };
        assert_eq!(gate(&[1.0], &[], &rule, 0), Err(GateError::Unpaired { before: 1, after: 0 }));
        assert_eq!(gate(&[], &[], &rule, 0), Err(GateError::Empty));
    }
}
