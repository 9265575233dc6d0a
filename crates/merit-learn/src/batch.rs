//! The batch as the learner executes it: which samples count, which of their tokens, and how much.
//!
//! In: samples, perhaps with a reference policy's log-probabilities. Out: entries that count, each with at least one trained
//! token and a positive weight. An episode whose outcome does not count has an empty mask, leaves here, and is seen by
//! nothing after: neither loss nor denominator nor minibatch split.

use crate::selector::Candidate;
use crate::{LearnConfig, LearnError, check};
use merit_core::{PolicyVersion, Sample, TokenId};

/// One sample that counts. Streams have one entry per token; an absent one is not needed or not there.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// What error messages call it.
    pub name: String,
    /// The tokens, up to the last one that is trained.
    pub tokens: &'a [TokenId],
    /// True where the token is trained.
    pub mask: Vec<bool>,
    /// How much it counts; above 0.
    pub weight: f64,
    /// Whether the policy that is about to change sampled it, so that its log-probabilities must come out the same.
    pub fresh: bool,
    /// Log-probabilities when the tokens were chosen. Absent: nobody sampled them on-policy.
    pub old_logprobs: Option<&'a [f32]>,
    /// Credit.
    pub advantages: Option<&'a [f32]>,
    /// Values when the tokens were chosen.
    pub old_values: Option<&'a [f32]>,
    /// What the values should be.
    pub value_targets: Option<&'a [f32]>,
    /// Log-probabilities under the reference policy.
    pub reference: Option<&'a [f32]>,
}

impl Entry<'_> {
    /// How many tokens are trained.
    pub fn trained(&self) -> usize {
        self.mask.iter().filter(|&&m| m).count()
    }
}

/// Samples that do not count, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Nothing left to train: the outcome does not count, or the mask took everything.
    pub masked: usize,
    /// The selector or the sample's own weight left it out.
    pub deselected: usize,
}

/// The samples that count, in the order of the batch.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    /// The samples that count.
    pub entries: Vec<Entry<'a>>,
    /// Those that do not.
    pub dropped: Dropped,
}

impl<'a> Batch<'a> {
    /// Masks, checks and selects. `reference` has one stream per sample, in the same order; `now` is the policy that is
    /// about to change.
    pub fn of_samples(
        samples: &'a [Sample],
        reference: Option<&'a [Vec<f32>]>,
        config: &LearnConfig,
        now: PolicyVersion,
    ) -> Result<Self, LearnError> {
        check::references(samples, reference, &config.objective)?;
        let mut kept: Vec<(usize, Vec<bool>)> = Vec::new();
        for (at, sample) in samples.iter().enumerate() {
            check::aligned(sample)?;
            let mask = config.mask.of(sample);
            if mask.contains(&true) {
                check::sample(sample, &mask, reference.map(|r| r[at].as_slice()), &config.objective)?;
                kept.push((at, mask));
            }
        }
        let masked = samples.len() - kept.len();
        let candidates: Vec<Candidate<'_>> =
            kept.iter().map(|(at, mask)| Candidate { sample: &samples[*at], mask }).collect();
        let factors = config.selector.factors(&candidates, now)?;
        let mut entries = Vec::new();
        let mut deselected = 0;
        for ((at, mask), factor) in kept.into_iter().zip(factors) {
            let weight = factor * f64::from(samples[at].weight);
            if weight > 0.0 {
                let reference = reference.map(|r| r[at].as_slice());
                entries.push(entry(&samples[at], mask, weight, now, reference));
            } else {
                deselected += 1;
            }
        }
        Ok(Self { entries, dropped: Dropped { masked, deselected } })
    }
}

/// How many tokens the model must read to train those of `mask`: what follows the last one is read by nobody, and an
/// episode that its context limit cut may be longer than the context.
pub(crate) fn read_length(mask: &[bool]) -> usize {
    mask.iter().rposition(|&m| m).map_or(0, |last| last + 1)
}

fn entry<'a>(
    sample: &'a Sample,
    mut mask: Vec<bool>,
    weight: f64,
    now: PolicyVersion,
    reference: Option<&'a [f32]>,
) -> Entry<'a> {
    mask.truncate(read_length(&mask));
    Entry {
        name: format!("episode {}", sample.episode),
        tokens: &sample.tokens[..mask.len()],
        mask,
        weight,
        fresh: sample.on_policy && sample.policy_version == now,
        old_logprobs: sample.on_policy.then_some(sample.logprobs.as_slice()),
        advantages: sample.advantages.as_deref(),
        old_values: (!sample.values.is_empty()).then_some(sample.values.as_slice()),
        value_targets: sample.returns.as_deref(),
        reference,
    }
}
