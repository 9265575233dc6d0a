//! What goes into a training or scoring pass and what comes out, aligned to the tokens of each sequence.

use crate::{DecoderConfig, ModelError};
use merit_core::TokenId;

/// One sequence to be scored or trained on.
#[derive(Debug, Clone, Copy)]
pub struct TrainSequence<'a> {
    /// The whole sequence; at most the model's context.
    pub tokens: &'a [TokenId],
    /// As long as `tokens`; true at the positions (from 1 on) whose log-probability is needed.
    pub needed: &'a [bool],
}

/// What the model says of one sequence; all streams are aligned to its tokens and 0 where nothing was needed.
#[derive(Debug, Clone, Copy)]
pub struct SequenceOutputs<'a> {
    /// The sequence's place in the batch.
    pub index: usize,
    /// `log p(tokens[t] | tokens[..t])` at the temperature asked for.
    pub logprobs: &'a [f32],
    /// Entropy of the distribution that token t was drawn from, in nats, at the same temperature.
    pub entropy: &'a [f32],
    /// Value before token t is chosen; empty without a value head.
    pub values: &'a [f32],
}

/// The derivative of the loss with respect to each output; an empty stream is all zeros.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coefficients {
    /// `dLoss / dlogprobs[t]`
    pub logprob: Vec<f32>,
    /// `dLoss / dentropy[t]`
    pub entropy: Vec<f32>,
    /// `dLoss / dvalues[t]`; ignored without a value head.
    pub value: Vec<f32>,
}

/// The outputs of one sequence, kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SequenceScores {
    /// As in [`SequenceOutputs`].
    pub logprobs: Vec<f32>,
    /// As in [`SequenceOutputs`].
    pub entropy: Vec<f32>,
    /// As in [`SequenceOutputs`].
    pub values: Vec<f32>,
}

impl SequenceScores {
    pub(crate) fn reset(&mut self, len: usize, value_head: bool) {
        for (stream, len) in [
            (&mut self.logprobs, len),
            (&mut self.entropy, len),
            (&mut self.values, if value_head { len } else { 0 }),
        ] {
            stream.clear();
            stream.resize(len, 0.0);
        }
    }

    pub(crate) fn outputs(&self, index: usize) -> SequenceOutputs<'_> {
        SequenceOutputs { index, logprobs: &self.logprobs, entropy: &self.entropy, values: &self.values }
    }
}

impl Coefficients {
    pub(crate) fn check(&self, index: usize, want: usize) -> Result<(), ModelError> {
        let streams = [("logprob", &self.logprob), ("entropy", &self.entropy), ("value", &self.value)];
        for (stream, values) in streams {
            if !values.is_empty() && values.len() != want {
                return Err(ModelError::Coefficients { index, stream, got: values.len(), want });
            }
        }
        Ok(())
    }
}

impl TrainSequence<'_> {
    /// Positions that must be read: everything before the last needed one.
    pub(crate) fn rows(&self) -> usize {
        self.needed.iter().rposition(|&needed| needed).unwrap_or(0)
    }

    pub(crate) fn check(&self, index: usize, config: &DecoderConfig) -> Result<(), ModelError> {
        let fault = |reason: String| Err(ModelError::Sequence { index, reason });
        let len = self.tokens.len();
        if self.needed.len() != len {
            return fault(format!("`needed` has {} entries for {len} tokens", self.needed.len()));
        }
        if len > config.max_context {
            return fault(format!("{len} tokens, but the context holds {}", config.max_context));
        }
        if self.needed.first() == Some(&true) {
            return fault("the first token has no context, so its log-probability cannot be needed".into());
        }
        if let Some(token) = self.tokens.iter().find(|token| token.0 as usize >= config.vocab) {
            return fault(format!("token {} is outside the vocabulary of {}", token.0, config.vocab));
        }
        Ok(())
    }
}

/// Cuts a batch into shards of whole consecutive sequences of about `most` rows each.
pub(crate) fn shards(sequences: &[TrainSequence], most: usize) -> Vec<std::ops::Range<usize>> {
    let mut cuts = Vec::new();
    let (mut first, mut rows) = (0, 0);
    for (index, sequence) in sequences.iter().enumerate() {
        if index > first && rows + sequence.rows() > most {
            cuts.push(first..index);
            (first, rows) = (index, 0);
        }
        rows += sequence.rows();
    }
    if first < sequences.len() {
        cuts.push(first..sequences.len());
    }
    cuts
}
