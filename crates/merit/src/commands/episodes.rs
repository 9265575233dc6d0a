//! Episodes from wherever they are: a run's folder, an import's folder, or a file that can be imported.

use anyhow::Result;
use merit_core::Episode;
use merit_import::{AUTO, ImportOptions, read_file};
use merit_store::{EpisodeFilter, RunFolder};
use std::path::Path;
use std::sync::Arc;

/// Episodes and the seed of the run they come from.
pub(crate) struct Loaded {
    pub(crate) episodes: Vec<Arc<Episode>>,
    /// Absent: they come from no run.
    pub(crate) seed: Option<u64>,
}

/// The episodes in `path`.
pub(crate) fn load_episodes(path: &Path) -> Result<Loaded> {
    if path.is_file() {
        let imported = read_file(path, AUTO, &ImportOptions::default())?;
        let episodes = imported.episodes.into_iter().map(|scored| scored.episode).collect();
        return Ok(Loaded { episodes, seed: None });
    }
    let folder = RunFolder::open_read_only(path)?;
    let stored = folder.episodes(&EpisodeFilter::default())?;
    let episodes = stored.into_iter().map(|stored| stored.scored.episode).collect();
    let seed = if folder.is_import()? { None } else { Some(folder.info()?.seed) };
    Ok(Loaded { episodes, seed })
}
