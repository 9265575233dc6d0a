//! Small statistics with honest intervals. Pure; randomness comes in as a seed.

use crate::Seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two-sided 95 % of a normal distribution.
const Z_95: f64 = 1.959_963_984_540_054;

/// An interval that should hold the true value in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A difference between two conditions on the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// Mean over tasks of (after − before).
    pub mean: f64,
    /// Bootstrap over tasks.
    pub interval: Interval,
    /// Tasks seen in both conditions.
    pub tasks: usize,
}

/// Mean and spread of a few runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// How many values there are.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    pub sd: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// The mean. Absent for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation (divides by n − 1). Absent for fewer than two values.
pub fn sd(values: &[f64]) -> Option<f64> {
    let middle = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|v| (v - middle).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Pearson's correlation of pairs. Absent where either side does not vary, or there are fewer than two.
///
/// ```
/// assert_eq!(merit_core::stats::correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), Some(-1.0));
/// ```
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let constant = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
    let (middle_a, middle_b) = (mean(a)?, mean(b)?);
    if constant(a) || constant(b) {
        return None;
    }
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - middle_a, y - middle_b);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    Some((ab / (aa * bb).sqrt()).clamp(-1.0, 1.0))
}

/// Spearman's rank correlation of pairs: Pearson's of the ranks, where equal values share the mean of theirs. Absent where either side
/// does not vary, or there are fewer than two.
///
/// ```
/// assert_eq!(merit_core::stats::rank_correlation(&[1.0, 2.0, 3.0], &[1.0, 2.0, 400.0]), Some(1.0));
/// ```
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    correlation(&ranks(a), &ranks(b))
}

/// The rank of each value from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut before) = (vec![0.0; values.len()], 0);
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        // The mean of before + 1, …, before + count.
        tied.iter().for_each(|at| ranks[*at] = before as f64 + (tied.len() + 1) as f64 / 2.0);
        before += tied.len();
    }
    ranks
}

/// The `q`-quantile with linear interpolation between order statistics. Absent for no values.
///
/// ```
/// assert_eq!(merit_core::stats::quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Some(2.5));
/// ```
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - place.floor()))
}

/// Wilson's score interval for a proportion (Wilson 1927), which stays inside 0 to 1 and is honest at 0 and at n:
///   centre = (p + z²/2n) / (1 + z²/n),  half = z √(p(1−p)/n + z²/4n²) / (1 + z²/n)
/// Absent for no trials.
pub fn wilson(successes: u64, trials: u64) -> Option<Interval> {
    if trials == 0 {
        return None;
    }
    let (n, z2) = (trials as f64, Z_95 * Z_95);
    let p = successes.min(trials) as f64 / n;
    let shrink = 1.0 + z2 / n;
    let centre = (p + z2 / (2.0 * n)) / shrink;
    let half = Z_95 * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / shrink;
    // At 0 and n the ends are exactly 0 and 1; the formula misses them by rounding.
    let low = if successes == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if successes >= trials { 1.0 } else { (centre + half).min(1.0) };
    Some(Interval { low, high })
}

/// Percentile bootstrap of the mean with `resamples` draws. Absent for no values.
pub fn bootstrap_mean(values: &[f64], resamples: u32, seed: &Seed) -> Option<Interval> {
    bootstrap_mean_at(values, 0.95, resamples, seed)
}

/// The same at another confidence level.
pub fn bootstrap_mean_at(values: &[f64], level: f64, resamples: u32, seed: &Seed) -> Option<Interval> {
    if values.is_empty() || resamples == 0 {
        return None;
    }
    let mut stream = seed.stream();
    let n = values.len() as u64;
    let means: Vec<f64> = (0..resamples)
        .map(|_| (0..n).map(|_| values[stream.below(n) as usize]).sum::<f64>() / n as f64)
        .collect();
    let tail = (1.0 - level) / 2.0;
    Some(Interval { low: quantile(&means, tail)?, high: quantile(&means, 1.0 - tail)? })
}

/// The interval of a mean of shares between 0 and 1, one for each task: a bootstrap over tasks. Where all are 0 or all are 1 a bootstrap
/// sees no spread at all, and Wilson's interval is taken. Absent for no values.
pub fn mean_share_interval(values: &[f64], resamples: u32, seed: &Seed) -> Option<Interval> {
    let count = values.len() as u64;
    match values.first() {
        Some(&first) if (first == 0.0 || first == 1.0) && values.iter().all(|value| *value == first) => {
            wilson(if first == 0.0 { 0 } else { count }, count)
        }
        _ => bootstrap_mean(values, resamples, seed),
    }
}

/// The interval of a mean of differences between -1 and 1, one for each task: a bootstrap over tasks. Where all are alike, what a task
/// that was not seen could still do is taken from Wilson's interval for none of so many. Absent for no values.
pub fn mean_difference_interval(values: &[f64], resamples: u32, seed: &Seed) -> Option<Interval> {
    let first = *values.first()?;
    if values.iter().any(|value| *value != first) {
        return bootstrap_mean(values, resamples, seed);
    }
    let unseen = wilson(0, values.len() as u64)?.high;
    Some(Interval { low: (first - unseen).max(-1.0), high: (first + unseen).min(1.0) })
}

/// Student's t interval of the mean at a confidence `level`, e.g. 0.975. Absent below two values.
pub fn t_interval(values: &[f64], level: f64) -> Option<Interval> {
    let (mean, sd) = (mean(values)?, sd(values)?);
    let half = t_quantile(values.len() as f64 - 1.0, level) * sd / (values.len() as f64).sqrt();
    Some(Interval { low: mean - half, high: mean + half })
}

/// The t that a share `level` of Student's distribution lies within, on both sides of 0 together.
fn t_quantile(freedom: f64, level: f64) -> f64 {
    // With x = sqrt(freedom) · tan(angle) the density is proportional to cos(angle)^(freedom - 1).
    let inside = |angle: f64| {
        const STEPS: u32 = 512;
        let width = angle / f64::from(STEPS);
        let height = |n: u32| (width * f64::from(n)).cos().max(0.0).powf(freedom - 1.0);
        let middle = (1..STEPS).map(|n| height(n) * if n % 2 == 1 { 4.0 } else { 2.0 });
        (height(0) + middle.sum::<f64>() + height(STEPS)) * width / 3.0
    };
    let whole = inside(std::f64::consts::FRAC_PI_2);
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let angle = (low + high) / 2.0;
        if inside(angle) < level * whole { low = angle } else { high = angle }
    }
    freedom.sqrt() * low.tan()
}

/// The paired difference of two conditions, clustered by task: attempts at one task are averaged first, tasks are drawn.
/// Absent when no task is in both.
pub fn paired_difference(
    before: &[(String, f64)],
    after: &[(String, f64)],
    resamples: u32,
    seed: &Seed,
) -> Option<Difference> {
    let (before, after) = (by_task(before), by_task(after));
    let differences: Vec<f64> =
        after.iter().filter_map(|(task, value)| Some(value - before.get(task)?)).collect();
    let interval = mean_difference_interval(&differences, resamples, seed)?;
    Some(Difference { mean: mean(&differences)?, interval, tasks: differences.len() })
}

/// The area under the ROC curve: the chance that a hit has a higher score than a miss, a tie counting a half. Absent without hits or
/// without misses.
pub fn auroc(pairs: &[(f64, bool)]) -> Option<f64> {
    let mut sorted = pairs.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let hits = |pairs: &[(f64, bool)]| pairs.iter().filter(|(_, hit)| *hit).count() as f64;
    let (all_hits, all) = (hits(&sorted), sorted.len() as f64);
    if all_hits == 0.0 || all_hits == all {
        return None;
    }
    let (mut above, mut wins) = (0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let hits = hits(tied);
        wins += (tied.len() as f64 - hits) * (above + 0.5 * hits);
        above += hits;
    }
    Some(wins / (all_hits * (all - all_hits)))
}

/// Mean and spread. Absent for no values.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let (min, max) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
    Some(Spread { count: values.len(), mean: mean(values)?, sd: sd(values).unwrap_or(0.0), min, max })
}

fn by_task(values: &[(String, f64)]) -> BTreeMap<&str, f64> {
    let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    values.iter().for_each(|(task, value)| tasks.entry(task).or_default().push(*value));
    tasks.into_iter().filter_map(|(task, values)| Some((task, mean(&values)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() < 5e-5, "{got} is not {want}");
    }

    #[test]
    fn mean_and_spread_of_four_numbers() {
        // (2 + 4 + 4 + 6) / 4 = 4; squares 4 + 0 + 0 + 4 = 8; sqrt(8 / 3) = 1.63299
        let values = [2.0, 4.0, 4.0, 6.0];
        assert_eq!(mean(&values), Some(4.0));
        close(sd(&values).unwrap(), 1.63299);
        let spread = spread(&values).unwrap();
        assert_eq!((spread.count, spread.min, spread.max), (4, 2.0, 6.0));
    }

    #[test]
    fn t_quantiles_are_those_of_the_tables() {
        for (freedom, level, want) in
            [(4.0, 0.95, 2.776_45), (4.0, 0.975, 3.495_41), (1.0, 0.95, 12.706_2), (30.0, 0.99, 2.750_0)]
        {
            let got = t_quantile(freedom, level);
            assert!((got - want).abs() < 2e-4 * want, "{freedom} {level}: {got} is not {want}");
        }
    }

    #[test]
    fn nothing_has_no_statistics() {
        assert_eq!(mean(&[]), None);
        assert_eq!(sd(&[1.0]), None);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(wilson(0, 0), None);
        assert_eq!(spread(&[]), None);
        assert_eq!(bootstrap_mean(&[], 10, &Seed::root(1)), None);
    }

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        // places 0.25 * 4 = 1 and 0.9 * 4 = 3.6
        let values = [50.0, 10.0, 30.0, 20.0, 40.0];
        assert_eq!(quantile(&values, 0.25), Some(20.0));
        close(quantile(&values, 0.9).unwrap(), 46.0);
        assert_eq!(quantile(&values, 0.0), Some(10.0));
        assert_eq!(quantile(&values, 1.0), Some(50.0));
    }

    #[test]
    fn wilson_of_eight_in_ten() {
        // z² = 3.84146; centre (0.8 + 0.192073) / 1.384146 = 0.716740; half 1.959964 √(0.016 + 0.00960365) / 1.384146 = 0.226577
        let interval = wilson(8, 10).unwrap();
        close(interval.low, 0.49016);
        close(interval.high, 0.94332);
    }

    #[test]
    fn wilson_at_the_ends_is_not_a_point() {
        // 0 of 10: high = (z²/n) / (1 + z²/n) = 0.384146 / 1.384146 = 0.27753
        let none = wilson(0, 10).unwrap();
        assert_eq!(none.low, 0.0);
        close(none.high, 0.27753);
        let all = wilson(10, 10).unwrap();
        assert_eq!(all.high, 1.0);
        close(all.low, 0.72247);
    }

    #[test]
    fn tasks_that_are_all_alike_do_not_make_an_interval_of_no_width() {
        let seed = Seed::root(1);
        assert_eq!(mean_share_interval(&[0.0; 10], 500, &seed), wilson(0, 10));
        assert_eq!(mean_share_interval(&[1.0; 10], 500, &seed), wilson(10, 10));
        // Beside 0: 0 of 10 has a high end of 0.27753.
        let none = mean_difference_interval(&[0.0; 10], 500, &seed).unwrap();
        close(none.low, -0.27753);
        close(none.high, 0.27753);
        let all = mean_difference_interval(&[1.0; 10], 500, &seed).unwrap();
        close(all.low, 0.72247);
        assert_eq!(all.high, 1.0);
    }

    #[test]
    fn a_bootstrap_is_repeatable_and_covers_the_mean() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let interval = bootstrap_mean(&values, 2000, &Seed::root(3)).unwrap();
        assert_eq!(bootstrap_mean(&values, 2000, &Seed::root(3)), Some(interval));
        // mean 49.5, standard error 29.01 / 10 = 2.90, so about 43.8 to 55.2
        assert!((interval.low - 43.8).abs() < 0.8 && (interval.high - 55.2).abs() < 0.8, "{interval:?}");
    }

    #[test]
    fn a_paired_difference_weighs_tasks_and_not_attempts() {
        let at = |task: &str, value: f64| (task.to_owned(), value);
        // task a: 1 − (0+0+0)/3 = 1; task b: 0 − 1 = −1; c is only in one; mean 0
        let before = [at("a", 0.0), at("a", 0.0), at("a", 0.0), at("b", 1.0), at("c", 1.0)];
        let after = [at("a", 1.0), at("b", 0.0)];
        let difference = paired_difference(&before, &after, 500, &Seed::root(1)).unwrap();
        assert_eq!((difference.mean, difference.tasks), (0.0, 2));
        assert_eq!(difference.interval, Interval { low: -1.0, high: 1.0 });
        assert_eq!(paired_difference(&before, &[at("z", 1.0)], 500, &Seed::root(1)), None);
    }
}
