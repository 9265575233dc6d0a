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
