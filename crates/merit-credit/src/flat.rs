//! The samples of a batch as the flat streams that the kernels work on, and back.

use crate::credit::samples_of;
use crate::kernels::Rows;
use crate::token_rewards::token_rewards;
use crate::{CreditError, Note, TokenReward};
use merit_core::{Group, Sample, ScoredEpisode};

/// A batch laid out flat: one row per sample.
pub(crate) struct Flat<'a> {
    pub(crate) episodes: Vec<&'a ScoredEpisode>,
    pub(crate) samples: Vec<Sample>,
    /// Where the reward of each sample falls.
    pub(crate) paid: Vec<Vec<TokenReward>>,
    /// The same rewards, one entry per token.
    pub(crate) rewards: Vec<f64>,
    bounds: Vec<usize>,
    mask: Vec<bool>,
}

impl<'a> Flat<'a> {
    pub(crate) fn of(groups: &'a [Group]) -> Result<Self, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<_>) = samples_of(groups, Sample::of)?.into_iter().unzip();
        let mut flat = Self {
            episodes,
            samples: Vec::new(),
            paid: Vec::new(),
            rewards: Vec::new(),
            bounds: vec![0],
            mask: Vec::new(),
        };
        for (scored, sample) in flat.episodes.iter().zip(&samples) {
            let start = flat.mask.len();
            flat.mask.extend_from_slice(&sample.mask);
            flat.bounds.push(flat.mask.len());
            flat.rewards.resize(flat.mask.len(), 0.0);
            let paid = token_rewards(scored, sample)?;
            paid.iter().for_each(|p| flat.rewards[start + p.token] += p.reward);
            flat.paid.push(paid);
        }
        flat.samples = samples;
        Ok(flat)
    }

    pub(crate) fn rows(&self) -> Result<Rows<'_>, CreditError> {
        Rows::new(&self.bounds, &self.mask)
    }

    pub(crate) fn len(&self) -> usize {
        self.mask.len()
    }

    /// The part of a flat stream that belongs to a sample.
    pub(crate) fn cut(&self, stream: &[f32], sample: usize) -> Vec<f32> {
        stream[self.bounds[sample]..self.bounds[sample + 1]].to_vec()
    }

    /// One note per sample: `lines` of where its reward falls and of its position, or that its outcome is not valid.
    pub(crate) fn notes<const N: usize>(
        &self,
        lines: impl Fn(&[TokenReward], usize) -> [String; N],
    ) -> Vec<Note> {
        let note = |(at, scored): (usize, &&ScoredEpisode)| match scored.outcome() {
            outcome if outcome.is_valid() => Note::new(lines(&self.paid[at], at)),
            outcome => Note::excluded(outcome),
        };
        self.episodes.iter().enumerate().map(note).collect()
    }
}
