//! A small Gaussian policy trained by REINFORCE: one hidden layer, a mean and a log-deviation per action.

use merit_core::Stream;

const HIDDEN: usize = 64;

/// Two state numbers in, two independent normal actions out. One hidden ReLU layer, Adam.
#[derive(Debug, Clone)]
pub struct GaussianPolicy {
    /// Of both layers, one after the other.
    pub weights: Vec<f64>,
    adam: Adam,
}

/// An action, and what the update needs of it.
#[derive(Debug, Clone)]
pub struct Taken {
    pub action: [f64; 2],
    pub log_prob: f64,
    /// d log-probability / d weights.
    gradient: Vec<f64>,
}

// The layout of the weights: [w1: HIDDEN x 2][b1: HIDDEN][heads: 4 x HIDDEN][b2: 4]; heads 0 and 1 are means, 2 and 3 log-deviations.
const B1: usize = 2 * HIDDEN;
const HEADS: usize = 3 * HIDDEN;
const B2: usize = 7 * HIDDEN;
const SIZE: usize = 7 * HIDDEN + 4;

impl GaussianPolicy {
    /// Uniform weights within 1/sqrt(inputs) of every layer.
    pub fn new(learning_rate: f64, stream: &mut Stream) -> Self {
        let weights = (0..SIZE)
            .map(|at| {
                let inputs = if at < HEADS { 2 } else { HIDDEN };
                (2.0 * stream.unit() - 1.0) / (inputs as f64).sqrt()
            })
            .collect();
        Self { weights, adam: Adam::new(learning_rate, SIZE) }
    }

    /// The means and the log-deviations of the actions.
    pub fn heads(&self, state: [f64; 2]) -> [f64; 4] {
        let hidden = self.hidden(state);
        std::array::from_fn(|head| self.head(head, &hidden))
    }

    fn hidden(&self, state: [f64; 2]) -> Vec<f64> {
        let w = &self.weights;
        (0..HIDDEN).map(|j| (w[2 * j] * state[0] + w[2 * j + 1] * state[1] + w[B1 + j]).max(0.0)).collect()
    }

    fn head(&self, head: usize, hidden: &[f64]) -> f64 {
        let row = &self.weights[HEADS + head * HIDDEN..HEADS + (head + 1) * HIDDEN];
        row.iter().zip(hidden).map(|(w, h)| w * h).sum::<f64>() + self.weights[B2 + head]
    }

    pub fn act(&self, state: [f64; 2], stream: &mut Stream) -> Taken {
        let heads = self.heads(state);
        let action = std::array::from_fn(|i| heads[i] + heads[i + 2].exp() * stream.normal());
        self.taken(state, action)
    }

    /// The log-probability of an action and its gradient.
    pub fn taken(&self, state: [f64; 2], action: [f64; 2]) -> Taken {
        let hidden = self.hidden(state);
        let mut log_prob = 0.0;
        let mut at_heads = [0.0; 4];
        for i in 0..2 {
            let (mean, log_std) = (self.head(i, &hidden), self.head(i + 2, &hidden));
            let z = (action[i] - mean) / log_std.exp();
            log_prob += -0.5 * z * z - log_std - 0.5 * std::f64::consts::TAU.ln();
            at_heads[i] = z / log_std.exp();
            at_heads[i + 2] = z * z - 1.0;
        }
        let mut gradient = vec![0.0; SIZE];
        for (head, slope) in at_heads.iter().enumerate() {
            gradient[B2 + head] = *slope;
            for j in 0..HIDDEN {
                gradient[HEADS + head * HIDDEN + j] = slope * hidden[j];
                if hidden[j] > 0.0 {
                    let back = slope * self.weights[HEADS + head * HIDDEN + j];
                    gradient[2 * j] += back * state[0];
                    gradient[2 * j + 1] += back * state[1];
                    gradient[B1 + j] += back;
                }
            }
        }
        Taken { action, log_prob, gradient }
    }

    /// One REINFORCE step that raises `reward * log-probability`.
    pub fn reinforce(&mut self, taken: &Taken, reward: f64) {
        let loss: Vec<f64> = taken.gradient.iter().map(|slope| -reward * slope).collect();
        self.adam.step(&mut self.weights, &loss);
    }
}

impl Taken {
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }
}

/// Adam with the usual 0.9, 0.999 and 1e-8.
#[derive(Debug, Clone)]
struct Adam {
    learning_rate: f64,
    moments: Vec<[f64; 2]>,
    steps: i32,
}

impl Adam {
    fn new(learning_rate: f64, size: usize) -> Self {
        Self { learning_rate, moments: vec![[0.0; 2]; size], steps: 0 }
    }

    fn step(&mut self, weights: &mut [f64], gradient: &[f64]) {
        self.steps += 1;
        let (c1, c2) = (1.0 - 0.9_f64.powi(self.steps), 1.0 - 0.999_f64.powi(self.steps));
        for ((w, [m, v]), g) in weights.iter_mut().zip(&mut self.moments).zip(gradient) {
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            *w -= self.learning_rate * (*m / c1) / ((*v / c2).sqrt() + 1e-8);
        }
    }
}
