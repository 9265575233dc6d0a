//! A bag encoder: hashed words, a row of a table for each, their mean, a linear layer. Losses with gradients by hand.
//!
//! In: words as rows of its table. Out: a few numbers, which learn a choice, a preference or a target. It knows nothing of the
//! order of words, so that it fits in milliseconds and is a floor for whatever reads them in order.

use crate::Stream;

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
    /// An encoder of `out` numbers, over a table of `rows` rows of `width` numbers, drawn at random.
    pub fn new(rows: usize, width: usize, out: usize, stream: &mut Stream) -> Self {
        let (table, layer) = (rows * width, width * out);
        let mut theta: Vec<f64> = (0..table).map(|_| 0.1 * stream.normal()).collect();
        theta.extend((0..layer).map(|_| stream.normal() / (width as f64).sqrt()));
        theta.extend(std::iter::repeat_n(0.0, out));
        Self { width, out, seen: vec![0.0; theta.len()], theta, rows }
    }

    /// The encoder of these parameters, as [`Self::theta`] gave them, with a fresh optimiser. Absent: they are not as many as it has.
    pub fn from_theta((rows, width, out): (usize, usize, usize), theta: Vec<f64>) -> Option<Self> {
        let whole = theta.len() == rows * width + width * out + out && theta.iter().all(|v| v.is_finite());
        whole.then(|| Self { width, out, seen: vec![0.0; theta.len()], theta, rows })
    }

    /// Its parameters: the table, the linear layer, the biases.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// What its optimiser keeps: one number for each parameter.
    pub fn seen(&self) -> &[f64] {
        &self.seen
    }

    /// Takes up what its optimiser kept; whether it fits.
    pub fn recall(&mut self, seen: Vec<f64>) -> bool {
        let fits = seen.len() == self.theta.len() && seen.iter().all(|v| v.is_finite() && *v >= 0.0);
        if fits {
            self.seen = seen;
        }
        fits
    }

    /// The same with a fresh optimiser.
    pub fn restart(&mut self) {
        self.seen.fill(0.0);
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

    /// The network's first output for these words.
    pub fn score(&self, words: &[usize]) -> f64 {
        self.encode(words).first().copied().unwrap_or(0.0)
    }

    /// The chance of a yes: the logistic of the first output.
    pub fn chance(&self, words: &[usize]) -> f64 {
        1.0 / (1.0 + (-self.score(words)).exp())
    }

    /// `−ln p` of the answer, and its gradient: `p − y` on the first output. `yes` is the share of yes, 0 to 1.
    pub fn logistic(&self, words: &[usize], yes: f64, gradient: &mut [f64]) -> f64 {
        let p = self.chance(words).clamp(1e-12, 1.0 - 1e-12);
        self.back(words, &[p - yes], gradient);
        -(yes * p.ln() + (1.0 - yes) * (1.0 - p).ln())
    }

    /// Bradley–Terry: `−ln σ(better − worse)` of the first outputs, and its gradient, `−σ(worse − better)` on the better one.
    pub fn preference(&self, better: &[usize], worse: &[usize], gradient: &mut [f64]) -> f64 {
        let ahead = self.score(better) - self.score(worse);
        let slope = 1.0 / (1.0 + ahead.exp());
        self.back(better, &[-slope], gradient);
        self.back(worse, &[slope], gradient);
        // ln(1 + e^−x), written so that neither side overflows.
        (-ahead).max(0.0) + (-ahead.abs()).exp().ln_1p()
    }

    /// The squared distance of the first output from `target`, and its gradient.
    pub fn regression(&self, words: &[usize], target: f64, gradient: &mut [f64]) -> f64 {
        let off = self.score(words) - target;
        self.back(words, &[2.0 * off], gradient);
        off * off
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

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
    fn the_gradients_of_a_preference_and_a_target_are_those_of_finite_differences() {
        check_slopes(&bag(1), |bag, g| bag.preference(&[1, 4], &[2, 4, 5], g));
        check_slopes(&bag(1), |bag, g| bag.regression(&[3, 3, 6], 0.7, g));
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
        // Words 0 and 1 alone come to 7 and −2: the better is ahead by 9, and the other way round behind by 9.
        let loss = |better: usize, worse: usize| bag.preference(&[better], &[worse], &mut bag.gradient());
        assert!((loss(0, 1) - (1.0 + (-9.0f64).exp()).ln()).abs() < 1e-12);
        assert!((loss(1, 0) - (1.0 + 9.0f64.exp()).ln()).abs() < 1e-9);
        // 2.5 is 1.5 off 1: 2.25, and the slope on the bias is 3.
        let mut gradient = bag.gradient();
        assert_eq!(bag.regression(&[0, 1], 1.0, &mut gradient), 2.25);
        assert_eq!(gradient[3], 3.0);
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

    #[test]
    fn what_was_kept_goes_on_as_if_it_had_never_been_put_away() {
        let (mut one, mut gradient) = (bag(1), bag(1).gradient());
        let mut step = |bag: &mut Bag| {
            bag.preference(&[1], &[2], &mut gradient);
            bag.descend(&mut gradient, 0.1);
        };
        step(&mut one);
        let mut other = Bag::from_theta((8, 3, 1), one.theta().to_vec()).unwrap();
        assert!(other.recall(one.seen().to_vec()));
        step(&mut one);
        step(&mut other);
        assert_eq!(one, other);
        assert!(Bag::from_theta((8, 3, 2), one.theta().to_vec()).is_none() && !other.recall(vec![0.0]));
    }
}
