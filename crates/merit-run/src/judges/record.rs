//! Judgements kept as episodes: a folder of the world `judgement` that can be shown and scored like any other.
//!
//! In: every judgement that a model gives, as soon as it is there. Out: a folder of recorded episodes. What was answered before and kept
//! is not asked again, and makes no episode.

use super::judgement::JUDGEMENT;
use crate::{RunError, now_ms};
use merit_core::{Episode, EpisodeId, Phase, ScoredEpisode};
use merit_store::{ImportInfo, RunFolder, StoreError};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A folder that judgements are written to. Copies write to the same.
#[derive(Clone)]
pub struct Record(Arc<Mutex<Writing>>);

struct Writing {
    folder: RunFolder,
    info: ImportInfo,
    /// How often a model was asked so far, many questions at once.
    batches: u64,
    /// Why something could not be written.
    broken: Option<StoreError>,
}

impl Record {
    /// A new folder for the judgements of the judge of this file or folder. It must be absent or empty.
    pub fn create(path: &Path, judge: &Path) -> Result<Self, RunError> {
        let file = if judge.is_dir() { judge.join("judge.toml") } else { judge.to_owned() };
        let text = std::fs::read(&file).unwrap_or_default();
        let info = ImportInfo {
            source: judge.display().to_string(),
            format: JUDGEMENT.name.to_owned(),
            world: JUDGEMENT.name.to_owned(),
            sha256: merit_core::hex(&Sha256::digest(&text)),
            bytes: text.len() as u64,
            entries: 0,
            episodes: 0,
            skipped: 0,
            remarks: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            imported_ms: now_ms(),
        };
        let folder = RunFolder::create_import(path, &info)?;
        Ok(Self(Arc::new(Mutex::new(Writing { folder, info, batches: 0, broken: None }))))
    }

    fn lock(&self) -> MutexGuard<'_, Writing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a batch of questions that is put now.
    pub(super) fn batch(&self) -> u64 {
        let mut writing = self.lock();
        writing.batches += 1;
        writing.batches - 1
    }

    pub(super) fn keep(&self, judgement: &Episode, batch: u64) {
        let mut writing = self.lock();
        let id = EpisodeId { phase: Phase::Import, step: batch, ..judgement.id.clone() };
        let episode = Arc::new(Episode { id, ..judgement.clone() });
        match writing.folder.record_episodes(&[ScoredEpisode { episode, score: None }]) {
            Ok(()) => {
                writing.info.entries += 1;
                writing.info.episodes += 1;
            }
            Err(error) => writing.broken = Some(error),
        }
    }

    /// Says that all are written, and how many there are.
    pub fn finish(self) -> Result<u64, RunError> {
        let mut writing = self.lock();
        if let Some(error) = writing.broken.take() {
            return Err(error.into());
        }
        writing.folder.finish_import(&writing.info)?;
        writing.folder.sync()?;
        Ok(writing.info.episodes)
    }
}
