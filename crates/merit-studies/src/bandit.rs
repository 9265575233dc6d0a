//! A bandit over a few variants of a prompt: UCB1 (Auer et al. 2002) on what a gate says of the outcome.

use crate::tabular::argmax;
use merit_core::Stream;

/// How often every variant was tried, and what it earned.
#[derive(Debug, Clone, PartialEq)]
pub struct Bandit {
    tried: Vec<f64>,
    earned: Vec<f64>,
}

impl Bandit {
    pub fn new(variants: usize) -> Self {
        Self { tried: vec![0.0; variants], earned: vec![0.0; variants] }
    }

    /// The variant to try: each once, then the largest `mean + √(2 ln n / n_i)`, ties by lot. Two bandits that learn from one word
    /// would move in step if the first of equal ones won.
    pub fn choose(&self, stream: &mut Stream) -> usize {
        let all: f64 = self.tried.iter().sum();
        let bound = |at: usize| {
            if self.tried[at] == 0.0 {
                return f64::INFINITY;
            }
            self.earned[at] / self.tried[at] + (2.0 * all.ln() / self.tried[at]).sqrt()
        };
        argmax(&(0..self.tried.len()).map(bound).collect::<Vec<_>>(), 0.0, stream)
    }

    /// What a variant earned, 0 to 1.
    pub fn learn(&mut self, variant: usize, earned: f64) {
        self.tried[variant] += 1.0;
        self.earned[variant] += earned;
    }

    /// The variant that was tried most.
    pub fn favourite(&self) -> usize {
        (1..self.tried.len()).fold(0, |best, at| if self.tried[at] > self.tried[best] { at } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use merit_core::Seed;

    #[test]
    fn every_variant_is_tried_and_then_the_best() {
        let (mut bandit, mut stream) = (Bandit::new(3), Seed::root(101).stream());
        for _ in 0..300 {
            let variant = bandit.choose(&mut stream);
            bandit.learn(variant, [0.1, 0.9, 0.2][variant]);
        }
        assert_eq!(bandit.favourite(), 1);
        assert!(bandit.tried.iter().all(|tried| *tried >= 3.0) && bandit.tried[1] > 200.0, "{bandit:?}");
    }

    #[test]
    fn two_bandits_of_one_word_do_not_move_in_step() {
        let (mut both, mut stream) = ([Bandit::new(3), Bandit::new(3)], Seed::root(101).stream());
        // Variant 2 of the first and variant 0 of the second are best: in step, no pair of variants has both.
        for _ in 0..2000 {
            let [a, b] = [both[0].choose(&mut stream), both[1].choose(&mut stream)];
            let earned = 0.2 + 0.3 * f64::from(u8::from(a == 2)) + 0.3 * f64::from(u8::from(b == 0));
            both[0].learn(a, earned);
            both[1].learn(b, earned);
        }
        assert_eq!([both[0].favourite(), both[1].favourite()], [2, 0]);
    }

    #[test]
    fn bounds_by_hand() {
        let mut stream = Seed::root(101).stream();
        // Four tries, ln 4 = 1.386: 0.5 + √(2.773 / 3) = 1.461 against 0.0 + √2.773 = 1.665.
        let bandit = Bandit { tried: vec![3.0, 1.0], earned: vec![1.5, 0.0] };
        assert_eq!(bandit.choose(&mut stream), 1);
        // Of 40 and 10: 0.5 + √(7.824 / 40) = 0.942 against 0 + √0.7824 = 0.885.
        let later = Bandit { tried: vec![40.0, 10.0], earned: vec![20.0, 0.0] };
        assert_eq!(later.choose(&mut stream), 0);
    }
}
