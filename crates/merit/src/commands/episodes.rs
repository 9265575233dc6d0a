//! Episodes from wherever they are: a run's folder, an import's folder, or a file that can be imported.

use super::WrongInput;
use anyhow::Result;
use merit_core::{Annotations, Components, Episode};
use merit_import::{AUTO, ImportOptions, read_file};
use merit_run::Recipe;
use merit_store::{EpisodeFilter, RunFolder};
use std::path::Path;
use std::sync::Arc;

/// Episodes and what is known of the run they come from.
pub(crate) struct Loaded {
    pub(crate) episodes: Vec<Arc<Episode>>,
    /// Absent: they come from no run.
    pub(crate) run: Option<RunFolder>,
}

pub(crate) fn load_episodes(path: &Path) -> Result<Loaded> {
    if !path.exists() {
        return Err(WrongInput(format!("there is no file or folder {}", path.display())).into());
    }
    if !path.is_dir() {
        let imported = read_file(path, AUTO, &ImportOptions::default())?;
        let episodes = imported.episodes.into_iter().map(|scored| scored.episode).collect();
        return Ok(Loaded { episodes, run: None });
    }
    let folder = RunFolder::open_read_only(path)?;
    let stored = folder.episodes(&EpisodeFilter::default())?;
    let episodes = stored.into_iter().map(|stored| stored.scored.episode).collect();
    let run = if folder.is_import()? { None } else { Some(folder) };
    Ok(Loaded { episodes, run })
}

impl Loaded {
    /// The seed of the run. Absent: there is none.
    pub(crate) fn seed(&self) -> Result<Option<u64>> {
        Ok(self.run.as_ref().map(RunFolder::info).transpose()?.map(|info| info.seed))
    }

    /// What was said of the episodes when they were recorded.
    pub(crate) fn annotations(&self) -> Result<Annotations> {
        Ok(self.run.as_ref().map(RunFolder::annotations).transpose()?.unwrap_or_default())
    }

    /// The discount of the run's credit rule. Absent: there is no run.
    pub(crate) fn discount(&self, components: &Components) -> Result<Option<f64>> {
        let Some(run) = &self.run else { return Ok(None) };
        Ok(Some(Recipe::of_run(run, components)?.credit.discount()))
    }
}
