//! What the terms did over a batch: how often each spoke, failed to parse or broke, and whose variance the reward carries.

use crate::run_term::value_of;
use crate::value::Value;
use crate::{RewardState, ScoreContext, Scorer};
use merit_core::{ScoredEpisode, TermOutcome};
use serde::Serialize;

/// One term over a batch of scored episodes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TermSummary {
    pub name: String,
    /// Episodes where it gave a value.
    pub values: usize,
    /// Episodes of which it had nothing to say.
    pub not_applicable: usize,
    /// Episodes it could not parse, whichever path they took.
    pub parse_failures: usize,
    /// Episodes on which it broke.
    pub grader_failures: usize,
    /// Mean raw value over `values`; 0 when there is none.
    pub mean: f64,
    /// Variance of the difference it makes to the reward (the reward less what it would be with the term at its mean), as a share
    /// of the sum over all terms; 0 when nothing varies. In a plain sum that is the variance of weight × value. Over episodes
    /// that count; a term that is left out stands at 0, a parse failure at what its path says.
    pub variance_share: f64,
}

/// Episodes that were scored together, and what their reward depended on.
#[derive(Debug, Clone)]
pub struct ScoredTogether<'a> {
    /// The step and what else the reward could see.
    pub context: &'a ScoreContext,
    /// What the reward had kept by then.
    pub state: &'a RewardState,
    pub scored: Vec<&'a ScoredEpisode>,
}

impl Scorer {
    /// Every term over what was scored, in the order of the file. A late rise in the share of a cosmetic term says that the
    /// advantage is no longer about the task.
    pub fn summarise(&self, batches: &[ScoredTogether<'_>]) -> Vec<TermSummary> {
        let all: Vec<&ScoredEpisode> = batches.iter().flat_map(|batch| &batch.scored).copied().collect();
        let mut summaries: Vec<TermSummary> =
            (0..self.terms.len()).map(|term| self.summarise_term(term, &all)).collect();
        for (name, share) in self.term_variance_shares(batches) {
            summaries.iter_mut().filter(|s| s.name == name).for_each(|s| s.variance_share = share);
        }
        summaries
    }

    /// Each term's share of the variance, by name; see [`TermSummary::variance_share`].
    pub fn term_variance_shares(&self, batches: &[ScoredTogether<'_>]) -> Vec<(String, f64)> {
        let variances: Vec<f64> =
            (0..self.terms.len()).map(|term| variance(&self.differences(term, batches))).collect();
        let total: f64 = variances.iter().sum();
        let share = |v: f64| if total > 0.0 { v / total } else { 0.0 };
        let names = self.terms.iter().map(|t| t.name.clone());
        names.zip(variances.into_iter().map(share)).collect()
    }

    /// What `term` changes in the reward of each episode that counts, against the term at its mean.
    fn differences(&self, term: usize, batches: &[ScoredTogether<'_>]) -> Vec<f64> {
        let counting =
            batches.iter().flat_map(|batch| &batch.scored).filter(|scored| scored.reward().is_some());
        let values: Vec<f64> = counting.filter_map(|scored| self.entered(term, scored)).collect();
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            return Vec::new();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let of_batch = |batch: &ScoredTogether<'_>| -> Vec<f64> {
            let scored: Vec<&ScoredEpisode> =
                batch.scored.iter().copied().filter(|scored| scored.score.is_some()).collect();
            let frozen = self.rewards_with(term, mean, &scored, batch.context, batch.state);
            let pairs = scored.iter().zip(frozen);
            pairs
                .filter_map(|(scored, frozen)| Some(scored.reward()? - frozen.or(scored.reward())?))
                .collect()
        };
        batches.iter().flat_map(of_batch).collect()
    }

    /// What a term enters the reward as, before its weight: 0 where it is left out.
    fn entered(&self, term: usize, scored: &ScoredEpisode) -> Option<f64> {
        let found = scored.score.as_ref()?.terms.get(term)?;
        Some(match value_of(&found.outcome, self.terms[term].on_parse_failure) {
            Value::Number(raw) => raw,
            _ => 0.0,
        })
    }

    fn summarise_term(&self, term: usize, batch: &[&ScoredEpisode]) -> TermSummary {
        let name = self.terms[term].name.clone();
        let mut summary = TermSummary { name, ..TermSummary::default() };
        let found = batch.iter().filter_map(|scored| scored.score.as_ref()?.terms.get(term));
        for score in found {
            match score.outcome {
                TermOutcome::Value { value } => {
                    summary.values += 1;
                    summary.mean += (value - summary.mean) / summary.values as f64;
                }
                TermOutcome::NotApplicable { .. } => summary.not_applicable += 1,
                TermOutcome::ParseFailure { .. } => summary.parse_failures += 1,
                TermOutcome::GraderFailed { .. } => summary.grader_failures += 1,
            }
        }
        summary
    }
}

fn variance(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (numbers.len() - 1) as f64
}
