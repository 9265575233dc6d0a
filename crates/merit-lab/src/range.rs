//! What is known of a number at one seed, and of its centre over all seeds.
//!
//! An arm that never arrives at a level has no number, but it is known to be later than its budget. Such a seed is a range
//! without an upper end; it is never dropped and never filled in.

use merit_core::Seed;
use merit_core::stats;

/// A number between two ends. A known number has equal ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    pub(crate) fn known(value: f64) -> Self {
        Self { low: value, high: value }
    }

    pub(crate) fn at_least(low: f64) -> Self {
        Self { low, high: f64::INFINITY }
    }

    /// The number, where it is one.
    pub(crate) fn number(self) -> Option<f64> {
        (self.low == self.high && self.low.is_finite()).then_some(self.low)
    }

    pub(crate) fn bounded(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        Self { low: factor * self.low, high: factor * self.high }
    }

    pub(crate) fn less(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }
    }

    /// The quotient of two costs. Two costs of 0 are alike: both arms stood at the level before they learned.
    pub(crate) fn over(self, other: Self) -> Self {
        let quotient = |own: f64, other: f64| match (own, other) {
            (0.0, 0.0) => 1.0,
            (own, 0.0) if own > 0.0 => f64::INFINITY,
            (_, other) if other.is_infinite() => 0.0,
            (own, other) => own / other,
        };
        let high = if self.high.is_infinite() { f64::INFINITY } else { quotient(self.high, other.low) };
        Self { low: quotient(self.low, other.high), high }
    }

    pub(crate) fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp() }
    }

    pub(crate) fn ln(self) -> Self {
        Self { low: self.low.ln(), high: self.high.ln() }
    }
}

/// The centre over seeds with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Centre {
    pub(crate) estimate: f64,
    /// Absent: there are too few seeds.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Centre {
    /// The mean with its interval where every value is finite; otherwise the median with the interval of its order statistics.
    fn of(values: impl Iterator<Item = f64>, level: f64, seed: &Seed) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        if values.iter().all(|value| value.is_finite()) {
            let interval = match values.len() {
                0..=20 => stats::t_interval(&values, level),
                _ => stats::bootstrap_mean_at(&values, level, 4000, seed),
            };
            let interval = interval.map(|interval| (interval.low, interval.high));
            return Some(Self { estimate: stats::mean(&values)?, interval });
        }
        values.sort_by(f64::total_cmp);
        let interval =
            beyond(values.len(), level).map(|outer| (values[outer], values[values.len() - 1 - outer]));
        Some(Self { estimate: median(&values)?, interval })
    }
}

/// The centre with every seed at the low end of its range, and with every seed at the high end. The mean of numbers that are at
/// least so large is at least the mean of these: what the low ends exclude is excluded wherever the numbers lie, and so with the
/// high ends from above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ends {
    low: Centre,
    high: Centre,
}

impl Ends {
    pub(crate) fn of(ranges: &[Range], level: f64, seed: &Seed) -> Option<Self> {
        let low = Centre::of(ranges.iter().map(|range| range.low), level, seed)?;
        let high = Centre::of(ranges.iter().map(|range| range.high), level, seed)?;
        Some(Self { low, high })
    }

    /// Between these lies the estimate.
    pub(crate) fn estimate(&self) -> Range {
        Range { low: self.low.estimate, high: self.high.estimate }
    }

    /// Whether there are seeds enough for the interval at either end.
    pub(crate) fn both_have_one(&self) -> bool {
        self.low.interval.is_some() && self.high.interval.is_some()
    }

    /// Between these lies the interval, without an end where there are too few seeds for it.
    pub(crate) fn interval(&self) -> Range {
        Range {
            low: self.low.interval.map_or(f64::NEG_INFINITY, |interval| interval.0),
            high: self.high.interval.map_or(f64::INFINITY, |interval| interval.1),
        }
    }
}

fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted[sorted.len() / 2 - 1];
    // Two infinite neighbours have no mean; where they are alike it is that.
    Some(if lower == upper { lower } else { f64::midpoint(lower, upper) })
}

/// How many of the lowest and of the highest of `count` values may be left out, so that what remains covers the median with
/// this confidence. None: not even all of them cover it.
fn beyond(count: usize, level: f64) -> Option<usize> {
    let mut term = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let (mut tail, mut found) = (0.0, None);
    for left_out in 0..count.div_ceil(2) {
        tail += term;
        if 2.0 * tail > 1.0 - level {
            break;
        }
        found = Some(left_out);
        term *= (count - left_out) as f64 / (left_out + 1) as f64;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn between(low: f64, high: f64) -> Range {
        Range { low, high }
    }

    #[test]
    fn a_quotient_lies_between_its_ends() {
        let (four, late) = (Range::known(4.0), Range::at_least(4.0));
        assert_eq!(Range::known(2.0).over(four), Range::known(0.5));
        assert_eq!(Range::known(2.0).over(late), between(0.0, 0.5));
        assert_eq!(late.over(Range::known(2.0)), between(2.0, INF));
        assert_eq!(late.over(late), between(0.0, INF));
        assert_eq!(Range::known(0.0).over(Range::known(0.0)), Range::known(1.0));
        assert_eq!(Range::known(0.0).over(four), Range::known(0.0));
        assert_eq!(four.over(Range::known(0.0)).number(), None);
    }

    #[test]
    fn a_difference_lies_between_its_ends() {
        assert_eq!(Range::known(2.0).less(Range::at_least(4.0)), between(-INF, -2.0));
        assert_eq!(Range::at_least(4.0).less(Range::known(1.0).times(2.0)), between(2.0, INF));
    }

    #[test]
    fn what_remains_covers_the_median() {
        let by = [(6, None), (7, Some(0)), (9, Some(0)), (10, Some(1)), (20, Some(4))];
        for (count, outer) in by {
            assert_eq!(beyond(count, 0.975), outer, "of {count}");
        }
    }

    #[test]
    fn an_end_that_is_known_in_every_seed_is_a_mean_and_the_other_a_median() {
        let seed = Seed::root(0);
        let mut seeds = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0].map(Range::known).to_vec();
        seeds.push(Range::at_least(2.5));
        let ends = Ends::of(&seeds, 0.975, &seed).unwrap();
        assert_eq!(ends.estimate(), between(4.75, 5.5));
        assert_eq!(ends.interval().high, 9.0, "the second highest");
        let few = Ends::of(&seeds[4..], 0.975, &seed).unwrap();
        assert_eq!(few.interval().high, INF, "six seeds are too few");
        assert!(few.interval().low.is_finite());
    }
}
