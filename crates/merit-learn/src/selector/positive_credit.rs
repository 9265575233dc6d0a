//! Only samples that did better than their baseline count.

use super::Candidate;
use crate::LearnError;
use merit_core::About;

pub(super) const ABOUT: About = About {
    name: "positive-credit",
    summary: "only samples whose credit sums to more than 0 count",
    paper: "RAFT, arXiv:2304.06767",
};

pub(super) fn factors(candidates: &[Candidate<'_>]) -> Result<Vec<f64>, LearnError> {
    let factor = |candidate: &Candidate<'_>| {
        let credit: f64 = candidate.credit("selector `positive-credit`")?.map(f64::from).sum();
        Ok(if credit > 0.0 { 1.0 } else { 0.0 })
    };
    candidates.iter().map(factor).collect()
}
