//! Imported episodes on disk, so that they can be shown and scored like those of a run.
//!
//! The folder keeps the whole report of the import as events: what was skipped, what was odd, what was left out. Each episode
//! carries a score of one term, `reported`: the reward that its recorder gave it, and no judgement of ours.

use crate::{ImportError, Imported};
use merit_core::{End, Episode, Evidence, Reward, Score, ScoredEpisode, TermOutcome, TermScore};
use merit_store::{ImportInfo, RunFolder};
use std::path::{Path, PathBuf};

/// The folder that an import wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub folder: PathBuf,
    /// What it says of itself.
    pub info: ImportInfo,
}

/// Writes a new folder of imported episodes. `source` is the name of the file they come from, `now_ms` Unix time in
/// milliseconds. An import that is interrupted leaves a folder that says so.
///
/// ```
/// use merit_import::{ImportOptions, import_into, read};
/// let line = r#"{"prompt": "1 + 1?", "response": "2", "answer": 2, "reward": true}"#;
/// let imported = read(line.as_bytes(), "auto", &ImportOptions::default())?;
/// let home = tempfile::tempdir().expect("a folder");
/// let written = import_into(&home.path().join("quiz"), imported, "quiz.jsonl", "0.1.0", 0)?;
/// assert_eq!(written.info.episodes, 1);
/// # Ok::<(), merit_import::ImportError>(())
/// ```
pub fn import_into(
    folder: &Path,
    imported: Imported,
    source: &str,
    version: &str,
    now_ms: u64,
) -> Result<Written, ImportError> {
    let found = &imported.found;
    let info = ImportInfo {
        source: source.to_owned(),
        format: found.format.to_owned(),
        world: found.world.clone(),
        sha256: found.sha256.clone(),
        bytes: found.bytes,
        entries: found.entries as u64,
        episodes: imported.episodes.len() as u64,
        skipped: imported.skipped.len() as u64,
        remarks: imported.remarks.len() as u64,
        version: version.to_owned(),
        imported_ms: now_ms,
    };
    let run = RunFolder::create_import(folder, &info)?;
    run.record_event(now_ms, "imported", &format!("{source}: {found}"))?;
    for (kind, text) in report(&imported) {
        run.record_event(now_ms, kind, &text)?;
    }
    let solved_at = found.solved_at;
    let scored: Vec<ScoredEpisode> = imported.episodes.into_iter().map(|s| scored(s, solved_at)).collect();
    run.record_episodes(&scored)?;
    run.finish_import(&info)?;
    run.sync()?;
    Ok(Written { folder: folder.to_owned(), info })
}

fn report(imported: &Imported) -> Vec<(&'static str, String)> {
    let skipped = imported.skipped.iter().map(|skipped| ("skipped", skipped.to_string()));
    let remarks =
        imported.remarks.iter().map(|r| ("remark", format!("{} (line {}): {}", r.episode, r.line, r.what)));
    let left_out =
        imported.left_out.iter().map(|(field, count)| ("left-out", format!("`{field}` of {count} entries")));
    skipped.chain(remarks).chain(left_out).collect()
}

fn scored(mut scored: ScoredEpisode, solved_at: Option<f64>) -> ScoredEpisode {
    if scored.score.is_none() && !matches!(scored.episode.end, End::Failed { .. }) {
        scored.score = Some(reported_score(&scored.episode, solved_at));
    }
    scored
}

/// What the recorder's claim says, as a score: the reported reward where it is known what counts as solved, and otherwise no
/// reward at all.
pub fn reported_score(episode: &Episode, solved_at: Option<f64>) -> Score {
    let (outcome, evidence, reward, solved) = match (&episode.reported, solved_at) {
        (None, _) => {
            let why = "the file reports no reward".to_owned();
            (TermOutcome::NotApplicable { why: why.clone() }, vec![], Reward::Unscorable { why }, None)
        }
        (Some(reported), solved_at) => {
            let value = reported.reward;
            let finding = format!("{} says {value}", reported.by);
            let why = "nobody says which reported reward counts as solved".to_owned();
            let (reward, solved) = match solved_at {
                Some(least) => (Reward::Value { value }, Some(value >= least)),
                None => (Reward::Unscorable { why }, None),
            };
            (TermOutcome::Value { value }, vec![Evidence::new("reported", finding)], reward, solved)
        }
    };
    let term = TermScore::new("reported", outcome).with_evidence(evidence);
    Score::new(reward).with_terms(vec![term]).with_solved(solved)
}
