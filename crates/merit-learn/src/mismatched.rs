//! Mismatched pairs: the prompt of one sample, followed by what was said to the prompt of another group.
//!
//! In: a batch and the entries of one optimiser step. Out: `log(policy / reference)` of each pair as a whole. An objective that
//! needs a baseline for how far the policy has moved takes it from here.

use crate::batch::read_length;
use crate::{Batch, Entry};
use merit_api::trainer::{Reference, TrainError, TrainSequence, Trainer};
use merit_core::TokenId;

/// A prompt and what was said to another one.
struct Mismatched {
    tokens: Vec<TokenId>,
    needed: Vec<bool>,
}

/// `log(policy / reference)` of the pairs whose prompts are those of the entries at `positions`; empty when the batch is of one
/// group.
pub(crate) fn log_ratios(
    batch: &Batch<'_>,
    positions: &[usize],
    trainer: &mut dyn Trainer,
    reference: &dyn Reference,
    temperature: f32,
) -> Result<Vec<f64>, TrainError> {
    let limit = trainer.context_limit();
    let pairs: Vec<Mismatched> = positions.iter().filter_map(|&at| pair(&batch.entries, at, limit)).collect();
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let sequences: Vec<TrainSequence<'_>> =
        pairs.iter().map(|pair| TrainSequence { tokens: &pair.tokens, needed: &pair.needed }).collect();
    let policy = trainer.score(&sequences, temperature)?;
    let reference = reference.logprobs(&sequences, temperature)?;
    let ratio = |((pair, policy), reference): ((&Mismatched, &[f32]), &Vec<f32>)| {
        let tokens = policy.iter().zip(reference).zip(&pair.needed).filter(|(_, needed)| **needed);
        tokens.map(|((policy, reference), _)| f64::from(*policy) - f64::from(*reference)).sum()
    };
    let policy = policy.iter().map(|scores| scores.logprobs.as_slice());
    Ok(pairs.iter().zip(policy).zip(&reference).map(ratio).collect())
}

/// The prompt of the entry at `at` and the words of the next entry, in a circle, of another group; cut at `limit` tokens.
fn pair(entries: &[Entry<'_>], at: usize, limit: usize) -> Option<Mismatched> {
    let next = (1..entries.len()).map(|ahead| &entries[(at + ahead) % entries.len()]);
    let other = next.into_iter().find(|other| other.group != entries[at].group)?;
    let (prompt, said) = (first_trained(&entries[at]), first_trained(other));
    let mut tokens = [&entries[at].tokens[..prompt], &other.tokens[said..]].concat();
    let mut needed = [&vec![false; prompt], &other.mask[said..]].concat();
    needed.truncate(limit);
    needed.truncate(read_length(&needed));
    tokens.truncate(needed.len());
    (!needed.is_empty()).then_some(Mismatched { tokens, needed })
}

fn first_trained(entry: &Entry<'_>) -> usize {
    entry.mask.iter().position(|&m| m).unwrap_or(entry.mask.len())
}
