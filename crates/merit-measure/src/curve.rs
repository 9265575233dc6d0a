//! The learning curve and the reward's terms over the steps of training.
//!
//! The recorded metrics are taken where there are any; otherwise they are counted from the recorded episodes.

use crate::summary::learned;
use crate::{MeasureError, Rate};
use merit_core::Phase;
use merit_core::stats;
use merit_store::{EpisodeFilter, EpisodeRow, Metric, RunFolder};
use serde::Serialize;
use std::collections::BTreeMap;

/// Success over the steps of training.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Curve {
    /// In the order of steps.
    pub points: Vec<CurvePoint>,
    /// Groups whose members all had the same reward, per step: they teach nothing.
    pub constant_groups: Vec<(u64, f64)>,
}

/// One step of training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    pub step: u64,
    /// Mean success of the step's episodes.
    pub success: f64,
    /// Quartiles of success over the step's groups. Absent: not recorded.
    pub quartiles: Option<(f64, f64)>,
}

/// One term of the reward over the steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermSeries {
    pub name: String,
    /// Mean value per step.
    pub means: Vec<(u64, f64)>,
    /// Share of the reward's variance over the step's episodes. Empty: not recorded.
    pub variance_shares: Vec<(u64, f64)>,
}

/// The learning curve of the run.
pub(crate) fn curve(run: &RunFolder, metrics: &[Metric]) -> Result<Curve, MeasureError> {
    let recorded = reported(metrics);
    if recorded.points.is_empty() || recorded.constant_groups.is_empty() {
        let counted = counted(&run.episode_rows(&EpisodeFilter::phase(learned(metrics)))?);
        let points = if recorded.points.is_empty() { counted.points } else { recorded.points };
        let groups = recorded.constant_groups;
        let constant_groups = if groups.is_empty() { counted.constant_groups } else { groups };
        return Ok(Curve { points, constant_groups });
    }
    Ok(recorded)
}

/// A named metric of training over its steps; numbers that are none are left out.
pub(crate) fn series(metrics: &[Metric], phase: &Phase, name: &str) -> Vec<(u64, f64)> {
    let of = metrics.iter().filter(|m| m.phase == *phase && m.name == name && m.value.is_finite());
    of.map(|m| (m.step, m.value)).collect()
}

fn reported(metrics: &[Metric]) -> Curve {
    let phase = learned(metrics);
    let by_step = |name: &str| -> BTreeMap<u64, f64> { series(metrics, &phase, name).into_iter().collect() };
    let (low, high) = (by_step("success_q25"), by_step("success_q75"));
    let points = series(metrics, &phase, "success").into_iter().map(|(step, success)| CurvePoint {
        step,
        success,
        quartiles: low.get(&step).copied().zip(high.get(&step).copied()),
    });
    Curve { points: points.collect(), constant_groups: series(metrics, &phase, "constant_groups") }
}

fn counted(rows: &[EpisodeRow]) -> Curve {
    let mut steps: BTreeMap<u64, BTreeMap<u32, Vec<&EpisodeRow>>> = BTreeMap::new();
    rows.iter()
        .for_each(|row| steps.entry(row.id.step).or_default().entry(row.id.group).or_default().push(row));
    let mut curve = Curve::default();
    for (step, groups) in &steps {
        let rates: Vec<f64> =
            groups.values().filter_map(|g| Rate::of(g.iter().copied())).map(|r| r.success).collect();
        if let Some(rate) = Rate::of(groups.values().flatten().copied()) {
            let quartiles = stats::quantile(&rates, 0.25).zip(stats::quantile(&rates, 0.75));
            curve.points.push(CurvePoint { step: *step, success: rate.success, quartiles });
        }
        let constant = groups.values().filter(|group| is_constant(group)).count();
        curve.constant_groups.push((*step, constant as f64));
    }
    curve
}

fn is_constant(group: &[&EpisodeRow]) -> bool {
    merit_core::constant(&group.iter().filter_map(|row| row.reward).collect::<Vec<f64>>())
}

/// The terms of the reward over the steps of training.
pub(crate) fn terms(run: &RunFolder, metrics: &[Metric]) -> Result<Vec<TermSeries>, MeasureError> {
    let phase = learned(metrics);
    let mut names: Vec<String> = Vec::new();
    let mut values: BTreeMap<(String, u64), Vec<f64>> = BTreeMap::new();
    for row in run.term_rows(&EpisodeFilter::phase(&phase))? {
        if !names.contains(&row.term) {
            names.push(row.term.clone());
        }
        if let Some(value) = row.value {
            values.entry((row.term, row.episode.step)).or_default().push(value);
        }
    }
    for metric in metrics.iter().filter(|m| m.phase == phase) {
        let name = metric.name.strip_prefix("term/");
        names.extend(name.filter(|name| !names.iter().any(|n| n == name)).map(str::to_owned));
    }
    let of_episodes = |name: &str| -> Vec<(u64, f64)> {
        let own = values.iter().filter(|((term, _), _)| term == name);
        own.filter_map(|((_, step), values)| Some((*step, stats::mean(values)?))).collect()
    };
    Ok(names
        .into_iter()
        .map(|name| {
            let recorded = series(metrics, &phase, &format!("term/{name}"));
            let means = if recorded.is_empty() { of_episodes(&name) } else { recorded };
            let variance_shares = series(metrics, &phase, &format!("term_var_share/{name}"));
            TermSeries { name, means, variance_shares }
        })
        .collect())
}
