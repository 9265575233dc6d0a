//! The episodes of a folder, step by step, so that a long run needs no more memory than its largest step.

use crate::{Choice, ExportError, LeftOut, Rows, Shape, select};
use merit_core::{Phase, ScoredEpisode, StageKind};
use merit_store::{EpisodeFilter, RunFolder};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What an export read, took, wrote and left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Episodes of the phases that were read.
    pub read: BTreeMap<Phase, usize>,
    pub taken: usize,
    pub rows: usize,
    pub left_out: LeftOut,
}

/// The phases that have episodes, and whether they are exported where none is named.
pub fn exported_phases(folder: &RunFolder) -> Result<BTreeMap<Phase, bool>, ExportError> {
    Ok(steps(folder)?.into_keys().map(|phase| (phase.clone(), is_default(&phase))).collect())
}

/// Hands over the wanted episodes, row by row.
///
/// ```
/// use merit_core::{End, Episode, EpisodeId, Reward, Score, ScoredEpisode, Task};
/// use merit_export::{Choice, Shape, export_episodes};
/// use merit_store::{RunFolder, RunInfo};
/// let id = EpisodeId { phase: "train".into(), step: 0, group: 0, member: 0, branch: 0 };
/// let episode = Episode::new(id, Task::new("quiz", "quiz/1").with_answer("42"), End::Answered).into();
/// let score = Some(Score::new(Reward::Value { value: 1.0 }));
/// let home = tempfile::tempdir()?;
/// let info = RunInfo { recipe: "quiz".into(), recipe_hash: "ab12".into(), seed: 7, version: "0.1.0".into(), started_ms: 0 };
/// let folder = RunFolder::create(&home.path().join("run"), "", &info)?;
/// folder.record_episodes(&[ScoredEpisode { episode, score }])?;
/// let mut answers = Vec::new();
/// export_episodes(&folder, &Choice::default(), Shape::Grpo, &mut |row| Ok(answers.push(row["answer"].clone())))?;
/// assert_eq!(answers, ["42"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export_episodes(
    folder: &RunFolder,
    choice: &Choice,
    shape: Shape,
    take: &mut dyn FnMut(Value) -> Result<(), ExportError>,
) -> Result<Summary, ExportError> {
    let mut summary = Summary::default();
    let mut rows = Rows::new(shape);
    for (phase, steps) in steps(folder)? {
        let unnamed = choice.phases.is_empty() && is_default(&phase);
        if !unnamed && !choice.phases.contains(&phase) {
            continue;
        }
        for step in steps {
            let stored = folder.episodes(&EpisodeFilter::step(&phase, step))?;
            let scored: Vec<ScoredEpisode> = stored.into_iter().map(|stored| stored.scored).collect();
            *summary.read.entry(phase.clone()).or_default() += scored.len();
            for taken in select(choice, &scored, &mut summary.left_out) {
                summary.taken += 1 + usize::from(taken.rejected.is_some());
                for row in rows.of(&taken) {
                    take(row)?;
                    summary.rows += 1;
                }
            }
        }
    }
    Ok(summary)
}

fn steps(folder: &RunFolder) -> Result<BTreeMap<Phase, BTreeSet<u64>>, ExportError> {
    let mut steps: BTreeMap<Phase, BTreeSet<u64>> = BTreeMap::new();
    for row in folder.episode_rows(&EpisodeFilter::default())? {
        steps.entry(row.id.phase).or_default().insert(row.id.step);
    }
    Ok(steps)
}

fn is_default(phase: &Phase) -> bool {
    let stage = matches!(phase, Phase::Stage(StageKind::Collect | StageKind::Samples, _));
    phase.is_train() || phase.is_eval() || stage || *phase == Phase::Import
}
