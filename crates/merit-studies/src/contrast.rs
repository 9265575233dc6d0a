//! What a frozen embedder pays for a trace: how far it sets its own item apart from the rest of the batch.

use crate::tabular::softmax;
use std::ops::Range;

/// Negatives weigh by `softmax(s / 0.5)`: the hardest most.
const HARDNESS: f64 = 0.5;

/// One trace against every trace of the other side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// The share of its own item's traces among as many nearest ones; ties go to the others.
    pub accuracy: f64,
    /// The mean similarity of its own, less the weighted similarity of the others.
    pub margin: f64,
}

impl Contrast {
    /// `similar` has the similarity of every trace of the other side; those in `own` belong to the matching item.
    pub fn of(similar: &[f64], own: Range<usize>) -> Self {
        let (n, mine) = (own.len(), &similar[own.clone()]);
        let others: Vec<f64> = [&similar[..own.start], &similar[own.end..]].concat();
        let before =
            |s: f64| others.iter().filter(|o| **o >= s).count() + mine.iter().filter(|m| **m > s).count();
        let hits = mine.iter().filter(|s| before(**s) < n).count();
        let weights = softmax(&others.iter().map(|s| s / HARDNESS).collect::<Vec<_>>());
        let hard: f64 = others.iter().zip(weights).map(|(s, weight)| s * weight).sum();
        let size = n.max(1) as f64;
        Self { accuracy: hits as f64 / size, margin: mine.iter().sum::<f64>() / size - hard }
    }

    /// Half of accuracy times margin.
    pub fn outcome(&self) -> f64 {
        0.5 * self.accuracy * self.margin
    }
}

/// What a judge is shown beside the own traces: the nearest trace of each of the `many` hardest other items, `n` traces each.
pub fn hardest(similar: &[f64], own_item: usize, n: usize, many: usize) -> Vec<usize> {
    let others = (0..similar.len() / n.max(1)).filter(|item| *item != own_item);
    let nearest = |item: usize| (item * n..(item + 1) * n).max_by(|a, b| similar[*a].total_cmp(&similar[*b]));
    let mut found: Vec<usize> = others.filter_map(nearest).collect();
    found.sort_by(|a, b| similar[*b].total_cmp(&similar[*a]));
    found.truncate(many);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_two_by_hand() {
        // S = (0.9 0.1; 0.3 0.5): both rows rank their own first; margins 0.9 − 0.1 and 0.5 − 0.3.
        let rows = [Contrast::of(&[0.9, 0.1], 0..1), Contrast::of(&[0.3, 0.5], 1..2)];
        assert!(rows.iter().all(|row| row.accuracy == 1.0));
        assert!((rows[0].margin - 0.8).abs() < 1e-12 && (rows[1].margin - 0.2).abs() < 1e-12);
        // Two traces each: one of the own two is among the nearest two. Weights of the others: 1 / (1 + e^-0.8) = 0.68997.
        let row = Contrast::of(&[0.9, 0.2, 0.5, 0.1], 0..2);
        assert_eq!(row.accuracy, 0.5);
        assert!((row.margin - (0.55 - (0.68997 * 0.5 + 0.31003 * 0.1))).abs() < 1e-5);
        assert!((row.outcome() - 0.25 * row.margin).abs() < 1e-12);
    }

    #[test]
    fn margin_alone_rises_by_pushing_everything_apart() {
        // The nearest is still another's; only those that were no danger moved away.
        let (near, apart) =
            (Contrast::of(&[0.3, 0.4, 0.2, 0.2], 0..1), Contrast::of(&[0.3, 0.4, -0.8, -0.8], 0..1));
        assert!(apart.margin > near.margin + 0.05, "{near:?} {apart:?}");
        assert_eq!((near.outcome(), apart.outcome()), (0.0, 0.0));
    }

    #[test]
    fn accuracy_alone_is_flat_once_ranked_right() {
        let (barely, clearly) = (Contrast::of(&[0.5, 0.4], 0..1), Contrast::of(&[0.9, -0.5], 0..1));
        assert_eq!(barely.accuracy, clearly.accuracy);
        assert!((barely.outcome() - 0.05).abs() < 1e-12 && (clearly.outcome() - 0.7).abs() < 1e-12);
    }

    #[test]
    fn traces_that_are_all_alike_earn_nothing() {
        let row = Contrast::of(&[0.7; 6], 2..4);
        assert!(row.accuracy == 0.0 && row.margin.abs() < 1e-12);
    }

    #[test]
    fn a_judge_sees_the_nearest_trace_of_the_hardest_items() {
        // Items of two traces: 0.1/0.9, own, 0.3/0.2, 0.8/0.85.
        assert_eq!(hardest(&[0.1, 0.9, 1.0, 1.0, 0.3, 0.2, 0.8, 0.85], 1, 2, 2), [1, 7]);
    }
}
