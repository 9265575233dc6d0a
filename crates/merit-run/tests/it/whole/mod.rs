//! Whole runs in a folder of their own, and what must be the same of two of them.

use merit_core::{Phase, Role, StageKind};
use merit_run::{Event, Finished, Options, Players, Recipe, RunError, Unproven};
use merit_store::{EpisodeFilter, RunFolder, RunInfo};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The small recipe with changes.
pub(crate) fn small(changes: &[(&str, &str)]) -> Recipe {
    let changes: Vec<(String, String)> =
        changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Recipe::parse("small.toml", crate::staged::SMALL).unwrap().with(&changes).unwrap()
}

/// The small recipe with text behind it.
pub(crate) fn small_and(more: &str) -> Result<Recipe, merit_run::RecipeError> {
    Recipe::parse("small.toml", &format!("{}\n{more}", crate::staged::SMALL))
}

/// A run of a recipe, in a folder that is gone with the first of the two.
pub(crate) fn train(recipe: &Recipe) -> (tempfile::TempDir, Made) {
    let dir = tempfile::tempdir().unwrap();
    let made = Making::at(dir.path().join("run")).train(recipe);
    (dir, made)
}

/// The phase of a stage.
pub(crate) fn phase(kind: StageKind, name: &str) -> Phase {
    Phase::Stage(kind, name.into())
}

/// A run to be made: where, and with which seed and kept starts.
pub(crate) struct Making {
    pub(crate) path: PathBuf,
    pub(crate) seed: u64,
    pub(crate) starts: Option<PathBuf>,
    pub(crate) players: Option<Arc<dyn Players>>,
    pub(crate) unproven: Unproven,
    pub(crate) resumable: bool,
}

impl Making {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, seed: 1, starts: None, players: None, unproven: Unproven::Refuse, resumable: true }
    }

    pub(crate) fn sharing(self, starts: &Path) -> Self {
        Self { starts: Some(starts.to_owned()), ..self }
    }

    /// Trains to the end, from wherever the folder stands.
    pub(crate) fn train(&self, recipe: &Recipe) -> Made {
        let mut events = Vec::new();
        let finished = self.drive(recipe, &mut |event| events.push(event));
        Made { folder: RunFolder::open_read_only(&self.path).unwrap(), events, finished: finished.unwrap() }
    }

    /// Trains to the end, or says why not.
    pub(crate) fn try_train(&self, recipe: &Recipe) -> Result<Made, String> {
        let mut events = Vec::new();
        let finished =
            self.drive(recipe, &mut |event| events.push(event)).map_err(|error| error.to_string())?;
        Ok(Made { folder: RunFolder::open_read_only(&self.path).unwrap(), events, finished })
    }

    /// Trains, and drops everything at the `at`-th event, as a kill would; whether it came to that.
    pub(crate) fn kill(&self, recipe: &Recipe, at: usize) -> bool {
        let mut seen = 0;
        let mut watch = |_| {
            seen += 1;
            if seen == at {
                std::panic::resume_unwind(Box::new("killed"));
            }
        };
        std::panic::catch_unwind(AssertUnwindSafe(|| drop(self.drive(recipe, &mut watch)))).is_err()
    }

    pub(crate) fn drive(&self, recipe: &Recipe, watch: &mut dyn FnMut(Event)) -> Result<Finished, RunError> {
        let info = RunInfo {
            recipe: recipe.name.clone(),
            recipe_hash: recipe.hash(),
            seed: self.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            started_ms: 0,
        };
        let mut folder = match RunFolder::open(&self.path) {
            Ok(folder) => folder,
            Err(_) => RunFolder::create(&self.path, &recipe.to_toml(), &info).unwrap(),
        };
        let options = Options {
            seed: self.seed,
            threads: 1,
            interrupt: Default::default(),
            ask: Default::default(),
            toolbox: Default::default(),
            starts: self.starts.clone(),
            players: self.players.clone(),
            unproven: self.unproven,
            resumable: self.resumable,
        };
        merit_run::train(recipe, &mut folder, &options, watch)
    }
}

/// A run that came to its end.
pub(crate) struct Made {
    pub(crate) folder: RunFolder,
    pub(crate) events: Vec<Event>,
    pub(crate) finished: Finished,
}

impl Made {
    /// The last number of that name.
    pub(crate) fn last(&self, phase: &Phase, name: &str) -> f64 {
        let numbers = self.folder.metric(phase, name).unwrap();
        numbers.last().unwrap_or_else(|| panic!("{phase} has no {name}")).1
    }

    /// The hints of every episode of a phase, by its step and group.
    pub(crate) fn hints(&self, phase: Phase) -> BTreeMap<(u64, u32), BTreeSet<Vec<String>>> {
        let mut found: BTreeMap<(u64, u32), BTreeSet<Vec<String>>> = BTreeMap::new();
        for stored in self.folder.episodes(&EpisodeFilter::phase(phase)).unwrap() {
            let episode = &stored.scored.episode;
            let segments = episode.transcript.segments().iter().filter(|segment| segment.role == Role::Hint);
            let told = segments.map(|segment| segment.text.clone()).collect();
            found.entry((episode.id.step, episode.id.group)).or_default().insert(told);
        }
        found
    }

    /// Bytes of a file that the run left.
    pub(crate) fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).unwrap()
    }

    /// The file of that name in the newest checkpoint.
    pub(crate) fn newest(&self, name: &str) -> Vec<u8> {
        let folders = std::fs::read_dir(self.folder.path().join("checkpoints")).unwrap();
        let newest = folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).max().unwrap();
        std::fs::read(newest.join(name)).unwrap()
    }

    /// Everything that must not depend on clocks and kills: episodes with their scores, and every metric but speed.
    pub(crate) fn essence(&self) -> BTreeMap<String, String> {
        let episodes = self.folder.episodes(&EpisodeFilter::default()).unwrap();
        let told = |e: &merit_store::StoredEpisode| {
            let (episode, credit) = (&e.scored.episode, e.credit.as_ref().map(|c| &c.advantages));
            (episode.id.to_string(), format!("{} {:?} {credit:?}", episode.content_hash(), e.scored.score))
        };
        let metrics = self.folder.metrics().unwrap();
        let metrics = metrics.iter().filter(|m| !m.by_clock() && m.name != "shared");
        let number = |m: &merit_store::Metric| {
            (format!("{}/{}/{}", m.phase, m.step, m.name), format!("{:x}", m.value.to_bits()))
        };
        let costs = self.folder.costs().unwrap();
        let cost = |(phase, cost): (_, merit_core::Cost)| {
            (format!("cost of {phase}"), format!("{:?}", merit_core::Cost { tool_seconds: 0.0, ..cost }))
        };
        let mut all: BTreeMap<String, String> = episodes.iter().map(told).collect();
        all.extend(metrics.map(number));
        all.extend(costs.into_iter().map(cost));
        let weights = self.file("policy.safetensors");
        all.insert("policy".into(), merit_core::hex(&weights));
        all
    }

    /// Panics with the names of what differs.
    pub(crate) fn must_be(&self, other: &Self) {
        let (ours, theirs) = (self.essence(), other.essence());
        let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        let differ: Vec<_> = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name)).collect();
        assert!(differ.is_empty(), "{differ:#?}");
    }
}
