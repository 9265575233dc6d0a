//! What a credit rule hands over: samples with advantages, a report, and a note of where the numbers come from.

use crate::error::CreditError;
use merit_core::{Group, Outcome, Sample, SampleError, ScoredEpisode};
use serde::Serialize;
use std::collections::BTreeMap;

/// Samples with credit, in the order of the groups and of their members.
#[derive(Debug, Clone)]
pub struct Credit {
    /// One per episode, valid or not.
    pub samples: Vec<Sample>,
    /// Where the advantages of each sample come from; as many as samples.
    pub notes: Vec<Note>,
    pub report: CreditReport,
    /// What else the rule has measured, by name; kept with the metrics of the step.
    pub numbers: Vec<(&'static str, f64)>,
}

/// A batch of credit in numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CreditReport {
    pub groups: usize,
    /// Groups whose valid members all have the same reward, or that have fewer than two of them.
    pub constant_groups: usize,
    /// Those among them that have fewer than two valid members.
    pub lone_groups: usize,
    pub episodes: usize,
    /// Episodes that got no credit because their outcome does not count, by outcome.
    pub excluded: BTreeMap<Outcome, usize>,
    /// Tokens that carry credit; the numbers below are over them, and 0 when there is none.
    pub trainable_tokens: usize,
    pub advantage_mean: f64,
    /// Standard deviation of the advantages (divisor n).
    pub advantage_std: f64,
    pub advantage_largest: f64,
}

/// Where the advantages of one sample come from, in a few plain lines: the rewards, what they were compared with, the formula
/// with its numbers. Stored with the episode and shown by `merit show`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// The lines, without line ends.
    pub lines: Vec<String>,
}

impl Note {
    pub fn new(lines: impl IntoIterator<Item = String>) -> Self {
        Self { lines: lines.into_iter().collect() }
    }

    /// The note of an episode whose outcome is not valid.
    pub fn excluded(outcome: Outcome) -> Self {
        let name = outcome.name();
        Self::new([format!(
            "outcome {name}: not valid, so its mask is empty, its advantage 0, and the group's statistics are without it"
        )])
    }
}

/// A number as a person reads it: six decimals at most.
pub(crate) fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if trimmed == "-0" { "0".to_owned() } else { trimmed.to_owned() }
}

impl Credit {
    /// The hand-over of a rule: `samples` with their advantages, one note each.
    pub fn new(groups: &[Group], samples: Vec<Sample>, notes: Vec<Note>) -> Self {
        let report = report(groups, &samples);
        Self { samples, notes, report, numbers: Vec::new() }
    }

    /// Where the advantages of a sample come from, in words. `None` when there is no such sample.
    pub fn explain(&self, sample: usize) -> Option<String> {
        let (sample, note) = (self.samples.get(sample)?, self.notes.get(sample)?);
        let head = format!("sample {}, group {}\n", sample.episode, sample.group);
        Some(note.lines.iter().fold(head, |text, line| text + line + "\n"))
    }
}

/// One sample per episode, before credit, beside the episode it comes from.
pub(crate) fn samples_of(
    groups: &[Group],
    sample: impl Fn(&ScoredEpisode, usize) -> Result<Sample, SampleError>,
) -> Result<Vec<(&ScoredEpisode, Sample)>, CreditError> {
    let mut samples = Vec::new();
    for (position, group) in groups.iter().enumerate() {
        for scored in group.members() {
            if let Some(value) = scored.reward().filter(|r| !r.is_finite()) {
                let episode = scored.episode.id.clone();
                return Err(CreditError::NotFinite { episode, what: "reward", value });
            }
            samples.push((scored, sample(scored, position)?));
        }
    }
    Ok(samples)
}

fn report(groups: &[Group], samples: &[Sample]) -> CreditReport {
    let mut report = CreditReport {
        groups: groups.len(),
        constant_groups: groups.iter().filter(|g| g.constant()).count(),
        lone_groups: groups.iter().filter(|g| g.rewards().len() < 2).count(),
        episodes: samples.len(),
        ..CreditReport::default()
    };
    let outcomes = groups.iter().flat_map(Group::members).map(ScoredEpisode::outcome);
    for (outcome, sample) in outcomes.zip(samples) {
        if !outcome.is_valid() && sample.trainable() == 0 {
            *report.excluded.entry(outcome).or_default() += 1;
        }
    }
    let advantages = || samples.iter().flat_map(trained_advantages);
    let count = advantages().count();
    if count > 0 {
        let mean = advantages().sum::<f64>() / count as f64;
        let variance = advantages().map(|a| (a - mean) * (a - mean)).sum::<f64>() / count as f64;
        report.trainable_tokens = count;
        report.advantage_mean = mean;
        report.advantage_std = variance.sqrt();
        report.advantage_largest = advantages().fold(0.0, |most, a| most.max(a.abs()));
    }
    report
}

fn trained_advantages(sample: &Sample) -> impl Iterator<Item = f64> {
    let advantages = sample.advantages.as_deref().unwrap_or(&[]);
    advantages.iter().zip(&sample.mask).filter(|(_, m)| **m).map(|(a, _)| f64::from(*a))
}
