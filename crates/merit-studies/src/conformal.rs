//! Conformal answers to multiple-choice items: prediction sets with a promised coverage, and an answer/set/abstain rule.

use merit_core::Stream;

pub const OPTIONS: usize = 6;

/// What a frozen model says of one item, and the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    pub probs: [f64; OPTIONS],
    pub truth: usize,
}

/// What is answered; sets are bit masks of options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Single(usize),
    Set(u8),
    Abstain,
}

impl Item {
    pub fn best(&self) -> usize {
        (1..OPTIONS).fold(0, |best, k| if self.probs[k] > self.probs[best] { k } else { best })
    }

    /// The least non-conformity of an option: 1 − the greatest probability.
    pub fn least_score(&self) -> f64 {
        1.0 - self.probs[self.best()]
    }

    /// LAC's non-conformity of an option: 1 − p.
    pub fn lac_score(&self, option: usize) -> f64 {
        1.0 - self.probs[option]
    }

    /// APS's: the probability of everything at least as likely.
    pub fn aps_score(&self, option: usize) -> f64 {
        self.probs.iter().filter(|p| **p >= self.probs[option]).sum()
    }

    fn set(&self, keep: impl Fn(usize) -> bool) -> u8 {
        (0..OPTIONS).filter(|&k| keep(k)).fold(0, |set, k| set | 1 << k)
    }

    /// Every option with at most this LAC score. May be empty.
    pub fn lac_set(&self, quantile: f64) -> u8 {
        self.set(|k| self.lac_score(k) <= quantile)
    }

    /// Every option with at most this APS score. May be empty.
    pub fn aps_set(&self, quantile: f64) -> u8 {
        self.set(|k| self.aps_score(k) <= quantile)
    }
}

/// The conformal quantile: the `ceil((n + 1)(1 − error))`-th smallest of n calibration scores; 1 when there are too few.
pub fn quantile(scores: &mut [f64], error: f64) -> f64 {
    scores.sort_by(f64::total_cmp);
    let rank = ((scores.len() + 1) as f64 * (1.0 - error)).ceil().max(1.0) as usize;
    scores.get(rank - 1).copied().unwrap_or(1.0)
}

/// The thresholds of the answer/set/abstain rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    pub predict: f64,
    pub abstain: f64,
}

impl Thresholds {
    /// From calibration items and the two error levels: `a`, near 1, for single answers, `b`, near 0, for abstention.
    pub fn calibrate(items: &[Item], a: f64, b: f64) -> Self {
        let mut scores: Vec<f64> = items.iter().map(|item| item.lac_score(item.truth)).collect();
        Self { predict: quantile(&mut scores, a), abstain: quantile(&mut scores, b) }
    }

    /// The chances of a single answer, a set and abstention:
    ///   `sigmoid(−5(m − q_predict))`, the rest, `sigmoid(5(m − q_abstain))`, each at least 1e-6, over their sum.
    pub fn chances(&self, item: &Item) -> [f64; 3] {
        let m = item.least_score();
        let single = sigmoid(-5.0 * (m - self.predict));
        let abstain = sigmoid(5.0 * (m - self.abstain));
        let chances = [single, 1.0 - single - abstain, abstain].map(|chance| chance.max(1e-6));
        let sum: f64 = chances.iter().sum();
        chances.map(|chance| chance / sum)
    }

    pub fn decide(&self, item: &Item, stream: &mut Stream) -> Answer {
        let [single, set, _] = self.chances(item);
        let u = stream.unit();
        if u < single {
            Answer::Single(item.best())
        } else if u < single + set {
            Answer::Set(item.lac_set(self.abstain) | 1 << item.best())
        } else {
            Answer::Abstain
        }
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
