//! How far judges agree: Krippendorff's alpha of any number of them, Cohen's kappa of two, and rank correlations of two.
//!
//! In: what was said, as numbers. Out: one number, or nothing where nothing could disagree. Pure.

use merit_core::stats::{mean, rank_correlation};
use std::collections::BTreeMap;

/// How far apart two values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// 0 where they are equal, else 1.
    Nominal,
    /// The square of their difference.
    Interval,
}

/// Krippendorff's alpha (Krippendorff, Content Analysis, 1980): `1 - observed / expected` disagreement. 1 is full agreement, 0 is chance.
///
/// One list for each question, with a value of each judge where there is one. Absent: fewer than two values of some question, or all
/// values are alike, so that nothing could disagree.
pub fn alpha(questions: &[Vec<Option<f64>>], metric: Metric) -> Option<f64> {
    let said = questions.iter().map(|said| said.iter().flatten().copied().collect::<Vec<f64>>());
    let paired: Vec<Vec<f64>> = said.filter(|values| values.len() > 1).collect();
    let all: Vec<f64> = paired.iter().flatten().copied().collect();
    let n = all.len() as f64;
    let expected = apart(&all, metric) / (n - 1.0);
    let observed: f64 = paired.iter().map(|values| apart(values, metric) / (values.len() - 1) as f64).sum();
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// Cohen's kappa of two who said something of the same things: `1 - observed / expected` disagreement, where the expected one is that of
/// two who say as often what they say, but independently. `Nominal` is Cohen's first (1960), `Interval` the one with quadratic weights
/// (1968), which counts how far two grades are apart. Absent: both always say the same one thing, or nothing.
pub fn kappa(said: &[(f64, f64)], metric: Metric) -> Option<f64> {
    if said.is_empty() {
        return None;
    }
    let n = said.len() as f64;
    let (one, other): (Vec<f64>, Vec<f64>) = said.iter().copied().unzip();
    let share = |values: &[f64], of: f64| values.iter().filter(|value| **value == of).count() as f64 / n;
    let (observed, expected) = match metric {
        Metric::Nominal => {
            let differ = said.iter().filter(|(one, other)| one != other).count() as f64 / n;
            let kinds: BTreeMap<u64, f64> = one.iter().map(|value| (value.to_bits(), *value)).collect();
            (differ, 1.0 - kinds.values().map(|kind| share(&one, *kind) * share(&other, *kind)).sum::<f64>())
        }
        Metric::Interval => {
            let (mine, theirs) = (mean(&one)?, mean(&other)?);
            let spread =
                |values: &[f64], middle: f64| values.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / n;
            let observed = said.iter().map(|(one, other)| (one - other).powi(2)).sum::<f64>() / n;
            (observed, spread(&one, mine) + spread(&other, theirs) + (mine - theirs).powi(2))
        }
    };
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// Spearman's rank correlation. Absent: one side is all alike.
pub fn spearman(said: &[(f64, f64)]) -> Option<f64> {
    let (one, other): (Vec<f64>, Vec<f64>) = said.iter().copied().unzip();
    rank_correlation(&one, &other)
}

/// Kendall's tau-b (1945): of all pairs of things, those that both put in the same order less those they do not, over
/// `sqrt((pairs - ties of one) (pairs - ties of the other))`. Absent: one side is all alike.
pub fn kendall(said: &[(f64, f64)]) -> Option<f64> {
    let (one, other): (Vec<f64>, Vec<f64>) = said.iter().copied().unzip();
    let pairs = |n: usize| n as f64 * (n as f64 - 1.0) / 2.0;
    let tied = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.chunk_by(|a, b| a == b).map(|same| pairs(same.len())).sum::<f64>()
    };
    let mut heights = other.clone();
    heights.sort_by(f64::total_cmp);
    heights.dedup();
    let height = |value: f64| heights.partition_point(|known| *known < value);
    let mut order: Vec<usize> = (0..said.len()).collect();
    order.sort_by(|a, b| one[*a].total_cmp(&one[*b]));
    // How many of those before have at most this height: sums over a binary tree (Fenwick).
    let mut tree = vec![0_u64; heights.len() + 1];
    let upto = |tree: &[u64], mut at: usize| {
        let mut sum = 0;
        while at > 0 {
            sum += tree[at];
            at &= at - 1;
        }
        sum as f64
    };
    let (mut seen, mut net) = (0.0, 0.0);
    for same in order.chunk_by(|a, b| one[*a] == one[*b]) {
        for at in same {
            let height = height(other[*at]);
            net += upto(&tree, height) - (seen - upto(&tree, height + 1));
        }
        for at in same {
            let mut node = height(other[*at]) + 1;
            while node < tree.len() {
                tree[node] += 1;
                node += node & node.wrapping_neg();
            }
            seen += 1.0;
        }
    }
    let all = pairs(said.len());
    let whole = (all - tied(&one)) * (all - tied(&other));
    (whole > 0.0).then(|| net / whole.sqrt())
}

/// The sum over all ordered pairs of how far they are apart.
fn apart(values: &[f64], metric: Metric) -> f64 {
    let n = values.len() as f64;
    match metric {
        Metric::Nominal => {
            let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
            values.iter().for_each(|value| *counts.entry(value.to_bits()).or_default() += 1.0);
            n * n - counts.values().map(|count| count * count).sum::<f64>()
        }
        Metric::Interval => {
            // Around the mean, so that large values do not cancel.
            let mean = values.iter().sum::<f64>() / n.max(1.0);
            2.0 * n * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(judges: &[&[f64]]) -> Vec<Vec<Option<f64>>> {
        (0..judges[0].len()).map(|at| judges.iter().map(|judge| Some(judge[at])).collect()).collect()
    }

    #[test]
    fn two_judges_of_ten_questions() {
        // Krippendorff's own example. 14 zeros and 6 ones; 4 questions differ, 8 ordered pairs.
        // observed 8, expected 2 * 14 * 6 / 19 = 8.8421, alpha 1 - 8 / 8.8421 = 0.0952.
        let one = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let two = [1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let got = alpha(&of(&[&one, &two]), Metric::Nominal).unwrap();
        assert!((got - (1.0 - 8.0 * 19.0 / 168.0)).abs() < 1e-12, "{got}");
        // Of zeros and ones the square of the difference says the same.
        assert!((alpha(&of(&[&one, &two]), Metric::Interval).unwrap() - got).abs() < 1e-9);
    }

    #[test]
    fn numbers_that_are_close_agree_more_than_those_that_are_far() {
        // Values 0, 1 and 4, 4: within 2 * 1, over all pairs of (0, 1, 4, 4): 2 * (1 + 16 + 16 + 9 + 9 + 0) = 102, / 3 = 34.
        let got = alpha(&of(&[&[0.0, 4.0], &[1.0, 4.0]]), Metric::Interval).unwrap();
        assert!((got - (1.0 - 2.0 / 34.0)).abs() < 1e-12, "{got}");
    }

    #[test]
    fn two_who_choose_agree_beyond_chance() {
        // Cohen's table of 50: both yes 20, yes and no 5, no and yes 10, both no 15.
        let table = [((1.0, 1.0), 20), ((1.0, 0.0), 5), ((0.0, 1.0), 10), ((0.0, 0.0), 15)];
        let said: Vec<(f64, f64)> = table.into_iter().flat_map(|(pair, count)| vec![pair; count]).collect();
        // Agreement 35/50 = 0.7; by chance 25/50 · 30/50 + 25/50 · 20/50 = 0.5; kappa (0.7 - 0.5) / (1 - 0.5) = 0.4.
        assert!((kappa(&said, Metric::Nominal).unwrap() - 0.4).abs() < 1e-12);
        // Of two values the squares say the same.
        assert!((kappa(&said, Metric::Interval).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(kappa(&[(1.0, 1.0), (1.0, 1.0)], Metric::Nominal), None);
        assert_eq!((kappa(&[], Metric::Interval), kappa(&[], Metric::Nominal)), (None, None));
    }

    #[test]
    fn grades_that_are_near_agree_more_than_those_that_are_far() {
        // Grades (1, 2), (2, 2), (3, 1): squares 1 + 0 + 4, their mean 5/3. Means 2 and 5/3, spreads 2/3 and 2/9, their distance
        // squared 1/9: expected 1. Kappa 1 - 5/3 = -2/3.
        let said = [(1.0, 2.0), (2.0, 2.0), (3.0, 1.0)];
        assert!((kappa(&said, Metric::Interval).unwrap() + 2.0 / 3.0).abs() < 1e-12);
        // Two of three differ; by chance 1/3 · 1/3 + 1/3 · 2/3 + 0 = 1/3 agree: 1 - (2/3) / (2/3) = 0.
        assert!(kappa(&said, Metric::Nominal).unwrap().abs() < 1e-12);
    }

    #[test]
    fn ranks_are_correlated_and_ties_share_theirs() {
        // Ranks 1, 2, 3, 4 and 1.5, 1.5, 4, 3: products (-1.5)(-1) + (-0.5)(-1) + (0.5)(1.5) + (1.5)(0.5) = 3.5; spreads 5 and 4.5.
        let said = [(1.0, 5.0), (2.0, 5.0), (3.0, 9.0), (4.0, 7.0)];
        assert!((spearman(&said).unwrap() - 3.5 / 22.5_f64.sqrt()).abs() < 1e-12);
        // Of six pairs one is tied in the second, four are in order and one is not: (4 - 1) / sqrt(6 · 5).
        assert!((kendall(&said).unwrap() - 3.0 / 30_f64.sqrt()).abs() < 1e-12);
        let back = [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)];
        assert_eq!((spearman(&back), kendall(&back)), (Some(-1.0), Some(-1.0)));
        let alike = [(1.0, 3.0), (2.0, 3.0)];
        assert_eq!(
            (spearman(&alike), kendall(&alike), spearman(&[]), kendall(&[])),
            (None, None, None, None)
        );
        // Both tied in the first: (1, 1), (1, 2), (2, 3) has two pairs in order of three, one tied: 2 / sqrt(2 · 3).
        assert!((kendall(&[(1.0, 1.0), (1.0, 2.0), (2.0, 3.0)]).unwrap() - 2.0 / 6_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn silence_is_left_out_and_nothing_to_disagree_on_has_no_alpha() {
        let mut questions = of(&[&[1.0, -1.0], &[1.0, -1.0]]);
        questions.push(vec![Some(1.0), None]);
        assert_eq!(alpha(&questions, Metric::Nominal), Some(1.0));
        assert_eq!(alpha(&of(&[&[1.0, 1.0], &[1.0, 1.0]]), Metric::Nominal), None);
        assert_eq!(alpha(&[], Metric::Interval), None);
    }
}
