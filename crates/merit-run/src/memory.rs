//! `[memory]`: items of a store, shown with tasks.
//!
//! The store is a folder that `merit memory` keeps, which a run reads and does not change, or it is made in the run: after every step
//! items are formed from what was played, and those that were shown win or lose by what followed. Then a checkpoint keeps it.
//! Items are looked up by what a task begins with and never among those formed from the same task.

use crate::RunError;
use crate::guests::is_guest;
use crate::preface::{case_of, prompt, show_each};
use merit_api::World;
use merit_core::{Group, Phase, ScoredEpisode};
use merit_memory::form::Kept;
use merit_memory::{Kind, MadeBy, Memory, Query, Settings, Snapshot, form};
use merit_rollout::EpisodePlan;
use merit_store::RunFolder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// Which items are shown, and where they come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// A memory that was made before; it is read and not changed. Absent: `store` says what is made in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// A memory that is made in the run from what is played. Absent: there is a `folder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<Settings>,
    /// Items that are shown with a task, at most.
    pub show: usize,
    /// Words of all items together that are shown with a task, at most.
    pub words: usize,
    /// Every task reads what belongs to another one: a control.
    pub shuffled: bool,
    /// The reward of an episode from which on facts and experiences are formed of it.
    pub stored_at: f64,
    /// Letters of an item; longer ones are not kept.
    pub longest: usize,
    /// Share of the demonstrations that show items, so that the policy can read them; never shuffled.
    pub demonstrations: f64,
}

impl Default for MemorySettings {
    fn default() -> Self {
        Self {
            folder: None,
            store: None,
            show: 2,
            words: 60,
            shuffled: false,
            stored_at: 0.7,
            longest: 160,
            demonstrations: 0.5,
        }
    }
}

/// An item that was found: its text, and the task it was formed from.
type Hint = (String, Option<String>);

impl MemorySettings {
    /// Refuses what cannot work, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        crate::checks::at_least_one(&[
            ("memory.show", self.show as u64),
            ("memory.words", self.words as u64),
            ("memory.longest", self.longest as u64),
        ])?;
        if !(0.0..=1.0).contains(&self.demonstrations) {
            let share = self.demonstrations;
            return Err(format!("`memory.demonstrations` is {share}; it is a share between 0 and 1"));
        }
        match (&self.folder, &self.store) {
            (None, None) | (Some(_), Some(_)) => Err(
                "[memory] needs one of `folder`, a memory that was made before, and `store`, one that is made in the run".into(),
            ),
            (None, Some(store)) if store.kind == Kind::Profile => Err(
                "`memory.store.kind` is `profile`, which is not formed from episodes; make one by `merit memory add` and name its `folder`".into(),
            ),
            (None, Some(store)) => store.check().map_err(|why| why.to_string()),
            (Some(folder), None) if !Path::new(folder).join("memory.toml").is_file() => {
                Err(format!("`memory.folder`: {folder} is no memory; `merit memory add {folder} FILE` makes one"))
            }
            (Some(_), None) => Ok(()),
        }
    }

    fn open(&self, kept: &Snapshot) -> Result<Memory, RunError> {
        match (&self.folder, &self.store) {
            (Some(folder), _) => Ok(Memory::open(Path::new(folder))?),
            (None, store) => Ok(Memory::restore(store.clone().unwrap_or_default(), kept)?),
        }
    }

    /// The SHA-256 of the folder that is read; nothing where there is none.
    pub(crate) fn digest(&self) -> Result<Option<String>, RunError> {
        let digest = self.folder.as_ref().map(|folder| Memory::open(Path::new(folder))?.digest());
        Ok(digest.transpose()?)
    }

    /// Refuses a folder that is not what the run began with.
    pub(crate) fn pin(&self, run: &mut RunFolder) -> Result<(), RunError> {
        let (Some(folder), Some(digest)) = (&self.folder, self.digest()?) else { return Ok(()) };
        let began_with: Option<String> = run.mark("memory")?;
        match began_with {
            Some(known) if known != digest => Err(RunError::OtherData { file: folder.clone() }),
            Some(_) => Ok(()),
            None => Ok(run.set_mark("memory", &digest)?),
        }
    }

    /// Gives every plan the items that are shown with its task; how many that are, on average over tasks.
    pub(crate) fn show(
        &self,
        world: &dyn World,
        kept: &Snapshot,
        plans: &mut [EpisodePlan],
    ) -> Result<f64, RunError> {
        self.show_in(world, &mut self.open(kept)?, self.shuffled, plans)
    }

    /// The same for demonstrations, of which `plans` are those that show something.
    pub(crate) fn show_demonstrations(
        &self,
        world: &dyn World,
        kept: &Snapshot,
        plans: &mut [EpisodePlan],
    ) -> Result<f64, RunError> {
        self.show_in(world, &mut self.open(kept)?, false, plans)
    }

    /// Whether the demonstration of this number shows items: evenly spread.
    pub(crate) fn shows_in(&self, demonstration: usize) -> bool {
        let before = |count: usize| (count as f64 * self.demonstrations).floor();
        before(demonstration + 1) > before(demonstration)
    }

    fn show_in(
        &self,
        world: &dyn World,
        memory: &mut Memory,
        shuffled: bool,
        plans: &mut [EpisodePlan],
    ) -> Result<f64, RunError> {
        if memory.is_empty()? {
            return Ok(0.0);
        }
        let mut found: BTreeMap<u32, Vec<Hint>> = BTreeMap::new();
        for plan in plans.iter() {
            if let Entry::Vacant(group) = found.entry(plan.id.group) {
                group.insert(self.find(memory, &prompt(world, plan)?, &case_of(&plan.task))?);
            }
        }
        let groups: Vec<u32> = found.keys().copied().collect();
        show_each(plans, |plan| {
            let at = groups.iter().position(|group| *group == plan.id.group).unwrap_or(0);
            // Of the next task of the batch; a task alone reads nothing.
            let whose = if shuffled { groups[(at + 1) % groups.len()] } else { plan.id.group };
            let own = case_of(&plan.task);
            let read = found.get(&whose).filter(|_| !shuffled || groups.len() > 1);
            let others = read.into_iter().flatten().filter(|(_, task)| task.as_ref() != Some(&own));
            Ok(others.map(|(text, _)| text.clone()).collect())
        })
    }

    fn find(&self, memory: &mut Memory, asked: &str, case: &str) -> Result<Vec<Hint>, RunError> {
        let query = Query { words: Some(self.words), not_from: Some(case), ..Query::new(asked, self.show) };
        let found = memory.retrieve(&query)?.items;
        Ok(found.into_iter().map(|item| (item.text, item.made_by.task)).collect())
    }

    /// Forms items from the groups of a step, and lets those that were shown win or lose. A folder stays as it is.
    pub(crate) fn store(&self, kept: &mut Snapshot, groups: &[Group], version: u64) -> Result<(), RunError> {
        let own = |group: &Group| -> Vec<ScoredEpisode> {
            group.members().iter().filter(|scored| !is_guest(&scored.episode)).cloned().collect()
        };
        let groups: Vec<Vec<ScoredEpisode>> = groups.iter().map(own).collect();
        self.store_all(kept, &groups, &Phase::train(), version)
    }

    /// What demonstrations leave.
    pub(crate) fn of_demonstrations(&self, episodes: &[ScoredEpisode]) -> Result<Snapshot, RunError> {
        let mut kept = Snapshot::default();
        let groups: Vec<Vec<ScoredEpisode>> = episodes.iter().map(|one| vec![one.clone()]).collect();
        self.store_all(&mut kept, &groups, &Phase::Demonstration, 0)?;
        Ok(kept)
    }

    fn store_all(
        &self,
        kept: &mut Snapshot,
        groups: &[Vec<ScoredEpisode>],
        phase: &Phase,
        policy_version: u64,
    ) -> Result<(), RunError> {
        let Some(store) = &self.store else { return Ok(()) };
        let mut memory = self.open(kept)?;
        memory.learn_from(&groups.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let rule = Kept { stored_at: self.stored_at, longest: self.longest };
        let mut candidates = Vec::new();
        for group in groups {
            let Some(first) = group.first() else { continue };
            let task = Some(case_of(&first.episode.task));
            let by = MadeBy { run: phase.to_string(), policy_version, task };
            candidates.extend(form::episodes(store.kind, group, &by, &rule));
        }
        memory.evolve(candidates)?;
        *kept = memory.snapshot()?;
        Ok(())
    }
}
