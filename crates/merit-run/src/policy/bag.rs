//! A model beside the policy that knows which words occur in an episode, and nothing of their order.
//!
//! In: the tokens of episodes, read back as text by the policy's tokenizer. Out: a number for each. It begins with a layer of zeros, so
//! that it says nothing before it has learned, and keeps itself as plain numbers.

use merit_core::bag::{Bag, row};
use merit_core::{Seed, TokenId};
use merit_model::Tokenizer;
use std::sync::Arc;

/// Rows that words are hashed to.
const ROWS: usize = 4096;
/// Numbers in each row.
const WIDTH: usize = 8;
const SHAPE: (usize, usize, usize) = (ROWS, WIDTH, 1);

/// The bag, and what its words are read by.
pub(crate) struct Words {
    bag: Bag,
    tokenizer: Arc<Tokenizer>,
}

impl Words {
    /// One that has learned nothing.
    pub(super) fn newborn(tokenizer: Arc<Tokenizer>, seed: &Seed) -> Self {
        let drawn = Bag::new(ROWS, WIDTH, 1, &mut seed.stream());
        let mut theta = drawn.theta().to_vec();
        theta[ROWS * WIDTH..].fill(0.0);
        let bag = Bag::from_theta(SHAPE, theta).unwrap_or(drawn);
        Self { bag, tokenizer }
    }

    /// One that was kept. Absent: these are not its bytes.
    pub(super) fn kept(tokenizer: Arc<Tokenizer>, bytes: &[u8]) -> Option<Self> {
        Some(Self { bag: Bag::from_theta(SHAPE, numbers(bytes)?)?, tokenizer })
    }

    /// The rows of the words of an episode.
    fn words(&self, tokens: &[TokenId]) -> Vec<usize> {
        let text = self.tokenizer.decode(tokens).to_lowercase();
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| row(word, ROWS)).collect()
    }

    pub(crate) fn score(&self, tokens: &[TokenId]) -> f64 {
        self.bag.score(&self.words(tokens))
    }

    /// One step down the mean of `-log σ(better - worse)`; gives that mean and the share of pairs told apart before it.
    pub(crate) fn prefer(&mut self, pairs: &[[&[TokenId]; 2]], rate: f64) -> (f64, f64) {
        let mut gradient = self.bag.gradient();
        let (mut loss, mut told) = (0.0, 0.0);
        for [better, worse] in pairs {
            let (better, worse) = (self.words(better), self.words(worse));
            told += f64::from(u8::from(self.bag.score(&better) > self.bag.score(&worse)));
            loss += self.bag.preference(&better, &worse, &mut gradient);
        }
        self.step(gradient, pairs.len(), rate);
        let count = pairs.len().max(1) as f64;
        (loss / count, told / count)
    }

    /// One step down the mean squared distance from `targets`; gives that mean.
    pub(crate) fn regress(&mut self, sequences: &[&[TokenId]], targets: &[f64], rate: f64) -> f64 {
        let mut gradient = self.bag.gradient();
        let both = sequences.iter().zip(targets);
        let loss: f64 =
            both.map(|(tokens, y)| self.bag.regression(&self.words(tokens), *y, &mut gradient)).sum();
        self.step(gradient, sequences.len(), rate);
        loss / sequences.len().max(1) as f64
    }

    fn step(&mut self, mut gradient: Vec<f64>, count: usize, rate: f64) {
        gradient.iter_mut().for_each(|slope| *slope /= count.max(1) as f64);
        self.bag.descend(&mut gradient, rate);
    }

    /// Begins with a fresh optimiser and keeps the parameters.
    pub(super) fn restart(&mut self) {
        self.bag.restart();
    }

    /// Its parameters as they are kept.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        bytes(self.bag.theta())
    }

    /// What its optimiser keeps; absent before the first update after a restart.
    pub(super) fn optimiser(&self) -> Option<Vec<u8>> {
        let seen = self.bag.seen();
        seen.iter().any(|sum| *sum > 0.0).then(|| bytes(seen))
    }

    /// Takes up what its optimiser kept; whether it fits.
    pub(super) fn load_optimiser(&mut self, kept: &[u8]) -> bool {
        numbers(kept).is_some_and(|seen| self.bag.recall(seen))
    }
}

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> Option<Vec<f64>> {
    let (eights, rest) = bytes.as_chunks();
    rest.is_empty().then(|| eights.iter().map(|eight| f64::from_le_bytes(*eight)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words::newborn(Arc::new(Tokenizer::train(std::iter::empty(), 0)), &Seed::root(1))
    }

    #[test]
    fn it_says_nothing_at_first_and_then_which_words_are_better() {
        let mut model = words();
        let tokenizer = Arc::clone(&model.tokenizer);
        let tokens = |text: &str| tokenizer.encode(text);
        let (good, bad, other) = (tokens("Yes, of course."), tokens("of course no"), tokens("quite, Yes"));
        // A layer of zeros tells nothing apart: -log sigmoid(0).
        let (loss, told) = model.prefer(&[[&good, &bad]], 0.1);
        assert!((loss - 2f64.ln()).abs() < 1e-12 && told == 0.0);
        for _ in 0..50 {
            model.prefer(&[[&good, &bad]], 0.1);
        }
        // The order of words and what stands between them say nothing; a word that was never seen says little.
        assert_eq!(model.score(&tokens("course of no!")), model.score(&bad));
        assert!(model.score(&good) > 1.0 + model.score(&bad) && model.score(&other) > model.score(&bad));
        let (loss, told) = model.prefer(&[[&good, &bad]], 0.1);
        assert!(loss < 0.3 && told == 1.0, "{loss}");
    }

    #[test]
    fn a_target_is_reached_and_what_was_kept_goes_on_alike() {
        let mut model = words();
        let (one, two) = (model.tokenizer.encode("one"), model.tokenizer.encode("two"));
        // At zero the distances from 1 and -2 are 1 and 4.
        assert_eq!(model.regress(&[&one, &two], &[1.0, -2.0], 0.1), 2.5);
        let mut again = Words::kept(model.tokenizer.clone(), &model.to_bytes()).unwrap();
        assert!(again.load_optimiser(&model.optimiser().unwrap()));
        for _ in 0..400 {
            assert_eq!(
                model.regress(&[&one, &two], &[1.0, -2.0], 0.1),
                again.regress(&[&one, &two], &[1.0, -2.0], 0.1)
            );
        }
        assert!((model.score(&one) - 1.0).abs() < 0.05 && (model.score(&two) + 2.0).abs() < 0.05);
        assert!(Words::kept(model.tokenizer.clone(), &[0; 9]).is_none() && !model.load_optimiser(&[0; 8]));
    }
}
