//! The samples of a batch as the flat streams that the kernels work on, and back.

use crate::credit::samples_of;
use crate::kernels::Rows;
use crate::pay::payments;
use crate::{CreditError, Payment};
use merit_core::{Group, Sample, ScoredEpisode};

/// A batch laid out flat: one row per sample.
pub(crate) struct Flat<'a> {
    pub(crate) episodes: Vec<&'a ScoredEpisode>,
    pub(crate) samples: Vec<Sample>,
    /// The payments of each sample.
    pub(crate) payments: Vec<Vec<Payment>>,
    /// The same payments, one entry per token.
    pub(crate) rewards: Vec<f64>,
    bounds: Vec<usize>,
    mask: Vec<bool>,
}

impl<'a> Flat<'a> {
    pub(crate) fn of(groups: &'a [Group]) -> Result<Self, CreditError> {
        let (episodes, samples): (Vec<_>, Vec<_>) = samples_of(groups)?.into_iter().unzip();
        let mut flat = Self {
            episodes,
            samples: Vec::new(),
            payments: Vec::new(),
            rewards: Vec::new(),
            bounds: vec![0],
            mask: Vec::new(),
        };
        for (scored, sample) in flat.episodes.iter().zip(&samples) {
            let start = flat.mask.len();
            flat.mask.extend_from_slice(&sample.mask);
            flat.bounds.push(flat.mask.len());
            flat.rewards.resize(flat.mask.len(), 0.0);
            let paid = payments(scored, sample)?;
            paid.iter().for_each(|p| flat.rewards[start + p.token] += p.reward);
            flat.payments.push(paid);
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
}
