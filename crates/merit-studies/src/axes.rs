//! A scorer for each axis of a recommender's replies, exact checks beside them, and the sum that rules gate.

use crate::worlds::recommender::{Reply, User};
use merit_core::Stream;
use merit_core::bag::Bag;

/// Rows of a scorer's table.
pub const ROWS: usize = 4096;
/// Width of the table; entries of a step, and its size.
const WIDTH: usize = 8;
const BATCH: usize = 25;
const RATE: f64 = 0.1;
/// Weights of the axes: instruction, fact, query, user.
pub const WEIGHTS: [f64; 4] = [0.2, 0.3, 0.3, 0.2];

/// A reply as rows of words, and whether each axis is faultless.
pub type Entry = (Vec<usize>, [bool; 4]);

/// The chance, by axis, that a reply is faultless there.
#[derive(Debug, Clone, PartialEq)]
pub struct Scorers([Bag; 4]);

impl Scorers {
    pub fn new(stream: &mut Stream) -> Self {
        Self([(); 4].map(|()| Bag::new(ROWS, WIDTH, 1, stream)))
    }

    /// Every entry once, each scorer by its own axis alone.
    pub fn fit(&mut self, entries: &[Entry]) {
        for (axis, scorer) in self.0.iter_mut().enumerate() {
            let mut gradient = scorer.gradient();
            for batch in entries.chunks(BATCH) {
                for (words, good) in batch {
                    scorer.logistic(words, f64::from(u8::from(good[axis])), &mut gradient);
                }
                scorer.descend(&mut gradient, RATE);
            }
        }
    }

    pub fn of(&self, words: &[usize]) -> [f64; 4] {
        self.0.each_ref().map(|scorer| scorer.chance(words))
    }
}

/// `rules · (0.3 fact + 0.3 query + 0.2 user) + 0.2 rules`. Where rules are broken nothing counts.
pub fn gated(rules: bool, scores: [f64; 4]) -> f64 {
    if !rules { 0.0 } else { WEIGHTS[0] + (1..4).map(|axis| WEIGHTS[axis] * scores[axis]).sum::<f64>() }
}

/// The axes as they are: rules, claims, the share of constraints, and the chance that the user's taste gives.
pub fn exact(user: &User, reply: &Reply) -> [f64; 4] {
    let yes = |so: bool| f64::from(u8::from(so));
    [yes(reply.follows()), yes(reply.is_true()), reply.relevance(), logistic(user.taste(&reply.item))]
}

pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
