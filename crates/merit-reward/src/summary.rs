//! What the terms did over a batch: how often each spoke, failed to parse or broke, and whose variance the reward carries.

use crate::Scorer;
use crate::run_term::value_of;
use crate::value::Value;
use merit_core::{ScoredEpisode, TermOutcome};
use serde::Serialize;

/// One term over a batch of scored episodes.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TermSummary {
    /// The term.
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
    /// Variance of what it contributed (weight × value), as a share of the sum of all terms' variances; 0 when nothing
    /// varies. Over episodes that count; a term that is left out contributes 0, a parse failure what its path says.
    pub variance_share: f64,
}

impl Scorer {
    /// Every term over a batch, in the order of the file. A late rise in the share of a cosmetic term says that the
    /// advantage is no longer about the task.
    pub fn summarise(&self, batch: &[ScoredEpisode]) -> Vec<TermSummary> {
        let mut summaries: Vec<TermSummary> =
            (0..self.terms.len()).map(|term| self.summarise_term(term, batch)).collect();
        for (name, share) in self.term_variance_shares(batch) {
            summaries.iter_mut().filter(|s| s.name == name).for_each(|s| s.variance_share = share);
        }
        summaries
    }

    /// Each term's share of the variance, by name; see [`TermSummary::variance_share`].
    pub fn term_variance_shares(&self, batch: &[ScoredEpisode]) -> Vec<(String, f64)> {
        let variances: Vec<f64> =
            (0..self.terms.len()).map(|term| variance(&self.contributions(term, batch))).collect();
        let total: f64 = variances.iter().sum();
        let share = |v: f64| if total > 0.0 { v / total } else { 0.0 };
        let names = self.terms.iter().map(|t| t.name.clone());
        names.zip(variances.into_iter().map(share)).collect()
    }

    fn contributions(&self, term: usize, batch: &[ScoredEpisode]) -> Vec<f64> {
        let compiled = &self.terms[term];
        let counting = batch.iter().filter(|scored| scored.reward().is_some());
        let found = counting.filter_map(|scored| scored.score.as_ref()?.terms.get(term));
        found
            .map(|t| match value_of(&t.outcome, compiled.on_parse_failure) {
                Value::Number(raw) => raw * compiled.weight,
                _ => 0.0,
            })
            .collect()
    }

    fn summarise_term(&self, term: usize, batch: &[ScoredEpisode]) -> TermSummary {
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
