//! InfoNCE over the bag encoder of merit-core, which nothing but studies learns by.

use crate::tabular::softmax;
use merit_core::bag::{Bag, dot};

/// InfoNCE of pairs within their batch, by cosine over `temperature`, the mean of both directions, and its gradient.
pub fn info_nce(
    bag: &Bag,
    pairs: &[(Vec<usize>, Vec<usize>)],
    temperature: f64,
    gradient: &mut [f64],
) -> f64 {
    let n = pairs.len();
    let (left, right): (Vec<_>, Vec<_>) = pairs.iter().map(|(l, r)| (bag.unit(l), bag.unit(r))).unzip();
    // Slopes on the cosines: (softmax − 1[own]) / (2 n temperature), from rows and from columns.
    let mut slopes = vec![0.0; n * n];
    let mut loss = 0.0;
    for i in 0..n {
        let row: Vec<f64> = right.iter().map(|r| dot(&left[i], r) / temperature).collect();
        let column: Vec<f64> = left.iter().map(|l| dot(l, &right[i]) / temperature).collect();
        let (row, column) = (softmax(&row), softmax(&column));
        loss -= (row[i].max(1e-300).ln() + column[i].max(1e-300).ln()) / (2 * n) as f64;
        for j in 0..n {
            let own = f64::from(u8::from(i == j));
            slopes[i * n + j] += (row[j] - own) / ((2 * n) as f64 * temperature);
            slopes[j * n + i] += (column[j] - own) / ((2 * n) as f64 * temperature);
        }
    }
    for i in 0..n {
        let into_left = weighted(&right, |j| slopes[i * n + j]);
        let into_right = weighted(&left, |j| slopes[j * n + i]);
        back_unit(bag, &pairs[i].0, (&left[i], &into_left), gradient);
        back_unit(bag, &pairs[i].1, (&right[i], &into_right), gradient);
    }
    loss
}

/// [`Bag::back`] through the division by the length: `(slope − unit (unit · slope)) / length`.
fn back_unit(bag: &Bag, words: &[usize], (unit, slope): (&[f64], &[f64]), gradient: &mut [f64]) {
    let raw = bag.encode(words);
    let (norm, along) = (dot(&raw, &raw).sqrt().max(1e-12), dot(unit, slope));
    let slope: Vec<f64> = slope.iter().zip(unit).map(|(s, u)| (s - u * along) / norm).collect();
    bag.back(words, &slope, gradient);
}

fn weighted(vectors: &[Vec<f64>], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for (j, vector) in vectors.iter().enumerate() {
        let weight = weight(j);
        sum.iter_mut().zip(vector).for_each(|(sum, v)| *sum += weight * v);
    }
    sum
}
