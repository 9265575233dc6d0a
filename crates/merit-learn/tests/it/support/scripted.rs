//! A trainer and a reference that say what a test wants, and keep what they are told.
#![allow(dead_code, unreachable_pub)] // Each test file uses its part.

use merit_api::trainer::*;
use merit_core::TokenId;

/// What is said of the sequence at a place in its batch.
type Script<'s> = Box<dyn Fn(usize, &TrainSequence<'_>) -> SequenceScores + 's>;

/// A trainer without a model.
pub struct Scripted<'s> {
    says: Script<'s>,
    /// The coefficients of the last step.
    pub coefficients: Vec<Coefficients>,
    /// The sequences of every step.
    pub trained: Vec<Vec<Vec<TokenId>>>,
    /// The sequences that were only scored, call by call.
    pub scored: Vec<Vec<Vec<TokenId>>>,
}

impl<'s> Scripted<'s> {
    pub fn new(says: impl Fn(usize, &TrainSequence<'_>) -> SequenceScores + 's) -> Self {
        Self { says: Box::new(says), coefficients: Vec::new(), trained: Vec::new(), scored: Vec::new() }
    }

    /// Says `[logprobs, entropy, values]` of each sample, cut to what is read of it.
    pub fn streams(said: &'s [[Vec<f32>; 3]]) -> Self {
        Self::new(|index, sequence| {
            let cut = |stream: &Vec<f32>| stream[..stream.len().min(sequence.tokens.len())].to_vec();
            let [logprobs, entropy, values] = &said[index];
            SequenceScores { logprobs: cut(logprobs), entropy: cut(entropy), values: cut(values) }
        })
    }
}

fn tokens(sequences: &[TrainSequence<'_>]) -> Vec<Vec<TokenId>> {
    sequences.iter().map(|sequence| sequence.tokens.to_vec()).collect()
}

impl Trainer for Scripted<'_> {
    fn has_values(&self) -> bool {
        true
    }

    fn context_limit(&self) -> usize {
        100
    }

    fn score(&mut self, sequences: &[TrainSequence<'_>], _: f32) -> Result<Vec<SequenceScores>, TrainError> {
        self.scored.push(tokens(sequences));
        Ok(sequences.iter().enumerate().map(|(at, sequence)| (self.says)(at, sequence)).collect())
    }

    fn accumulate(
        &mut self,
        sequences: &[TrainSequence<'_>],
        _: f32,
        coefficients: &CoefficientsOf<'_>,
    ) -> Result<(), TrainError> {
        self.trained.push(tokens(sequences));
        let said = sequences.iter().enumerate().map(|(at, sequence)| (self.says)(at, sequence));
        let said: Vec<SequenceScores> = said.collect();
        self.coefficients =
            said.iter().enumerate().map(|(at, scores)| coefficients(&scores.outputs(at))).collect();
        Ok(())
    }

    fn clear_gradients(&mut self) {}

    fn apply(&mut self, _: &AdamWSettings) -> Result<UpdateStats, TrainError> {
        Ok(UpdateStats { grad_norm: 1.0, clipped: false })
    }
}

/// A reference that says a function of the sequence.
pub struct Says<F>(pub F);

impl<F: Fn(usize, &TrainSequence<'_>) -> Vec<f32>> Reference for Says<F> {
    fn logprobs(&self, sequences: &[TrainSequence<'_>], _: f32) -> Result<Vec<Vec<f32>>, TrainError> {
        Ok(sequences.iter().enumerate().map(|(at, sequence)| (self.0)(at, sequence)).collect())
    }
}

/// A reference that says these streams of the samples that count, in their order.
pub fn fixed(streams: &[Vec<f32>]) -> impl Reference + '_ {
    Says(|at: usize, sequence: &TrainSequence<'_>| streams[at][..sequence.tokens.len()].to_vec())
}
