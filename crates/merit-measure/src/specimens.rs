//! Which episodes a report shows, chosen by rule and never by hand: something gained, something lost, groups at work.

use crate::MeasureError;
use crate::held_out::latest;
use merit_core::{Outcome, Phase, Seed, When};
use merit_store::{EpisodeFilter, EpisodeRow, RunFolder, StoredEpisode};
use std::collections::BTreeMap;

/// The episodes a report shows.
pub(crate) struct Specimens {
    /// A task failed before and solved after; where there is none, any task of both.
    pub(crate) gained: Option<Pair>,
    /// A task solved before and failed after.
    pub(crate) lost: Option<Pair>,
    /// Groups of training episodes whose rewards differ, from the start and from the end of training.
    pub(crate) groups: Vec<Vec<StoredEpisode>>,
}

/// The same task twice.
pub(crate) struct Pair {
    pub(crate) before: StoredEpisode,
    pub(crate) after: StoredEpisode,
}

/// Chooses what the page shows in full, always the same for a run and a seed.
pub(crate) fn choose(run: &RunFolder, seed: &Seed) -> Result<Specimens, MeasureError> {
    let (before, after) = (firsts(run, When::Before)?, firsts(run, When::After)?);
    let both: Vec<(&EpisodeRow, &EpisodeRow)> =
        after.iter().filter_map(|(task, row)| Some((before.get(task)?, row))).collect();
    let gained = pick(&both, seed, |b, a| b.outcome != Outcome::Solved && a.outcome == Outcome::Solved);
    let lost = pick(&both, seed, |b, a| b.outcome == Outcome::Solved && a.outcome != Outcome::Solved);
    let any = || pick(&both, seed, |_, _| true);
    Ok(Specimens { gained: load(run, gained.or_else(any))?, lost: load(run, lost)?, groups: groups(run)? })
}

/// The first attempt at each task in the latest evaluation.
fn firsts(run: &RunFolder, when: When) -> Result<BTreeMap<String, EpisodeRow>, MeasureError> {
    let mut tasks = BTreeMap::new();
    for row in latest(run, &Phase::eval(when))? {
        tasks.entry(row.task_id.clone()).or_insert(row);
    }
    Ok(tasks)
}

type RowPair<'a> = (&'a EpisodeRow, &'a EpisodeRow);

/// A random one of the matching pairs: the seed decides, nobody's taste.
fn pick<'a>(
    pairs: &[RowPair<'a>],
    seed: &Seed,
    matches: impl Fn(&EpisodeRow, &EpisodeRow) -> bool,
) -> Option<RowPair<'a>> {
    let matching: Vec<&RowPair<'a>> = pairs.iter().filter(|(before, after)| matches(before, after)).collect();
    let at = seed.child("specimen", 0).stream().below(matching.len() as u64);
    matching.get(at as usize).map(|pair| **pair)
}

fn load(run: &RunFolder, pair: Option<RowPair<'_>>) -> Result<Option<Pair>, MeasureError> {
    let Some((before, after)) = pair else { return Ok(None) };
    let (before, after) = (run.episode(&before.id)?, run.episode(&after.id)?);
    Ok(before.zip(after).map(|(before, after)| Pair { before, after }))
}

/// The first group of the earliest and of the latest step whose members both solved and failed; else whose rewards differ.
/// One of them, or none, where there are not two.
fn groups(run: &RunFolder) -> Result<Vec<Vec<StoredEpisode>>, MeasureError> {
    let rows = run.episode_rows(&EpisodeFilter::phase(Phase::train()))?;
    let mut groups: BTreeMap<(u64, u32), Vec<&EpisodeRow>> = BTreeMap::new();
    rows.iter().for_each(|row| groups.entry((row.id.step, row.id.group)).or_default().push(row));
    let ends = |fits: &dyn Fn(&[&EpisodeRow]) -> bool| -> Vec<(u64, u32)> {
        let fitting: Vec<(u64, u32)> =
            groups.iter().filter(|(_, rows)| fits(rows)).map(|(key, _)| *key).collect();
        let latest = fitting.iter().copied().reduce(|best, next| if next.0 > best.0 { next } else { best });
        let earliest = fitting.first().copied().filter(|first| Some(*first) != latest);
        earliest.into_iter().chain(latest).collect()
    };
    let mixed = |rows: &[&EpisodeRow]| {
        let solved = rows.iter().filter(|row| row.outcome == Outcome::Solved).count();
        solved > 0 && rows.iter().any(|row| row.outcome.is_verdict() && row.outcome != Outcome::Solved)
    };
    let differing = |rows: &[&EpisodeRow]| {
        let mut rewards = rows.iter().filter_map(|row| row.reward);
        rewards.next().is_some_and(|first| rewards.any(|reward| reward != first))
    };
    let mut chosen = ends(&mixed);
    if chosen.is_empty() {
        chosen = ends(&differing);
    }
    let load = |(step, group)| Ok(run.episodes(&EpisodeFilter::group("train", step, group))?);
    chosen.into_iter().map(load).collect()
}
