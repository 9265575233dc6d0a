//! `[tasks]`: which training tasks a step of learning plays.
//!
//! In: settings, the step's seed, and what earlier steps have seen of the tasks. Out: indices of training tasks. What is kept between
//! steps lies in the checkpoint, so that a run that comes back draws alike. Absent, tasks come one after another and none again.

mod curriculum;
mod draw;
mod known;
mod pool;
mod stream;

pub use curriculum::{Curriculum, Plateau};
pub(crate) use draw::Drawing;
pub(crate) use known::Seen;
pub use known::{Known, TaskState};
pub use pool::Pool;
pub use stream::Stream;

use crate::RunError;
use merit_core::registry::{Chosen, Components, Entry, Kind};
use merit_core::{Seed, entry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub static TASK_SOURCES: &[Entry<dyn TaskSource>] =
    &[entry!(Stream as dyn TaskSource), entry!(Pool as dyn TaskSource), entry!(Curriculum as dyn TaskSource)];

/// Adds every task source of this crate.
pub(crate) fn register(components: Components) -> Components {
    components.with_all(TASK_SOURCES)
}

/// Where the tasks of a step come from. It keeps nothing itself: what it has to remember is in the state.
pub trait TaskSource: Send + Sync {
    /// Indices of up to `count` training tasks, none of which the step has taken. Asked again in the same step when tasks have to be
    /// replaced. Fewer: there are no others.
    fn draw(&self, ask: &Ask<'_>, state: &mut TaskState, count: usize) -> Result<Vec<u64>, RunError>;

    /// Told at the end of a step which share of its episodes solved their task. Absent: no episode counts.
    fn observe(&self, _success: Option<f64>, _state: &mut TaskState) {}

    /// Whether it draws tasks again, so that what is known of them has to be kept.
    fn returns(&self) -> bool {
        false
    }

    /// Refuses, in words, what cannot work with so many tasks per step.
    fn check_for(&self, _groups: u32) -> Result<(), String> {
        Ok(())
    }

    /// Numbers of its own to record with each step.
    fn numbers(&self, _state: &TaskState) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

impl Kind for dyn TaskSource {
    const KIND: &'static str = "task source";
}

/// What a source is asked with.
pub struct Ask<'a> {
    pub step: u64,
    /// Tasks of one training step.
    pub groups: u64,
    /// What the step has taken already.
    pub taken: &'a BTreeSet<u64>,
    /// The seed of this draw.
    pub seed: Seed,
    /// The size of a task.
    pub size: &'a dyn Fn(u64) -> Result<u32, RunError>,
}

/// Which tasks are played while learning by reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tasks {
    /// Where tasks come from.
    pub source: Chosen<dyn TaskSource>,
    /// How much of what is known of a task is left after a step.
    pub decay: f64,
    /// Only tasks that the policy solves neither too rarely nor too often. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Groups whose rewards are all equal are dropped, and others are drawn. Absent: they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refill: Option<Refill>,
    /// Tasks that were failed before are played again. Absent: only as the source has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

/// A window of pass rates, both ends included, measured on earlier visits or else by probing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// The lowest pass rate that is played.
    pub at_least: f64,
    /// The highest pass rate that is played.
    pub at_most: f64,
    /// Episodes that measure a task of which too little is known. They are not learned from.
    pub samples: u32,
    /// How often others are drawn in a step for those that were passed over.
    pub attempts: u32,
}

/// Dynamic sampling (DAPO, 2025).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refill {
    /// How often others are drawn in a step. 0: nothing takes the place of what is dropped.
    pub attempts: u32,
}

/// Tasks of whose last visit no episode solved them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Of a step's tasks, as far as there are any.
    pub share: f64,
}

impl Default for Tasks {
    fn default() -> Self {
        let source: Chosen<dyn TaskSource> = Chosen::of(Stream {}, |stream| stream);
        Self { source, decay: 0.9, filter: None, refill: None, replay: None }
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self { at_least: 0.0, at_most: 1.0, samples: 4, attempts: 4 }
    }
}

impl Tasks {
    /// Refuses what cannot work, in words.
    pub(crate) fn check(&self, groups: u32, group_size: u32) -> Result<(), String> {
        self.source.check_for(groups)?;
        share("decay", self.decay)?;
        if let Some(filter) = &self.filter {
            filter.check()?;
        }
        if self.refill.is_some() && group_size < 2 {
            return Err("`tasks.refill` drops groups whose rewards are all equal, and with `budget.group_size` 1 all are; raise \
                        that, or leave `refill` out"
                .into());
        }
        match &self.replay {
            Some(replay) => share("replay.share", replay.share),
            None => Ok(()),
        }
    }

    /// At most so many times as many episodes are recorded in a step.
    pub(crate) fn most_rounds(&self) -> u64 {
        1 + self.refill.map_or(0, |refill| u64::from(refill.attempts))
    }
}

impl Filter {
    fn check(&self) -> Result<(), String> {
        share("filter.at_least", self.at_least)?;
        share("filter.at_most", self.at_most)?;
        let (low, high) = (self.at_least, self.at_most);
        if low > high {
            return Err(format!(
                "`tasks.filter` lets nothing through: `at_least` is {low}, above `at_most`, {high}"
            ));
        }
        if low == 0.0 && high == 1.0 {
            return Err(
                "`tasks.filter` lets every task through; raise `at_least`, lower `at_most`, or leave it out"
                    .into(),
            );
        }
        if self.samples == 0 {
            return Err("`tasks.filter.samples` is 0; it must be at least 1".into());
        }
        Ok(())
    }

    /// Whether a task with this pass rate is played.
    pub(crate) fn admits(&self, rate: f64) -> bool {
        (self.at_least..=self.at_most).contains(&rate)
    }
}

fn share(key: &str, value: f64) -> Result<(), String> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(format!("`tasks.{key}` is {value}; it must lie between 0 and 1")),
    }
}
