//! Models that put the better of two sequences first, fitted by `-ln σ(better − worse)`: weights of tokens, and a small recurrent network
//! (GRU, Cho et al., 2014) with its gradient by hand. A sequence is a list of messages, each a list of tokens.

use crate::axes::logistic;
use merit_core::Stream;
use merit_core::bag::dot;

/// A sequence as a model reads it.
pub type Messages = Vec<Vec<usize>>;

/// A weight for each token, however often and wherever it stands.
#[derive(Debug, Clone)]
pub struct Weights(Vec<f64>);

impl Weights {
    /// Fits the weights of `tokens` tokens to pairs of a better and a worse bag.
    pub fn fitted(tokens: usize, pairs: &[(Vec<usize>, Vec<usize>)], epochs: usize, rate: f64) -> Self {
        let mut weights = Self(vec![0.0; tokens]);
        for (better, worse) in pairs.iter().cycle().take(pairs.len() * epochs) {
            let slope = rate * logistic(weights.score(worse) - weights.score(better));
            better.iter().for_each(|token| weights.0[*token] += slope);
            worse.iter().for_each(|token| weights.0[*token] -= slope);
        }
        weights
    }

    pub fn score(&self, bag: &[usize]) -> f64 {
        bag.iter().filter_map(|token| self.0.get(*token)).sum()
    }
}

/// A recurrent network whose last state is scored.
///   z = σ(W_z x + U_z h + b_z), r = σ(W_r x + U_r h + b_r), n = tanh(W_n x + r ⊙ U_n h + b_n), h' = (1 − z) ⊙ n + z ⊙ h
#[derive(Debug, Clone)]
pub struct Recurrent {
    width: usize,
    tokens: usize,
    /// For each of z, r and n: W by token, U by row, b; then the weights of the score.
    pub theta: Vec<f64>,
    /// Means of gradients and of their squares, and steps so far: Adam.
    moments: (Vec<f64>, Vec<f64>, i32),
}

/// What a step of the network leaves for the way back.
struct Step {
    before: Vec<f64>,
    z: Vec<f64>,
    r: Vec<f64>,
    n: Vec<f64>,
    /// U_n h.
    carried: Vec<f64>,
}

impl Recurrent {
    pub fn new(tokens: usize, width: usize, stream: &mut Stream) -> Self {
        let size = 3 * (tokens * width + width * width + width) + width;
        let scale = 1.0 / (width as f64).sqrt();
        let theta: Vec<f64> = (0..size).map(|_| scale * stream.normal()).collect();
        Self { width, tokens, moments: (vec![0.0; size], vec![0.0; size], 0), theta }
    }

    /// Where W, U and b of a gate begin.
    fn places(&self, gate: usize) -> (usize, usize, usize) {
        let (w, u) = (self.tokens * self.width, self.width * self.width);
        let begin = gate * (w + u + self.width);
        (begin, begin + w, begin + w + u)
    }

    fn head(&self) -> usize {
        self.theta.len() - self.width
    }

    /// W x + b of a gate.
    fn driven(&self, gate: usize, message: &[usize]) -> Vec<f64> {
        let (w, _, b) = self.places(gate);
        let mut sum = self.theta[b..b + self.width].to_vec();
        for token in message {
            let column = &self.theta[w + token * self.width..w + (token + 1) * self.width];
            sum.iter_mut().zip(column).for_each(|(sum, v)| *sum += v);
        }
        sum
    }

    /// U h of a gate.
    fn carried(&self, gate: usize, h: &[f64]) -> Vec<f64> {
        let (_, u, b) = self.places(gate);
        self.theta[u..b].chunks_exact(self.width).map(|row| dot(row, h)).collect()
    }

    fn step(&self, message: &[usize], h: &mut Vec<f64>) -> Step {
        let gate = |gate: usize| -> Vec<f64> {
            let both = self.driven(gate, message).into_iter().zip(self.carried(gate, h));
            both.map(|(x, u)| logistic(x + u)).collect()
        };
        let (z, r, carried) = (gate(0), gate(1), self.carried(2, h));
        let parts = self.driven(2, message).into_iter().zip(r.iter().zip(&carried));
        let n: Vec<f64> = parts.map(|(x, (r, u))| (x + r * u).tanh()).collect();
        let next = (0..self.width).map(|i| (1.0 - z[i]) * n[i] + z[i] * h[i]).collect();
        Step { before: std::mem::replace(h, next), z, r, n, carried }
    }

    pub fn score(&self, messages: &Messages) -> f64 {
        let mut h = vec![0.0; self.width];
        messages.iter().for_each(|message| drop(self.step(message, &mut h)));
        dot(&self.theta[self.head()..], &h)
    }

    /// Adds `slope` times the gradient of the score.
    fn back(&self, messages: &Messages, slope: f64, gradient: &mut [f64]) {
        let mut h = vec![0.0; self.width];
        let steps: Vec<Step> = messages.iter().map(|message| self.step(message, &mut h)).collect();
        let head = self.head();
        let mut into: Vec<f64> = self.theta[head..].iter().map(|v| v * slope).collect();
        gradient[head..].iter_mut().zip(&h).for_each(|(g, h)| *g += slope * h);
        for (step, message) in steps.iter().zip(messages).rev() {
            let (mut next, mut gates) = (vec![0.0; self.width], [(); 3].map(|()| vec![0.0; self.width]));
            for i in 0..self.width {
                let (z, r, n) = (step.z[i], step.r[i], step.n[i]);
                next[i] = into[i] * z;
                gates[0][i] = into[i] * (step.before[i] - n) * z * (1.0 - z);
                gates[2][i] = into[i] * (1.0 - z) * (1.0 - n * n);
                gates[1][i] = gates[2][i] * step.carried[i] * r * (1.0 - r);
            }
            for (gate, slopes) in gates.iter().enumerate() {
                self.back_gate(gate, message, slopes, (step, gradient, &mut next));
            }
            into = next;
        }
    }

    /// The part of one gate, whose sums have these slopes.
    fn back_gate(
        &self,
        gate: usize,
        message: &[usize],
        slopes: &[f64],
        (step, gradient, next): (&Step, &mut [f64], &mut [f64]),
    ) {
        let (w, u, b) = self.places(gate);
        for (i, slope) in slopes.iter().enumerate() {
            gradient[b + i] += slope;
            message.iter().for_each(|token| gradient[w + token * self.width + i] += slope);
            let through = if gate == 2 { slope * step.r[i] } else { *slope };
            let row = u + i * self.width..u + (i + 1) * self.width;
            gradient[row.clone()].iter_mut().zip(&step.before).for_each(|(g, h)| *g += through * h);
            next.iter_mut().zip(&self.theta[row]).for_each(|(next, v)| *next += through * v);
        }
    }

    /// `-ln σ(better − worse)` of a pair, and its gradient.
    pub fn loss(&self, better: &Messages, worse: &Messages, gradient: &mut [f64]) -> f64 {
        let ahead = self.score(better) - self.score(worse);
        let slope = logistic(-ahead);
        self.back(better, -slope, gradient);
        self.back(worse, slope, gradient);
        -logistic(ahead).max(1e-300).ln()
    }

    /// One update on these pairs: Adam, with the length of the gradient kept below 1.
    pub fn learn(&mut self, pairs: &[&(Messages, Messages)], rate: f64) {
        let mut gradient = vec![0.0; self.theta.len()];
        for (better, worse) in pairs {
            self.loss(better, worse, &mut gradient);
        }
        let share = 1.0 / pairs.len().max(1) as f64;
        let shrink = share / (share * dot(&gradient, &gradient).sqrt()).max(1.0);
        let (first, second, steps) = &mut self.moments;
        *steps += 1;
        let (fade_first, fade_second) = (1.0 - 0.9_f64.powi(*steps), 1.0 - 0.999_f64.powi(*steps));
        for (i, g) in gradient.into_iter().enumerate() {
            let g = g * shrink;
            first[i] = 0.9 * first[i] + 0.1 * g;
            second[i] = 0.999 * second[i] + 0.001 * g * g;
            self.theta[i] -= rate * (first[i] / fade_first) / ((second[i] / fade_second).sqrt() + 1e-8);
        }
    }
}
