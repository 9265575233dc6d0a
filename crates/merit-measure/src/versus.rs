//! Is B better than A, by how much, how sure? Conditions side by side, paired by seed and task.
//!
//! A condition is what ran alike: the runs of one resolved recipe over its seeds, or the episodes of one import. Only tasks
//! that both conditions played at the same seed are compared; attempts at one task are averaged first, so that the interval is
//! clustered by task.

use crate::MeasureError;
use crate::held_out::latest;
use merit_core::stats::{self, Interval};
use merit_core::{Outcome, Phase, Seed, StageKind, When};
use merit_store::{EpisodeFilter, EpisodeRow, RunFolder};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Success of one condition by seed and task.
#[derive(Debug, Clone)]
pub struct Condition {
    pub name: String,
    /// The folders that were read.
    pub folders: Vec<String>,
    /// By seed and task: the mean over attempts.
    pub tasks: BTreeMap<(u64, String), f64>,
}

/// One condition against the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versus {
    pub name: String,
    pub against: String,
    /// Mean difference of success over shared tasks.
    pub difference: f64,
    /// 95 %, clustered by task.
    pub by_task: Interval,
    /// 95 % over the means of seeds. Absent below two seeds.
    pub by_seed: Option<Interval>,
    pub tasks: usize,
    pub seeds: usize,
    /// Tasks that are better, worse and alike.
    pub better: usize,
    pub worse: usize,
    pub alike: usize,
}

const RESAMPLES: u32 = 4000;

impl Condition {
    /// Mean success over its tasks, with an interval clustered by task.
    pub fn success(&self) -> Option<(f64, Interval)> {
        let values: Vec<f64> = self.tasks.values().copied().collect();
        let interval = stats::mean_share_interval(&values, RESAMPLES, &Seed::root(0).child("condition", 0))?;
        Some((stats::mean(&values)?, interval))
    }

    pub fn seeds(&self) -> usize {
        self.tasks.keys().map(|(seed, _)| *seed).collect::<BTreeSet<_>>().len()
    }
}

/// Reads folders into conditions, in the order in which each first appears. Folders of one resolved recipe are one condition.
pub fn conditions(folders: &[RunFolder]) -> Result<Vec<Condition>, MeasureError> {
    let mut found: Vec<(String, Condition)> = Vec::new();
    let mut read: BTreeMap<(usize, u64), String> = BTreeMap::new();
    for folder in folders {
        let info = folder.info()?;
        let last =
            folder.path().file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let (key, name) = if folder.is_import()? {
            (folder.path().display().to_string(), last)
        } else {
            (info.recipe_hash.clone(), info.recipe.clone())
        };
        let at = match found.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None => {
                found.push((key.clone(), Condition { name, folders: Vec::new(), tasks: BTreeMap::new() }));
                found.len() - 1
            }
        };
        let mut tasks: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for row in measured(folder)?.iter().filter(|row| row.outcome.is_verdict()) {
            let solved = f64::from(u8::from(row.outcome == Outcome::Solved));
            tasks.entry(row.task_id.clone()).or_default().push(solved);
        }
        let means =
            tasks.into_iter().filter_map(|(task, values)| Some(((info.seed, task), stats::mean(&values)?)));
        let condition = &mut found[at].1;
        let path = folder.path().display().to_string();
        for (key, mean) in means {
            if condition.tasks.insert(key, mean).is_some() {
                let first = read.get(&(at, info.seed)).cloned().unwrap_or_else(|| path.clone());
                return Err(MeasureError::Twice { first, second: path, seed: info.seed });
            }
        }
        read.insert((at, info.seed), path.clone());
        condition.folders.push(path);
    }
    let mut conditions: Vec<Condition> = found.into_iter().map(|(_, condition)| condition).collect();
    tell_apart(&mut conditions);
    Ok(conditions)
}

/// The held-out evaluation at the end; of episodes that no run was trained by, all.
fn measured(folder: &RunFolder) -> Result<Vec<EpisodeRow>, MeasureError> {
    let rows = latest(folder, &Phase::eval(When::After))?;
    if !rows.is_empty() {
        return Ok(rows);
    }
    let all = folder.episode_rows(&EpisodeFilter::default())?;
    let of_no_run = |row: &EpisodeRow| {
        matches!(row.id.phase, Phase::Rollout | Phase::Import | Phase::Other(_))
            || matches!(row.id.phase, Phase::Stage(StageKind::Samples, _))
    };
    if all.iter().all(of_no_run) {
        return Ok(all);
    }
    // A recipe of stages measures where it says so.
    match folder.phases()?.into_iter().rfind(|phase| matches!(phase, Phase::Stage(StageKind::Evaluate, _))) {
        Some(phase) if folder.mark::<bool>("finished")? == Some(true) => latest(folder, &phase),
        _ => Err(MeasureError::NotMeasured { path: folder.path().display().to_string() }),
    }
}

/// Conditions of one name get a number.
fn tell_apart(conditions: &mut [Condition]) {
    let names: Vec<String> = conditions.iter().map(|condition| condition.name.clone()).collect();
    for (at, condition) in conditions.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == names[at]).count() > 1 {
            let number = 1 + names[..at].iter().filter(|name| **name == names[at]).count();
            condition.name = format!("{}#{number}", names[at]);
        }
    }
}

/// Compares `b` with `a`. Absent: they share no task at any seed.
pub fn versus(a: &Condition, b: &Condition) -> Option<Versus> {
    let shared: Vec<(u64, f64)> =
        b.tasks.iter().filter_map(|(key, value)| Some((key.0, value - a.tasks.get(key)?))).collect();
    let differences: Vec<f64> = shared.iter().map(|(_, difference)| *difference).collect();
    let seed = Seed::root(0).child("versus", 0);
    let by_task = stats::mean_difference_interval(&differences, RESAMPLES, &seed)?;
    let mut seeds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    shared.iter().for_each(|(seed, difference)| seeds.entry(*seed).or_default().push(*difference));
    let means: Vec<f64> = seeds.values().filter_map(|values| stats::mean(values)).collect();
    let count = |holds: fn(f64) -> bool| differences.iter().filter(|difference| holds(**difference)).count();
    Some(Versus {
        name: b.name.clone(),
        against: a.name.clone(),
        difference: stats::mean(&differences)?,
        by_task,
        by_seed: stats::t_interval(&means, 0.95),
        tasks: differences.len(),
        seeds: means.len(),
        better: count(|difference| difference > 0.0),
        worse: count(|difference| difference < 0.0),
        alike: count(|difference| difference == 0.0),
    })
}

impl Versus {
    /// The wider of the intervals: what chance over tasks and over seeds could do.
    pub fn interval(&self) -> Interval {
        match self.by_seed {
            Some(by_seed) if by_seed.high - by_seed.low > self.by_task.high - self.by_task.low => by_seed,
            _ => self.by_task,
        }
    }

    /// The answer in a sentence.
    pub fn sentence(&self) -> String {
        let Interval { low, high } = self.interval();
        let (name, against, by) = (&self.name, &self.against, self.difference * 100.0);
        let range = format!("95 % interval {:.1} to {:.1}", low * 100.0, high * 100.0);
        let what = if low > 0.0 {
            format!("{name} is better than {against} by {by:.1} points")
        } else if high < 0.0 {
            format!("{name} is worse than {against} by {:.1} points", -by)
        } else {
            format!("{name} and {against} differ by {by:.1} points, which chance alone could do")
        };
        let over =
            format!("{} tasks, {} seed{}", self.tasks, self.seeds, if self.seeds == 1 { "" } else { "s" });
        format!("{what} ({range}; {over}; {} tasks better, {} worse)", self.better, self.worse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(name: &str, values: &[(u64, &str, f64)]) -> Condition {
        let tasks = values.iter().map(|(seed, task, value)| ((*seed, (*task).to_owned()), *value)).collect();
        Condition { name: name.into(), folders: Vec::new(), tasks }
    }

    #[test]
    fn only_what_both_played_is_compared() {
        let a = condition("a", &[(1, "x", 0.0), (1, "y", 1.0), (2, "x", 0.0), (2, "only-a", 1.0)]);
        let b = condition("b", &[(1, "x", 1.0), (1, "y", 1.0), (2, "x", 1.0), (3, "y", 0.0)]);
        let found = versus(&a, &b).unwrap();
        assert_eq!((found.tasks, found.seeds, found.better, found.alike, found.worse), (3, 2, 2, 1, 0));
        assert!((found.difference - 2.0 / 3.0).abs() < 1e-12);
        assert!(versus(&a, &condition("c", &[(9, "x", 1.0)])).is_none());
    }

    #[test]
    fn the_sentence_says_no_more_than_the_interval() {
        let many = |value: f64| -> Condition {
            let tasks = (0..50).map(|n| ((1, n.to_string()), value)).collect();
            Condition { name: value.to_string(), folders: Vec::new(), tasks }
        };
        assert!(
            versus(&many(0.0), &many(1.0))
                .unwrap()
                .sentence()
                .starts_with("1 is better than 0 by 100.0 points")
        );
        assert!(versus(&many(1.0), &many(1.0)).unwrap().sentence().contains("chance alone"));
    }
}
