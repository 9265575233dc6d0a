//! A bag encoder: hashed words, a row of a table for each, their mean, a linear layer. Losses with gradients by hand.

use crate::tabular::softmax;
use merit_core::Stream;

/// The row of a word in a table of `rows`, by FNV-1a. Words may collide, and never panic.
pub fn row(word: &str, rows: usize) -> usize {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    ((hash ^ (hash >> 32)) % rows.max(1) as u64) as usize
}

/// The encoder. Words are rows of its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Bag {
    width: usize,
    out: usize,
    /// The table, row-major; then the linear layer, `width` weights for each output; then a bias for each.
    theta: Vec<f64>,
    /// The sum of squared gradients of every number: Adagrad, so that rare words learn as much as common ones.
    seen: Vec<f64>,
    rows: usize,
}

impl Bag {
    pub fn new(rows: usize, width: usize, out: usize, stream: &mut Stream) -> Self {
        let (table, layer) = (rows * width, width * out);
        let mut theta: Vec<f64> = (0..table).map(|_| 0.1 * stream.normal()).collect();
        theta.extend((0..layer).map(|_| stream.normal() / (width as f64).sqrt()));
        theta.extend(std::iter::repeat_n(0.0, out));
        Self { width, out, seen: vec![0.0; theta.len()], theta, rows }
    }

    /// A gradient of nothing, as long as the parameters.
    pub fn gradient(&self) -> Vec<f64> {
        vec![0.0; self.theta.len()]
    }

    fn mean(&self, words: &[usize]) -> Vec<f64> {
        let mut mean = vec![0.0; self.width];
        for word in words {
            let row = &self.theta[word * self.width..(word + 1) * self.width];
            mean.iter_mut().zip(row).for_each(|(mean, v)| *mean += v / words.len() as f64);
        }
        mean
    }

    /// What the encoder makes of the words: one number for each output.
    pub fn encode(&self, words: &[usize]) -> Vec<f64> {
        let (mean, layer) = (self.mean(words), self.rows * self.width);
        let bias = layer + self.width * self.out;
        let output = |o: usize| {
            let weights = &self.theta[layer + o * self.width..layer + (o + 1) * self.width];
            dot(weights, &mean) + self.theta[bias + o]
        };
        (0..self.out).map(output).collect()
    }

    /// [`Self::encode`], of length 1; of no direction it stays 0.
    pub fn unit(&self, words: &[usize]) -> Vec<f64> {
        let raw = self.encode(words);
        let norm = dot(&raw, &raw).sqrt().max(1e-12);
        raw.into_iter().map(|v| v / norm).collect()
    }

    /// Adds what a slope on the outputs means for every parameter.
    pub fn back(&self, words: &[usize], slope: &[f64], gradient: &mut [f64]) {
        let (mean, layer) = (self.mean(words), self.rows * self.width);
        let bias = layer + self.width * self.out;
        let mut into_mean = vec![0.0; self.width];
        for (o, slope) in slope.iter().enumerate() {
            gradient[bias + o] += slope;
            for w in 0..self.width {
                gradient[layer + o * self.width + w] += slope * mean[w];
                into_mean[w] += slope * self.theta[layer + o * self.width + w];
            }
        }
        for word in words {
            let row = &mut gradient[word * self.width..(word + 1) * self.width];
            row.iter_mut().zip(&into_mean).for_each(|(g, slope)| *g += slope / words.len() as f64);
        }
    }

    /// The chance of a yes: the logistic of the first output.
    pub fn chance(&self, words: &[usize]) -> f64 {
        1.0 / (1.0 + (-self.encode(words).first().copied().unwrap_or(0.0)).exp())
    }

    /// `−ln p` of the answer, and its gradient: `p − y` on the first output. `yes` is the share of yes, 0 to 1.
    pub fn logistic(&self, words: &[usize], yes: f64, gradient: &mut [f64]) -> f64 {
        let p = self.chance(words).clamp(1e-12, 1.0 - 1e-12);
        self.back(words, &[p - yes], gradient);
        -(yes * p.ln() + (1.0 - yes) * (1.0 - p).ln())
    }

    /// InfoNCE of pairs within their batch, by cosine over `temperature`, the mean of both directions, and its gradient.
    pub fn info_nce(
        &self,
        pairs: &[(Vec<usize>, Vec<usize>)],
        temperature: f64,
        gradient: &mut [f64],
    ) -> f64 {
        let n = pairs.len();
        let (left, right): (Vec<_>, Vec<_>) = pairs.iter().map(|(l, r)| (self.unit(l), self.unit(r))).unzip();
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
            self.back_unit(&pairs[i].0, &left[i], &into_left, gradient);
            self.back_unit(&pairs[i].1, &right[i], &into_right, gradient);
        }
        loss
    }

    /// [`Self::back`] through the division by the length: `(slope − unit (unit · slope)) / length`.
    fn back_unit(&self, words: &[usize], unit: &[f64], slope: &[f64], gradient: &mut [f64]) {
        let raw = self.encode(words);
        let (norm, along) = (dot(&raw, &raw).sqrt().max(1e-12), dot(unit, slope));
        let slope: Vec<f64> = slope.iter().zip(unit).map(|(s, u)| (s - u * along) / norm).collect();
        self.back(words, &slope, gradient);
    }

    /// One step of Adagrad down the gradient, which is emptied for the next.
    pub fn descend(&mut self, gradient: &mut [f64], rate: f64) {
        for ((theta, seen), g) in self.theta.iter_mut().zip(&mut self.seen).zip(gradient) {
            if *g != 0.0 {
                *seen += *g * *g;
                *theta -= rate * *g / (seen.sqrt() + 1e-8);
                *g = 0.0;
            }
        }
    }
}

/// The scalar product.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn weighted(vectors: &[Vec<f64>], weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for (j, vector) in vectors.iter().enumerate() {
        let weight = weight(j);
        sum.iter_mut().zip(vector).for_each(|(sum, v)| *sum += weight * v);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Seed;

    fn bag(out: usize) -> Bag {
        Bag::new(8, 3, out, &mut Seed::root(101).stream())
    }

    fn check_slopes(bag: &Bag, loss: impl Fn(&Bag, &mut [f64]) -> f64) {
        let mut gradient = bag.gradient();
        loss(bag, &mut gradient);
        assert!(gradient.iter().any(|g| *g != 0.0));
        for (i, found) in gradient.iter().enumerate() {
            let moved = |shift: f64| {
                let mut moved = bag.clone();
                moved.theta[i] += shift;
                loss(&moved, &mut bag.gradient())
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - found).abs() < 1e-6 * (1.0 + slope.abs()), "{i}: {slope} {found}");
        }
    }

    #[test]
    fn the_logistic_gradient_is_that_of_finite_differences() {
        check_slopes(&bag(1), |bag, g| bag.logistic(&[1, 4, 4], 1.0, g) + bag.logistic(&[2], 0.3, g));
    }

    #[test]
    fn the_gradient_of_info_nce_is_that_of_finite_differences() {
        let pairs = [(vec![0, 1], vec![2]), (vec![3], vec![4, 4, 5]), (vec![6, 1], vec![7])];
        check_slopes(&bag(4), |bag, g| bag.info_nce(&pairs, 0.5, g));
    }

    #[test]
    fn losses_by_hand() {
        let mut bag = Bag::new(2, 1, 1, &mut Seed::root(1).stream());
        // Rows 2 and −1, weight 3, bias 1: the mean of both words is 0.5, the output 2.5.
        bag.theta = vec![2.0, -1.0, 3.0, 1.0];
        assert_eq!(bag.encode(&[0, 1]), [2.5]);
        assert!(
            (bag.logistic(&[0, 1], 1.0, &mut bag.gradient()) - (1.0 + (-2.5f64).exp()).ln()).abs() < 1e-12
        );
        // Outputs 7 and −2 are units 1 and −1: own cosines 1, others −1, so that the loss is ln(1 + e^-2) at temperature 1.
        let pairs = [(vec![0], vec![0]), (vec![1], vec![1])];
        let loss = bag.info_nce(&pairs, 1.0, &mut bag.gradient());
        assert!((loss - (1.0 + (-2.0f64).exp()).ln()).abs() < 1e-12, "{loss}");
    }

    #[test]
    fn a_few_steps_tell_two_words_apart_and_no_word_is_no_error() {
        let mut bag = bag(1);
        let mut gradient = bag.gradient();
        for _ in 0..200 {
            bag.logistic(&[row("yes", 8)], 1.0, &mut gradient);
            bag.logistic(&[row("no", 8)], 0.0, &mut gradient);
            bag.descend(&mut gradient, 0.1);
        }
        assert!(bag.chance(&[row("yes", 8)]) > 0.95 && bag.chance(&[row("no", 8)]) < 0.05);
        assert!(bag.chance(&[]).is_finite() && row("anything", 0) == 0);
    }
}
