//! Supervised steps on plain sequences: warm starts, imitation, self-distillation.

use crate::batch::read_length;
use crate::{Batch, Dropped, Entry, LearnError, Learner, UpdateReport, check};
use merit_api::trainer::Trainer;
use merit_core::TokenId;

/// A sequence to be imitated.
#[derive(Debug, Clone, PartialEq)]
pub struct SftSequence {
    pub tokens: Vec<TokenId>,
    /// True where the token is to be imitated; one entry per token. The first token cannot be.
    pub mask: Vec<bool>,
    /// How much the sequence counts; 0 leaves it out.
    pub weight: f32,
}

impl Learner {
    /// One optimiser step that makes the masked tokens of `sequences` likelier, with this learner's optimiser, schedule and
    /// loss aggregation, whatever its objective. The loss in the report is the mean negative log-likelihood.
    pub fn sft_step(
        &self,
        trainer: &mut dyn Trainer,
        sequences: &[SftSequence],
        step: u64,
    ) -> Result<UpdateReport, LearnError> {
        let (mut entries, mut dropped) = (Vec::new(), Dropped::default());
        for (at, sequence) in sequences.iter().enumerate() {
            let name = || format!("sequence {at}");
            check::length(&name, "mask", sequence.mask.len(), sequence.tokens.len())?;
            check::context(&name, &sequence.mask)?;
            check::weight(&name, sequence.weight)?;
            if !sequence.mask.contains(&true) {
                dropped.masked += 1;
            } else if sequence.weight == 0.0 {
                dropped.deselected += 1;
            } else {
                entries.push(Entry { whole: at, ..entry(name(), sequence) });
            }
        }
        self.supervise(trainer, &Batch::of_entries(entries, dropped), step)
    }
}

fn entry(name: String, sequence: &SftSequence) -> Entry<'_> {
    let read = read_length(&sequence.mask);
    Entry {
        name,
        whole: 0,
        group: 0,
        tokens: &sequence.tokens[..read],
        mask: sequence.mask[..read].to_vec(),
        weight: f64::from(sequence.weight),
        fresh: false,
        old_logprobs: None,
        advantages: None,
        old_values: None,
        returns: None,
        reference: None,
        old_entropy: None,
        reward: None,
        group_reward: None,
        own_reward: None,
    }
}
