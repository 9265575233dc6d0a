//! What goes into a training or scoring pass and what comes out, aligned to the tokens of each sequence.

use crate::{DecoderConfig, ModelError};
use merit_api::trainer::{Coefficients, SequenceScores, TrainSequence};

/// Makes the streams `len` tokens long and all zero.
pub(crate) fn reset(scores: &mut SequenceScores, len: usize, value_head: bool) {
    for (stream, len) in [
        (&mut scores.logprobs, len),
        (&mut scores.entropy, len),
        (&mut scores.values, if value_head { len } else { 0 }),
    ] {
        stream.clear();
        stream.resize(len, 0.0);
    }
}

/// Refuses coefficients that are not aligned to the `want` tokens of their sequence.
pub(crate) fn check_coefficients(of: &Coefficients, index: usize, want: usize) -> Result<(), ModelError> {
    let streams = [("logprob", &of.logprob), ("entropy", &of.entropy), ("value", &of.value)];
    for (stream, values) in streams {
        if !values.is_empty() && values.len() != want {
            return Err(ModelError::Coefficients { index, stream, got: values.len(), want });
        }
    }
    Ok(())
}

/// Positions that must be read: everything before the last needed one.
pub(crate) fn rows(sequence: &TrainSequence<'_>) -> usize {
    sequence.needed.iter().rposition(|&needed| needed).unwrap_or(0)
}

/// Refuses a sequence that a decoder of this shape cannot read.
pub(crate) fn check_sequence(
    sequence: &TrainSequence<'_>,
    index: usize,
    config: &DecoderConfig,
) -> Result<(), ModelError> {
    let fault = |reason: String| Err(ModelError::Sequence { index, reason });
    let len = sequence.tokens.len();
    if sequence.needed.len() != len {
        return fault(format!("`needed` has {} entries for {len} tokens", sequence.needed.len()));
    }
    if len > config.max_context {
        return fault(format!("{len} tokens, but the context holds {}", config.max_context));
    }
    if sequence.needed.first() == Some(&true) {
        return fault("the first token has no context, so its log-probability cannot be needed".into());
    }
    if let Some(token) = sequence.tokens.iter().find(|token| token.0 as usize >= config.vocab) {
        return fault(format!("token {} is outside the vocabulary of {}", token.0, config.vocab));
    }
    Ok(())
}

/// Cuts a batch into shards of whole consecutive sequences of about `most` rows each.
pub(crate) fn shards(sequences: &[TrainSequence], most: usize) -> Vec<std::ops::Range<usize>> {
    let mut cuts = Vec::new();
    let (mut first, mut sum) = (0, 0);
    for (index, sequence) in sequences.iter().enumerate() {
        if index > first && sum + rows(sequence) > most {
            cuts.push(first..index);
            (first, sum) = (index, 0);
        }
        sum += rows(sequence);
    }
    if first < sequences.len() {
        cuts.push(first..sequences.len());
    }
    cuts
}
