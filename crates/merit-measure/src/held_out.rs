//! Held-out success: before, after, controls and points on the way, by task size, with intervals.
//!
//! Counted from the recorded episodes. Where fewer episodes are recorded than were run, the recorded metrics
//! (`success`, `success/<size>`, `count`) are taken instead.

use crate::MeasureError;
use merit_core::stats::{self, Difference, Interval};
use merit_core::{Arm, Outcome, Phase, Seed, When};
use merit_store::{EpisodeFilter, EpisodeRow, Metric, RunFolder};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// The share of tasks that were solved, 0 to 1.
    pub success: f64,
    /// Episodes that count. Absent: not recorded.
    pub count: Option<u64>,
    /// Wilson's interval. Absent: the count is not known.
    pub interval: Option<Interval>,
    /// Episodes that gave no verdict and are left out.
    pub left_out: u64,
}

/// Success of one evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOut {
    /// Which evaluation, of which arm.
    pub phase: Phase,
    /// The training step at which it was taken, where there are several of the phase.
    pub step: u64,
    /// The rate over tasks of all sizes.
    pub all: Rate,
    /// By the size of the task.
    pub by_size: BTreeMap<u32, Rate>,
}

/// What changed between two evaluations on the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// The difference, paired by task.
    pub difference: Difference,
    /// Tasks solved after and not before.
    pub gained: usize,
    /// Tasks solved before and not after.
    pub lost: usize,
    /// Solved both times.
    pub kept: usize,
    /// Solved neither time.
    pub never: usize,
}

impl Rate {
    /// The rate of these episodes. Absent: none of them counts.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a EpisodeRow>) -> Option<Self> {
        let (mut solved, mut count, mut left_out) = (0, 0, 0);
        for row in rows {
            count += u64::from(row.outcome.is_verdict());
            left_out += u64::from(!row.outcome.is_verdict());
            solved += u64::from(row.outcome == Outcome::Solved);
        }
        let interval = stats::wilson(solved, count)?;
        Some(Self {
            success: solved as f64 / count as f64,
            count: Some(count),
            interval: Some(interval),
            left_out,
        })
    }

    fn reported(success: f64, count: Option<u64>) -> Self {
        let interval = count.and_then(|n| stats::wilson((success * n as f64).round() as u64, n));
        Self { success, count, interval, left_out: 0 }
    }
}

impl HeldOut {
    /// Whether another arm than the main one was evaluated: something to compare with.
    pub fn is_control(&self) -> bool {
        matches!(self.phase.arm(), Some(Arm::Control(_)))
    }
}

/// Every evaluation of the run, by phase and step.
pub(crate) fn held_out(run: &RunFolder, metrics: &[Metric]) -> Result<Vec<HeldOut>, MeasureError> {
    let mut found = Vec::new();
    for phase in run.phases()?.into_iter().filter(Phase::is_eval) {
        let rows = run.episode_rows(&EpisodeFilter::phase(&phase))?;
        let metrics: Vec<&Metric> = metrics.iter().filter(|m| m.phase == phase).collect();
        let mut steps: Vec<u64> =
            rows.iter().map(|row| row.id.step).chain(metrics.iter().map(|m| m.step)).collect();
        steps.sort_unstable();
        steps.dedup();
        for step in steps {
            let rows: Vec<&EpisodeRow> = rows.iter().filter(|row| row.id.step == step).collect();
            let metrics: Vec<&Metric> = metrics.iter().copied().filter(|m| m.step == step).collect();
            found.extend(evaluation(&phase, step, &rows, &metrics));
        }
    }
    Ok(found)
}

fn evaluation(phase: &Phase, step: u64, rows: &[&EpisodeRow], metrics: &[&Metric]) -> Option<HeldOut> {
    let reported = from_metrics(phase, step, metrics);
    let counted = from_rows(phase, step, rows);
    let more = |held: &Option<HeldOut>| held.as_ref().and_then(|h| h.all.count);
    if more(&reported) > more(&counted).map(|n| n + counted.as_ref().map_or(0, |h| h.all.left_out)) {
        reported
    } else {
        counted.or(reported)
    }
}

fn from_rows(phase: &Phase, step: u64, rows: &[&EpisodeRow]) -> Option<HeldOut> {
    let mut sizes: BTreeMap<u32, Vec<&EpisodeRow>> = BTreeMap::new();
    rows.iter().for_each(|row| sizes.entry(row.size).or_default().push(row));
    let by_size = sizes.into_iter().filter_map(|(size, rows)| Some((size, Rate::of(rows)?))).collect();
    Some(HeldOut { phase: phase.clone(), step, all: Rate::of(rows.iter().copied())?, by_size })
}

fn from_metrics(phase: &Phase, step: u64, metrics: &[&Metric]) -> Option<HeldOut> {
    let value = |name: &str| metrics.iter().find(|m| m.name == name && m.value.is_finite()).map(|m| m.value);
    let all = Rate::reported(value("success")?, value("count").map(|n| n as u64));
    let sizes = metrics.iter().filter_map(|m| {
        let size: u32 = m.name.strip_prefix("success/")?.parse().ok()?;
        let count = value(&format!("count/{size}")).map(|n| n as u64);
        m.value.is_finite().then(|| (size, Rate::reported(m.value, count)))
    });
    Some(HeldOut { phase: phase.clone(), step, all, by_size: sizes.collect() })
}

/// The rows of the latest evaluation of a phase: a run that was extended has several.
pub(crate) fn latest(run: &RunFolder, phase: &Phase) -> Result<Vec<EpisodeRow>, MeasureError> {
    let mut rows = run.episode_rows(&EpisodeFilter::phase(phase))?;
    let last = rows.iter().map(|row| row.id.step).max();
    rows.retain(|row| Some(row.id.step) == last);
    Ok(rows)
}

/// The change from before to after, paired by task. Absent when there are no tasks in both.
pub(crate) fn change(run: &RunFolder, seed: &Seed) -> Result<Option<Change>, MeasureError> {
    let verdicts = |when: When| -> Result<Vec<(String, f64)>, MeasureError> {
        let rows = latest(run, &Phase::eval(when))?;
        let counting = rows.into_iter().filter(|row| row.outcome.is_verdict());
        Ok(counting.map(|row| (row.task_id, f64::from(row.outcome == Outcome::Solved))).collect())
    };
    let (before, after) = (verdicts(When::Before)?, verdicts(When::After)?);
    let Some(difference) = stats::paired_difference(&before, &after, 2000, &seed.child("change", 0)) else {
        return Ok(None);
    };
    let solved = |verdicts: &[(String, f64)]| -> BTreeMap<String, bool> {
        let mut tasks = BTreeMap::new();
        // A task tried several times counts as solved when it was solved at its first recorded attempt.
        for (task, verdict) in verdicts {
            tasks.entry(task.clone()).or_insert(*verdict > 0.5);
        }
        tasks
    };
    let (before, after) = (solved(&before), solved(&after));
    let mut change = Change { difference, gained: 0, lost: 0, kept: 0, never: 0 };
    for (task, now) in &after {
        match before.get(task).map(|was| (*was, *now)) {
            Some((false, true)) => change.gained += 1,
            Some((true, false)) => change.lost += 1,
            Some((true, true)) => change.kept += 1,
            Some((false, false)) => change.never += 1,
            None => {}
        }
    }
    Ok(Some(change))
}
