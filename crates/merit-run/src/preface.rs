//! What is shown with a task before the policy's first turn: turns of a bank (`[bank]`) or items of a memory (`[memory]`).
//!
//! In: plans of episodes. Out: the same with hints. They are looked up once for each task, so that all members of its group read the
//! same: their prompts are part of what makes them a group. Hints are never trained.

use crate::RunError;
use crate::bank::Experience;
use crate::parts::Parts;
use merit_api::{World, fingerprint};
use merit_core::stats::mean;
use merit_core::{Role, Task, canonical};
use merit_memory::Snapshot;
use merit_rollout::EpisodePlan;
use std::collections::BTreeMap;

/// What earlier episodes of a learning left.
#[derive(Debug, Clone, Default)]
pub(crate) struct Earlier {
    pub(crate) bank: Experience,
    pub(crate) memory: Snapshot,
}

impl Parts {
    /// Gives every plan what is shown with its task; how much that is, on average over tasks. Nothing where the recipe shows nothing.
    pub(crate) fn show(&self, earlier: &Earlier, plans: &mut [EpisodePlan]) -> Result<Option<f64>, RunError> {
        let world = self.env.as_ref();
        if let Some(bank) = &self.recipe.bank {
            return bank.show(world, &earlier.bank, plans).map(Some);
        }
        match &self.recipe.memory {
            Some(memory) => memory.show(world, &earlier.memory, plans).map(Some),
            None => Ok(None),
        }
    }
}

/// Gives every plan the hints that `find` has for its group, asked once a group; how many that are, on average.
pub(crate) fn show_each(
    plans: &mut [EpisodePlan],
    mut find: impl FnMut(&EpisodePlan) -> Result<Vec<String>, RunError>,
) -> Result<f64, RunError> {
    let mut by_group: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for plan in plans {
        let hints = match by_group.get(&plan.id.group) {
            Some(hints) => hints,
            None => {
                let found = find(plan)?;
                &*by_group.entry(plan.id.group).or_insert(found)
            }
        };
        plan.preface.clone_from(hints);
    }
    let counts: Vec<f64> = by_group.values().map(|hints| hints.len() as f64).collect();
    Ok(mean(&counts).unwrap_or(0.0))
}

/// What tells a task from others: what is in it, since the same case may come again under another number.
pub(crate) fn case_of(task: &Task) -> String {
    fingerprint(&canonical(&task.payload))
}

/// What a task begins with, without instructions.
pub(crate) fn prompt(world: &dyn World, plan: &EpisodePlan) -> Result<String, RunError> {
    let messages = world.open(&plan.task, &plan.world_seed(), None)?.reset()?;
    let said =
        messages.iter().filter(|message| message.role != Role::System).map(|message| message.text.as_str());
    Ok(said.flat_map(str::split_whitespace).collect::<Vec<&str>>().join(" "))
}
