//! The clipped surrogate (Schulman et al., arXiv:1707.06347), with a limit of its own on each side.
//!
//! With `rho = exp(logprob - old_logprob)`:
//!   `l = -min(rho A, clip(rho, 1 - low, 1 + high) A)`, `dl/dlogprob = -rho A` where the first is the smaller, else 0.
//!
//! A dual clip (Ye et al., arXiv:1912.09729) ends the loss of a bad token at `c |A|`, however far the ratio has run away.

/// `(l, dl/dlogprob, clipped)`.
pub(super) fn surrogate(
    logprob: f64,
    old_logprob: f64,
    advantage: f64,
    low: f64,
    high: f64,
) -> (f64, f64, bool) {
    let ratio = (logprob - old_logprob).exp();
    let free = ratio * advantage;
    let clipped = ratio.clamp(1.0 - low, 1.0 + high) * advantage;
    // A NaN must reach the check of the loss, so it may not hide behind `min`.
    if clipped < free { (-clipped, 0.0, true) } else { (-free, -free, false) }
}

/// The same with a dual clip at `most`, which is above 1. Absent: none.
pub(super) fn dual(
    (loss, slope, clipped): (f64, f64, bool),
    advantage: f64,
    most: Option<f64>,
) -> (f64, f64, bool) {
    match most {
        Some(most) if advantage < 0.0 && loss > -most * advantage => (-most * advantage, 0.0, true),
        _ => (loss, slope, clipped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dual_clip_ends_the_loss_of_a_bad_token_whose_ratio_ran_away() {
        let at = |ratio: f64, advantage: f64| {
            dual(surrogate(ratio.ln() - 1.0, -1.0, advantage, 0.2, 0.3), advantage, Some(3.0))
        };
        // Ratio 5 at advantage -2: 10 without, 3 * 2 with the dual clip, and no gradient.
        assert_eq!(at(5.0, -2.0), (6.0, 0.0, true));
        // Ratio 2 stays below it, and a good token knows none.
        assert!((at(2.0, -2.0).0 - 4.0).abs() < 1e-12 && !at(2.0, -2.0).2);
        assert_eq!(at(5.0, 2.0), (-2.6, 0.0, true));
        assert!(dual((f64::NAN, f64::NAN, false), -1.0, Some(3.0)).0.is_nan());
    }

    /// Limits 0.2 below and 0.3 above; `want` is `(l, dl/dlogprob, clipped)`.
    fn check(ratio: f64, advantage: f64, want: (f64, f64, bool)) {
        let got = surrogate(ratio.ln() - 1.0, -1.0, advantage, 0.2, 0.3);
        assert!((got.0 - want.0).abs() < 1e-12 && (got.1 - want.1).abs() < 1e-12, "{got:?}, not {want:?}");
        assert_eq!(got.2, want.2, "ratio {ratio}, advantage {advantage}");
    }

    #[test]
    fn between_the_limits_the_gradient_is_the_policy_gradient() {
        check(1.0, 2.0, (-2.0, -2.0, false));
        check(1.1, -2.0, (2.2, 2.2, false));
    }

    #[test]
    fn a_good_token_is_not_pushed_above_the_upper_limit() {
        check(1.5, 2.0, (-2.6, 0.0, true));
    }

    #[test]
    fn a_good_token_far_below_is_still_pulled_up() {
        check(0.5, 2.0, (-1.0, -1.0, false));
    }

    #[test]
    fn a_bad_token_is_not_pushed_below_the_lower_limit() {
        check(0.5, -2.0, (1.6, 0.0, true));
    }

    #[test]
    fn a_bad_token_far_above_is_still_pushed_down() {
        check(1.5, -2.0, (3.0, 3.0, false));
    }

    #[test]
    fn a_token_without_credit_has_no_gradient_and_is_not_called_clipped() {
        check(1.5, 0.0, (0.0, 0.0, false));
        check(0.5, 0.0, (0.0, 0.0, false));
    }

    #[test]
    fn an_undefined_ratio_is_not_hidden() {
        assert!(surrogate(f64::NAN, -1.0, 1.0, 0.2, 0.2).0.is_nan());
    }
}
