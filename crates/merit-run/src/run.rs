//! A run: a recipe with its seed and its folder.

use crate::driver::{Options, train};
use crate::progress::{Event, Finished};
use crate::proven::Unproven;
use crate::recipe::Recipe;
use crate::{RunError, now_ms};
use merit_store::{RunFolder, RunInfo, StoreError, preflight};
use merit_tools::Toolbox;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A recipe with its seed and its folder, to be trained.
///
/// ```
/// use merit_run::{Run, shipped};
/// // Far too small to learn anything; leave the changes out to train in earnest.
/// let small = "model.layers=1 model.width=16 model.heads=2 model.kv_heads=1 warm_start.demonstrations=16 warm_start.steps=1 \
///              budget.steps=1 budget.groups=1 evaluation.tasks=2 evaluation.tasks_between=2 controls=[]";
/// let changes = small.split_whitespace().filter_map(|set| set.split_once('='));
/// let changes: Vec<_> = changes.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
/// let recipe = shipped::load("ledger-tools")?.with(&changes)?;
/// let home = tempfile::tempdir()?;
/// let finished = Run::create(&home.path().join("mine"), recipe, 1)?.train(&mut |_| {})?;
/// println!("{:.3} -> {:.3}", finished.held_out_before, finished.held_out_after);
/// assert!(home.path().join("mine/report.html").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run {
    pub recipe: Recipe,
    /// Where everything is recorded.
    pub folder: RunFolder,
    /// Root of all seeds.
    pub seed: u64,
}

impl Run {
    /// A new run in a folder of its own, after a look at the room on the disk.
    pub fn create(path: &Path, recipe: Recipe, seed: u64) -> Result<Self, RunError> {
        if RunFolder::open_read_only(path).is_ok() {
            return Err(StoreError::Exists { path: path.to_owned() }.into());
        }
        recipe.trainable()?;
        crate::own_data::read(&recipe)?;
        preflight(path, recipe.disk_bytes())?;
        let info = RunInfo {
            recipe: recipe.name.clone(),
            recipe_hash: recipe.hash(),
            seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms: now_ms(),
        };
        let folder = RunFolder::create(path, &recipe.to_toml(), &info)?;
        Ok(Self { recipe, folder, seed })
    }

    /// Trains to the end on all cores, with live tools.
    pub fn train(&mut self, watch: &mut dyn FnMut(Event)) -> Result<Finished, RunError> {
        let options = Options {
            seed: self.seed,
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            interrupt: Arc::new(AtomicBool::new(false)),
            ask: Arc::new(AtomicBool::new(false)),
            toolbox: Toolbox::Live,
            starts: None,
            players: None,
            unproven: Unproven::Refuse,
            resumable: true,
        };
        train(&self.recipe, &mut self.folder, &options, watch)
    }
}
