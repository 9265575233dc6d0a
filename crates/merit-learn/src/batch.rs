//! The batch as the learner executes it: which samples count, which of their tokens, how much, and which have a loss together.
//!
//! In: samples. Out: entries that count, each with at least one trained token and a positive weight, in units of the objective's
//! making. An episode whose outcome does not count has an empty mask, leaves here, and is seen by nothing after: neither loss
//! nor denominator nor minibatch split.

use crate::objective::Recorded;
use crate::selector::Candidate;
use crate::windowed::Piece;
use crate::{LearnConfig, LearnError, Objective, check};
use merit_api::trainer::{Reference, TrainError, TrainSequence, Trainer};
use merit_core::registry::Chosen;
use merit_core::{PolicyVersion, Sample, Seed, TokenId};
use std::collections::{BTreeMap, BTreeSet};

/// One sample that counts. Streams have one entry per token; an absent one is not needed or not there.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// What error messages call it.
    pub name: String,
    /// The sample it is of, by its place; the turns of a sample that was read through a window share it.
    pub whole: usize,
    /// Position of its group in the batch.
    pub group: usize,
    /// The tokens, up to the last one that is trained.
    pub tokens: &'a [TokenId],
    /// True where the token is trained.
    pub mask: Vec<bool>,
    /// How much it counts; above 0.
    pub weight: f64,
    /// Whether the policy that is about to change sampled it, so that its log-probabilities must come out the same.
    pub fresh: bool,
    /// Log-probabilities when the tokens were chosen. Absent: they were not sampled on-policy.
    pub old_logprobs: Option<&'a [f32]>,
    /// One advantage per token. Absent: no credit rule has run.
    pub advantages: Option<&'a [f32]>,
    /// Values when the tokens were chosen.
    pub old_values: Option<&'a [f32]>,
    /// What the values should be.
    pub returns: Option<&'a [f32]>,
    /// Log-probabilities under the reference policy.
    pub reference: Option<Vec<f32>>,
    /// Entropies of the policy as it was when the update began.
    pub old_entropy: Option<Vec<f32>>,
    /// The reward of the episode.
    pub reward: Option<f64>,
    /// The mean reward of the group, over its samples that have one.
    pub group_reward: Option<f64>,
    /// The same over those that the policy sampled.
    pub own_reward: Option<f64>,
}

impl Entry<'_> {
    /// How many tokens are trained.
    pub fn trained(&self) -> usize {
        self.mask.iter().filter(|&&m| m).count()
    }

    /// The entry as a model reads it.
    pub fn sequence(&self) -> TrainSequence<'_> {
        TrainSequence { tokens: self.tokens, needed: &self.mask }
    }
}

/// Samples that do not count, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Nothing left to train: the outcome does not count, or the mask took everything.
    pub masked: usize,
    /// The selector, the sample's own weight or the objective left it out.
    pub deselected: usize,
}

/// The samples that count, in the order of the batch.
#[derive(Debug, Clone)]
pub struct Batch<'a> {
    pub entries: Vec<Entry<'a>>,
    /// Positions of entries that have a loss together; every entry is in one unit.
    pub units: Vec<Vec<usize>>,
    /// Positions of units that stay in one minibatch: those of one sample.
    pub bundles: Vec<Vec<usize>>,
    /// Samples that do not count.
    pub dropped: Dropped,
}

impl<'a> Batch<'a> {
    /// Masks, checks, selects and puts together. `now` is the policy that is about to change.
    pub fn of_samples(
        samples: &'a [Sample],
        config: &LearnConfig,
        now: PolicyVersion,
    ) -> Result<Self, LearnError> {
        Self::of_pieces(samples, None, config, now)
    }

    /// The same, where `pieces` are those of the samples that were read through a window.
    pub(crate) fn of_pieces(
        samples: &'a [Sample],
        pieces: Option<&'a [Vec<Piece>]>,
        config: &LearnConfig,
        now: PolicyVersion,
    ) -> Result<Self, LearnError> {
        let mut kept: Vec<(usize, Vec<bool>)> = Vec::new();
        for (at, sample) in samples.iter().enumerate() {
            check::aligned(sample)?;
            let mask = config.mask.of(sample);
            if mask.contains(&true) {
                check::sample(sample, &mask, config)?;
                kept.push((at, mask));
            }
        }
        let masked = samples.len() - kept.len();
        let candidates: Vec<Candidate<'_>> =
            kept.iter().map(|(at, mask)| Candidate { sample: &samples[*at], mask }).collect();
        let factors = config.selector.factors(&candidates)?;
        let rewards = group_rewards(samples.iter());
        let own_rewards = group_rewards(samples.iter().filter(|sample| sample.on_policy));
        let mut entries = Vec::new();
        for ((at, mask), factor) in kept.into_iter().zip(factors) {
            let weight = factor * f64::from(samples[at].weight);
            if weight > 0.0 {
                let group_reward = rewards.get(&samples[at].group).copied();
                let own_reward = own_rewards.get(&samples[at].group).copied();
                let entry = |sample: &'a Sample, mask: Vec<bool>| Entry {
                    whole: at,
                    group_reward,
                    own_reward,
                    ..entry(sample, mask, weight, now)
                };
                match pieces.map(|pieces| pieces[at].as_slice()).filter(|pieces| !pieces.is_empty()) {
                    None => entries.push(entry(&samples[at], mask)),
                    Some(pieces) => {
                        let masked = pieces.iter().map(|piece| (piece, piece.mask(&mask)));
                        let trained = masked.filter(|(_, mask)| mask.contains(&true));
                        entries.extend(trained.map(|(piece, mask)| entry(&piece.sample, mask)));
                    }
                }
            }
        }
        let units = units(&entries, &config.objective)?;
        let (entries, units) = without_the_rest(entries, units);
        let deselected = samples.len() - masked - wholes(&entries);
        Ok(Self {
            bundles: bundles(&entries, &units),
            entries,
            units,
            dropped: Dropped { masked, deselected },
        })
    }

    /// Keeps the first `most` trained tokens of the entries in random order; the entry that goes over is cut. Only where every
    /// entry has a loss of its own.
    pub fn cut(&mut self, most: usize, seed: &Seed) {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        seed.stream().shuffle(&mut order);
        let (mut left, mut kept) = (most, vec![false; self.entries.len()]);
        for at in order {
            let entry = &mut self.entries[at];
            for trained in entry.mask.iter_mut().filter(|trained| **trained) {
                *trained = left > 0;
                left = left.saturating_sub(1);
            }
            let length = read_length(&entry.mask);
            entry.mask.truncate(length);
            entry.tokens = &entry.tokens[..length];
            kept[at] = length > 0;
        }
        let mut at = kept.iter();
        self.dropped.deselected += kept.iter().filter(|kept| !**kept).count();
        self.entries.retain(|_| at.next().is_some_and(|kept| *kept));
        self.units = (0..self.entries.len()).map(|at| vec![at]).collect();
        self.bundles = bundles(&self.entries, &self.units);
    }

    /// Entries that each have a loss of their own.
    pub(crate) fn of_entries(entries: Vec<Entry<'a>>, dropped: Dropped) -> Self {
        let units: Vec<Vec<usize>> = (0..entries.len()).map(|at| vec![at]).collect();
        Self { bundles: bundles(&entries, &units), units, entries, dropped }
    }

    pub fn samples(&self) -> usize {
        wholes(&self.entries)
    }

    /// Takes down the entropies of the policy before it changes. `step` is named in errors.
    pub fn remember_entropies(
        &mut self,
        trainer: &mut dyn Trainer,
        temperature: f32,
        step: u64,
    ) -> Result<(), LearnError> {
        let sequences: Vec<TrainSequence<'_>> = self.entries.iter().map(Entry::sequence).collect();
        let scores = trainer.score(&sequences, temperature).map_err(|error| self.in_words(error, step))?;
        for (entry, scores) in self.entries.iter_mut().zip(scores) {
            check::stream(&|| entry.name.clone(), "old_entropy", &scores.entropy, &entry.mask)?;
            entry.old_entropy = Some(scores.entropy);
        }
        Ok(())
    }

    fn in_words(&self, error: TrainError, step: u64) -> LearnError {
        match error {
            TrainError::Sequence { index, reason } => {
                LearnError::Sequence { step, sample: self.entries[index].name.clone(), reason }
            }
            source => LearnError::Model { step, source },
        }
    }

    /// Asks the reference policy for the log-probabilities of every entry. `step` is named in errors.
    pub fn refer(
        &mut self,
        reference: &dyn Reference,
        temperature: f32,
        step: u64,
    ) -> Result<(), LearnError> {
        let sequences: Vec<TrainSequence<'_>> = self.entries.iter().map(Entry::sequence).collect();
        let streams = reference.logprobs(&sequences, temperature);
        let streams = streams.map_err(|error| self.in_words(error, step))?;
        for (entry, stream) in self.entries.iter_mut().zip(streams) {
            check::stream(&|| entry.name.clone(), "reference", &stream, &entry.mask)?;
            entry.reference = Some(stream);
        }
        Ok(())
    }
}

/// How many samples these are of.
fn wholes(entries: &[Entry<'_>]) -> usize {
    entries.iter().map(|entry| entry.whole).collect::<BTreeSet<usize>>().len()
}

/// Units put together where they are turns of one sample.
pub(crate) fn bundles(entries: &[Entry<'_>], units: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut bundles: Vec<Vec<usize>> = Vec::new();
    let mut last = None;
    for (at, unit) in units.iter().enumerate() {
        let whole = match unit[..] {
            [entry] => Some(entries[entry].whole),
            _ => None,
        };
        match bundles.last_mut().filter(|_| whole.is_some() && whole == last) {
            Some(bundle) => bundle.push(at),
            None => bundles.push(vec![at]),
        }
        last = whole;
    }
    bundles
}

/// The mean reward of each group, over its samples that have one.
fn group_rewards<'a>(samples: impl Iterator<Item = &'a Sample>) -> BTreeMap<usize, f64> {
    let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for (group, reward) in samples.filter_map(|s| Some((s.group, s.reward?))) {
        let (sum, count) = sums.entry(group).or_default();
        (*sum, *count) = (*sum + reward, *count + 1);
    }
    sums.into_iter().map(|(group, (sum, count))| (group, sum / count as f64)).collect()
}

/// The objective's units, once they are found disjoint.
pub(crate) fn units(
    entries: &[Entry<'_>],
    objective: &Chosen<dyn Objective>,
) -> Result<Vec<Vec<usize>>, LearnError> {
    let (name, needs) = (objective.about().name, objective.needs());
    let recorded: Vec<Recorded<'_>> = entries.iter().map(|entry| Recorded::new(entry, needs)).collect();
    let units = objective.units(&recorded);
    let mut units = units.map_err(|source| LearnError::Undeclared { objective: name, source })?;
    units.retain(|unit| !unit.is_empty());
    let mut free = vec![true; entries.len()];
    for &at in units.iter().flatten() {
        if !free.get_mut(at).is_some_and(std::mem::take) {
            return Err(LearnError::Units { objective: name, at, samples: entries.len() });
        }
    }
    Ok(units)
}

/// Leaves out the entries that are in no unit.
fn without_the_rest(entries: Vec<Entry<'_>>, units: Vec<Vec<usize>>) -> (Vec<Entry<'_>>, Vec<Vec<usize>>) {
    let mut places: BTreeMap<usize, usize> = units.iter().flatten().map(|&at| (at, 0)).collect();
    places.values_mut().enumerate().for_each(|(place, to)| *to = place);
    let kept = entries.into_iter().enumerate().filter(|(at, _)| places.contains_key(at));
    let kept = kept.map(|(_, entry)| entry).collect();
    let moved = units.into_iter().map(|unit| unit.into_iter().map(|at| places[&at]).collect());
    (kept, moved.collect())
}

/// How many tokens the model must read to train those of `mask`: what follows the last one is not read, and an
/// episode that its context limit cut may be longer than the context.
pub(crate) fn read_length(mask: &[bool]) -> usize {
    mask.iter().rposition(|&m| m).map_or(0, |last| last + 1)
}

fn entry(sample: &Sample, mut mask: Vec<bool>, weight: f64, now: PolicyVersion) -> Entry<'_> {
    mask.truncate(read_length(&mask));
    Entry {
        name: format!("episode {}", sample.episode),
        whole: 0,
        group: sample.group,
        tokens: &sample.tokens[..mask.len()],
        mask,
        weight,
        fresh: sample.on_policy && sample.policy_version == now,
        old_logprobs: sample.on_policy.then_some(sample.logprobs.as_slice()),
        advantages: sample.advantages.as_deref(),
        old_values: (!sample.values.is_empty()).then_some(sample.values.as_slice()),
        returns: sample.returns.as_deref(),
        reference: None,
        old_entropy: None,
        reward: sample.reward,
        group_reward: None,
        own_reward: None,
    }
}
