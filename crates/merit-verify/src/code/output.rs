//! Whether a program printed what it should.

use super::Compare;

/// Whether the output counts as the wanted one.
pub(super) fn same(compare: Compare, got: &str, want: &str) -> bool {
    match compare {
        Compare::Exact => got == want,
        Compare::Lines => trimmed(got).eq(trimmed(want)),
        Compare::Tokens => got.split_whitespace().eq(want.split_whitespace()),
        Compare::Numbers(tolerance) => {
            let (mut got, mut want) = (got.split_whitespace(), want.split_whitespace());
            loop {
                match (got.next(), want.next()) {
                    (Some(got), Some(want)) if got == want || near(got, want, tolerance) => {}
                    (None, None) => return true,
                    _ => return false,
                }
            }
        }
    }
}

/// Lines without white space at their ends, and without empty ones at the end.
fn trimmed(text: &str) -> impl Iterator<Item = &str> {
    text.trim_end().lines().map(str::trim_end)
}

fn near(got: &str, want: &str, tolerance: f64) -> bool {
    match (got.parse::<f64>(), want.parse::<f64>()) {
        (Ok(got), Ok(want)) if got.is_finite() && want.is_finite() => {
            (got - want).abs() <= tolerance * want.abs().max(1.0)
        }
        (Ok(got), Ok(want)) => got == want || (got.is_nan() && want.is_nan()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(compare: Compare, got: &str, want: &str, expected: bool) {
        assert_eq!(same(compare, got, want), expected, "{compare:?}: {got:?}, {want:?}");
    }

    #[test]
    fn each_way_overlooks_what_it_says_and_no_more() {
        check(Compare::Exact, "1\n", "1", false);
        check(Compare::Lines, "1 \n2\n\n", "1\n2", true);
        check(Compare::Lines, " 1", "1", false);
        check(Compare::Lines, "1\n\n2", "1\n2", false);
        check(Compare::Tokens, " 1\n2", "1 2", true);
        check(Compare::Tokens, "1 2 3", "1 2", false);
        check(Compare::Tokens, "1.0", "1", false);
        check(Compare::Numbers(0.01), "a 1.005 NaN", "a 1 nan", true);
        check(Compare::Numbers(0.01), "1.1", "1", false);
        check(Compare::Numbers(0.01), "1010", "1000", true);
    }

    #[test]
    fn nothing_is_near_infinity() {
        check(Compare::Numbers(0.1), "5", "inf", false);
        check(Compare::Numbers(0.1), "inf", "Infinity", true);
        check(Compare::Numbers(0.1), "inf", "5", false);
    }
}
