//! Answers that people have graded, and how far a judge that gives numbers agrees with the grades.
//!
//! In: single answers with their grades. Out: rank correlations, which know no scale, and the weighted kappa, for which both stand on a
//! scale from 0 to 1. What the judge did not give a number is left out and counted.

use crate::agreement::{Metric, kappa, kendall, spearman};
use crate::{Answer, Judge};
use merit_core::{Cost, Episode};
use serde::Serialize;
use std::sync::Arc;

/// An answer with the grade that a person gave it.
#[derive(Debug, Clone)]
pub struct Graded {
    /// Answers of one group share a prompt.
    pub group: String,
    pub grade: f64,
    pub episode: Arc<Episode>,
}

/// How far a judge agrees with grades.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Answers with a grade.
    pub answers: usize,
    /// Those that the judge gave a number.
    pub scored: usize,
    /// Spearman's rank correlation. Absent: one side is all alike.
    pub spearman: Option<f64>,
    /// Kendall's tau-b. Absent as above.
    pub kendall: Option<f64>,
    /// Cohen's kappa with quadratic weights. The lowest grade that occurs is 0 and the highest 1. Absent: the numbers of the judge are not
    /// from 0 to 1, or one side is all alike.
    pub weighted_kappa: Option<f64>,
    pub cost: Cost,
}

/// Lets the judge score every answer, and compares.
pub fn agreement(judge: &mut dyn Judge, graded: &[Graded]) -> Agreement {
    let episodes: Vec<Arc<Episode>> = graded.iter().map(|one| Arc::clone(&one.episode)).collect();
    let answers = judge.score(&episodes);
    let one = |(answer, graded): (&Answer, &Graded)| Some((answer.verdict.value()?, graded.grade));
    let said: Vec<(f64, f64)> = answers.iter().zip(graded).filter_map(one).collect();
    Agreement {
        answers: graded.len(),
        scored: said.len(),
        spearman: spearman(&said),
        kendall: kendall(&said),
        weighted_kappa: on_one_scale(&said, graded).and_then(|said| kappa(&said, Metric::Interval)),
        cost: answers.iter().map(|answer| answer.cost).sum(),
    }
}

/// A grade from 0, the lowest of these, to 1, the highest. Absent: all are alike.
pub(crate) fn share(grade: f64, all: &[Graded]) -> Option<f64> {
    let low = all.iter().map(|one| one.grade).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|one| one.grade).fold(f64::NEG_INFINITY, f64::max);
    (high > low).then(|| (grade - low) / (high - low))
}

fn on_one_scale(said: &[(f64, f64)], graded: &[Graded]) -> Option<Vec<(f64, f64)>> {
    let inside = said.iter().all(|(value, _)| (0.0..=1.0).contains(value));
    let one = |(value, grade): &(f64, f64)| Some((*value, share(*grade, graded)?));
    if inside { said.iter().map(one).collect() } else { None }
}
