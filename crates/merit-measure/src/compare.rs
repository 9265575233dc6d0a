//! Several runs of one recipe, one per seed: every seed, then mean and spread. Never the best seed alone.

use crate::{MeasureError, RunSummary};
use merit_core::stats::{Spread, spread};
use merit_core::{Phase, When};
use merit_store::RunFolder;
use serde::Serialize;
use std::fmt::Write as _;

/// Runs of one recipe side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub recipe: String,
    /// One row per run, in the order given.
    pub runs: Vec<SeedRow>,
    /// Names of the controls, in the order of the columns.
    pub controls: Vec<String>,
    /// Whether all runs had the same resolved recipe; false is worth a remark beside the table.
    pub same_recipe_hash: bool,
}

/// A run of one seed, as a row of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeedRow {
    pub seed: u64,
    /// Held-out success before training.
    pub before: Option<f64>,
    /// Held-out success after training.
    pub after: Option<f64>,
    /// Held-out success of each control.
    pub controls: Vec<Option<f64>>,
}

/// Reads runs of one recipe. Rows keep the order given.
pub fn compare_runs(runs: &[RunFolder]) -> Result<Comparison, MeasureError> {
    let summaries = runs.iter().map(RunSummary::read).collect::<Result<Vec<_>, _>>()?;
    let first = summaries.first().ok_or(MeasureError::NoRuns)?;
    let odd = summaries.iter().zip(runs).find(|(summary, _)| summary.info.recipe != first.info.recipe);
    if let Some((summary, run)) = odd {
        return Err(MeasureError::Mixed {
            path: run.path().display().to_string(),
            found: summary.info.recipe.clone(),
            first: first.info.recipe.clone(),
        });
    }
    let mut controls: Vec<Phase> =
        summaries.iter().flat_map(|s| s.controls().map(|held| held.phase.clone())).collect();
    controls.sort();
    controls.dedup();
    let success = |summary: &RunSummary, when| summary.evaluation(when).map(|held| held.all.success);
    let of_control = |summary: &RunSummary, phase| summary.evaluation_of(phase).map(|held| held.all.success);
    let rows = summaries.iter().map(|summary| SeedRow {
        seed: summary.info.seed,
        before: success(summary, When::Before),
        after: success(summary, When::After),
        controls: controls.iter().map(|phase| of_control(summary, phase)).collect(),
    });
    Ok(Comparison {
        recipe: first.info.recipe.clone(),
        runs: rows.collect(),
        same_recipe_hash: summaries.iter().all(|s| s.info.recipe_hash == first.info.recipe_hash),
        controls: controls.iter().filter_map(Phase::arm).map(|arm| arm.name().to_owned()).collect(),
    })
}

impl Comparison {
    /// Before training, over the runs that measured it.
    pub fn before(&self) -> Option<Spread> {
        self.over(|row| row.before)
    }

    /// After training, over the runs that measured it.
    pub fn after(&self) -> Option<Spread> {
        self.over(|row| row.after)
    }

    /// After less before, run by run.
    pub fn gain(&self) -> Option<Spread> {
        self.over(SeedRow::gain)
    }

    /// A table for a terminal.
    pub fn text(&self) -> String {
        let rows = self.cells();
        let columns = rows[0].len();
        let widths: Vec<usize> =
            (0..columns).map(|c| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0)).collect();
        let mut out = String::new();
        for row in &rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(c, (cell, &width))| {
                if c == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        out
    }

    /// The same table in Markdown.
    pub fn markdown(&self) -> String {
        let rows = self.cells();
        let mut out = String::new();
        for (at, row) in rows.iter().enumerate() {
            let _ = writeln!(out, "| {} |", row.join(" | "));
            if at == 0 {
                let _ = writeln!(out, "|---|{}", "---:|".repeat(row.len() - 1));
            }
        }
        out
    }

    fn over(&self, pick: impl Fn(&SeedRow) -> Option<f64>) -> Option<Spread> {
        spread(&self.runs.iter().filter_map(pick).collect::<Vec<f64>>())
    }

    fn cells(&self) -> Vec<Vec<String>> {
        let mut head = vec!["seed".to_owned(), "before".into(), "after".into(), "change".into()];
        head.extend(self.controls.iter().cloned());
        let mut rows = vec![head];
        for run in &self.runs {
            let mut row =
                vec![run.seed.to_string(), percent(run.before), percent(run.after), points(run.gain())];
            row.extend(run.controls.iter().map(|value| percent(*value)));
            rows.push(row);
        }
        for (name, pick) in [("mean", (|s: Spread| s.mean) as fn(Spread) -> f64), ("sd", |s| s.sd)] {
            let of = |spread: Option<Spread>| percent(spread.map(pick));
            let change = self.gain().map(pick);
            let change = if name == "sd" { percent(change) } else { points(change) };
            let mut row = vec![name.to_owned(), of(self.before()), of(self.after()), change];
            row.extend((0..self.controls.len()).map(|at| of(self.over(|run| run.controls[at]))));
            rows.push(row);
        }
        rows
    }
}

impl SeedRow {
    /// After less before.
    pub fn gain(&self) -> Option<f64> {
        Some(self.after? - self.before?)
    }
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{:.1}%", v * 100.0))
}

fn points(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| format!("{:+.1}%", v * 100.0))
}
