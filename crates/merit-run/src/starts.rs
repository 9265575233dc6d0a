//! Warm starts that are kept in a folder, so that runs which begin alike imitate once.
//!
//! In: a folder, and everything a warm start depends on. Out: the tokenizer, the weights and the numbers of each update, the same
//! to the bit as imitating again. A start is written beside its place and renamed into it: it is there whole or not at all, and of
//! two writers one loses without harm. One that cannot be read is made anew.

use crate::RunError;
use crate::bank::{Bank, Rank};
use crate::memory::MemorySettings;
use crate::parts::Parts;
use crate::recipe::Recipe;
use merit_core::settings;
use merit_store::RunFolder;
use merit_tools::Toolbox;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const STORY: &str = "start.json";
const WEIGHTS: &str = "weights.safetensors";
const TOKENIZER: &str = "tokenizer.json";

/// What is kept of a warm start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptStart {
    /// Its updates, in order.
    pub(crate) updates: Vec<KeptUpdate>,
    /// The tokenizer as JSON. Absent: the model came with one.
    pub(crate) tokenizer: Option<String>,
    /// The weights, or the adapter where only that was trained.
    pub(crate) weights: Vec<u8>,
}

/// What is told of one update.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptUpdate {
    pub(crate) loss: f64,
    /// Tokens that entered the loss.
    pub(crate) tokens: u64,
}

/// What lies beside the files of a start.
#[derive(Serialize, Deserialize)]
struct Story {
    merit: String,
    updates: Vec<KeptUpdate>,
    /// Hash of each file.
    files: BTreeMap<String, String>,
}

/// The place of one start in its folder.
pub(crate) struct Place {
    folder: PathBuf,
    pub(crate) key: String,
}

impl Place {
    /// Where the warm start of `imitating` is kept: a recipe whose tokenizer and first weights are those of `newborn`. `origin` is
    /// the fingerprint of the model's files, where it has any. `None` where it is not shared: a model that teaches is asked by each
    /// run, and what it said is judged by the run's own reward; calls on a tape are made by the run that records it.
    pub(crate) fn of(
        folder: Option<&Path>,
        newborn: &Parts,
        imitating: &Recipe,
        origin: Option<&str>,
    ) -> Result<Option<Self>, RunError> {
        let live = matches!(newborn.toolbox, Toolbox::Live);
        let Some(folder) = folder.filter(|_| live && imitating.roles.teacher.is_oracle()) else {
            return Ok(None);
        };
        let mut tokenizer = demonstrated(&newborn.recipe)?;
        if let Some(warm_start) = tokenizer.get_mut("warm_start").and_then(toml::Value::as_table_mut) {
            // How often they are gone through says nothing of what is demonstrated.
            warm_start.retain(|key, _| !["steps", "batch", "learning_rate"].contains(&key));
        }
        let model = settings::to_value(&imitating.model).expect("a model is plain data");
        let parts = [
            ("merit", toml::Value::from(env!("CARGO_PKG_VERSION"))),
            ("seed", toml::Value::from(newborn.seed.as_u64().to_string())),
            ("model", model),
            ("origin", toml::Value::from(origin.unwrap_or_default())),
            ("tokenizer", tokenizer.into()),
            ("imitated", demonstrated(imitating)?.into()),
        ];
        let table: toml::Table = parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let text = toml::to_string(&table).expect("a table of plain data can be written");
        let key = merit_core::hex(&Sha256::digest(text.as_bytes()))[..32].to_owned();
        Ok(Some(Self { folder: folder.to_owned(), key }))
    }

    fn path(&self) -> PathBuf {
        self.folder.join(&self.key)
    }

    /// The start that is kept here, once its files are found whole.
    pub(crate) fn find(&self) -> Option<KeptStart> {
        let path = self.path();
        let story: Story = serde_json::from_slice(&std::fs::read(path.join(STORY)).ok()?).ok()?;
        let whole = |name: &str| {
            let bytes = std::fs::read(path.join(name)).ok()?;
            (story.files.get(name) == Some(&hash(&bytes))).then_some(bytes)
        };
        let tokenizer = match story.files.contains_key(TOKENIZER) {
            true => Some(String::from_utf8(whole(TOKENIZER)?).ok()?),
            false => None,
        };
        Some(KeptStart { weights: whole(WEIGHTS)?, tokenizer, updates: story.updates })
    }

    /// Keeps a start. One that is here already stays, unless it cannot be read.
    pub(crate) fn keep(&self, start: &KeptStart) -> std::io::Result<()> {
        static WRITERS: AtomicU64 = AtomicU64::new(0);
        let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
        let beside = self.folder.join(format!(".{}.{}-{writer}.tmp", self.key, std::process::id()));
        let written = self.write(&beside, start).and_then(|()| {
            if self.path().exists() && self.find().is_none() {
                std::fs::remove_dir_all(self.path())?;
            }
            std::fs::rename(&beside, self.path())
        });
        if written.is_err() {
            // The process that was first has written the same.
            let _ = std::fs::remove_dir_all(&beside);
        }
        if self.path().exists() { Ok(()) } else { written }
    }

    fn write(&self, folder: &Path, start: &KeptStart) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut files = vec![(WEIGHTS, start.weights.as_slice())];
        files.extend(start.tokenizer.as_ref().map(|tokenizer| (TOKENIZER, tokenizer.as_bytes())));
        let story = Story {
            merit: env!("CARGO_PKG_VERSION").to_owned(),
            updates: start.updates.clone(),
            files: files.iter().map(|(name, bytes)| ((*name).to_owned(), hash(bytes))).collect(),
        };
        let story = serde_json::to_vec(&story).expect("plain data becomes JSON");
        files.push((STORY, &story));
        files.into_iter().try_for_each(|(name, bytes)| std::fs::write(folder.join(name), bytes))
    }
}

/// Everything in `recipe` that its demonstrations depend on. Of `[rollout]` only the time that a call may take: they have limits of
/// their own, and are not sampled.
fn demonstrated(recipe: &Recipe) -> Result<toml::Table, RunError> {
    let value = |result: Result<toml::Value, _>| result.expect("settings are plain data");
    let world = value(settings::to_value(&recipe.demonstration_world()?));
    let mut files = toml::Table::new();
    hash_files(&world, &mut files);
    let mut table = toml::Table::from_iter([
        ("world".to_owned(), world),
        ("files".to_owned(), files.into()),
        ("warm_start".to_owned(), value(settings::to_value(recipe.warm()))),
        ("roles".to_owned(), value(settings::to_value(&recipe.roles))),
        ("tool_seconds".to_owned(), toml::Value::Float(recipe.rollout.tool_seconds)),
    ]);
    if let Some(bank) = &recipe.bank {
        // What is shown in demonstrations depends on what they are paid; how turns are ranked later does not matter to them.
        let usual = Bank { rank: Rank::default(), ..bank.clone() };
        table.insert("bank".to_owned(), value(settings::to_value(&usual)));
        table.insert("reward".to_owned(), value(settings::to_value(&recipe.reward)));
    }
    if let Some(memory) = &recipe.memory {
        let usual = MemorySettings { shuffled: false, ..memory.clone() };
        table.insert("memory".to_owned(), value(settings::to_value(&usual)));
        table.insert("reward".to_owned(), value(settings::to_value(&recipe.reward)));
        table.extend(memory.digest()?.map(|digest| ("memory_digest".to_owned(), digest.into())));
    }
    Ok(table)
}

/// Refuses to go on where a file that the world's settings name is not what the run began with.
pub(crate) fn pin_world(recipe: &Recipe, run: &RunFolder) -> Result<(), RunError> {
    let mut files = toml::Table::new();
    let world = settings::to_value(&recipe.world).expect("settings are plain data");
    hash_files(&world, &mut files);
    let now: BTreeMap<String, String> =
        files.into_iter().filter_map(|(name, hash)| Some((name, hash.as_str()?.to_owned()))).collect();
    let began_with: Option<BTreeMap<String, String>> = run.mark("world")?;
    match began_with {
        None => Ok(run.set_mark("world", &now)?),
        Some(known) => match known.iter().find(|(name, hash)| now.get(*name) != Some(hash)) {
            Some((name, _)) => Err(RunError::OtherData { file: name.clone() }),
            None => Ok(()),
        },
    }
}

/// The hash of every file that a world's settings name.
fn hash_files(value: &toml::Value, found: &mut toml::Table) {
    match value {
        toml::Value::String(name) if Path::new(name).is_file() => {
            let content = std::fs::read(name).map_or_else(|why| why.to_string(), |bytes| hash(&bytes));
            found.insert(name.clone(), content.into());
        }
        toml::Value::Array(items) => items.iter().for_each(|item| hash_files(item, found)),
        toml::Value::Table(table) => table.iter().for_each(|(_, item)| hash_files(item, found)),
        _ => {}
    }
}

fn hash(bytes: &[u8]) -> String {
    merit_core::hex(&Sha256::digest(bytes))
}
