//! What a driver tells its watcher: plain events, which the shell shows as a display, as lines or as JSON.

use merit_core::Phase;
use merit_rollout::Progress;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run has a folder and a size.
    Started {
        run: String,
        recipe: String,
        /// Hash of the resolved recipe.
        recipe_hash: String,
        seed: u64,
        /// Parameters of the policy.
        parameters: usize,
        /// Whether it goes on from a checkpoint.
        resumed: bool,
    },
    /// A stage begins.
    Stage {
        what: String,
        /// Share of the whole run that is done, from 0 to 1.
        done: f64,
    },
    /// A supervised update.
    Warm {
        step: u64,
        of: u64,
        loss: f64,
        /// Tokens read per second of the stage.
        tokens_per_s: f64,
        /// Share of the whole run that is done.
        done: f64,
        /// Whether another run made the updates up to this one, and the start was shared.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        shared: bool,
    },
    /// A step of learning by reward.
    Step {
        /// The learning it belongs to. As JSON it is called `arm`: `main`, a control's name, or that of the stage.
        #[serde(rename = "arm", serialize_with = "owner")]
        phase: Phase,
        step: u64,
        of: u64,
        /// Share of counting episodes that solved their task.
        success: f64,
        reward: f64,
        /// Mean value of each reward term over the episodes it applies to.
        terms: BTreeMap<String, f64>,
        /// Everything that the record has of this step.
        metrics: BTreeMap<String, f64>,
        /// Tokens sampled and trained per second of this step.
        tokens_per_s: f64,
        /// Share of the whole run that is done.
        done: f64,
    },
    /// An update of a stage that imitates a dataset or prefers.
    Update {
        stage: String,
        step: u64,
        of: u64,
        loss: f64,
        /// Tokens read per second.
        tokens_per_s: f64,
        /// Share of the whole run that is done.
        done: f64,
        /// Whether another run made the updates up to this one, and the start was shared.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        shared: bool,
    },
    /// Episodes were collected.
    Collected {
        stage: String,
        step: u64,
        of: u64,
        episodes: usize,
        /// Share of counting episodes that solved their task.
        success: f64,
        /// Share of the whole run that is done.
        done: f64,
    },
    /// A held-out evaluation is done.
    Evaluated {
        /// `eval-before`, `eval-step` or `eval-after`, of a control with `@` and its name behind it; `evaluate:NAME` of a stage.
        phase: Phase,
        /// The step after which it was taken.
        step: u64,
        success: f64,
        tasks: usize,
    },
    /// Nothing has happened for a while.
    Stalled {
        /// What everybody is waiting for.
        waiting: String,
    },
    /// Something to tell whoever watches the run.
    Note { text: String },
}

fn owner<S: Serializer>(phase: &Phase, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(phase.owner())
}

/// What a finished run amounts to: the last line of `train --json`.
#[derive(Debug, Clone, Serialize)]
pub struct Finished {
    /// Greedy held-out success of the warm-started policy: the no-RL control.
    pub held_out_before: f64,
    /// Greedy held-out success of the trained policy.
    pub held_out_after: f64,
    /// Wall seconds of the run, all its sessions together.
    pub train_seconds: f64,
    pub run: String,
    /// Held-out success of each control arm.
    pub controls: BTreeMap<String, f64>,
    /// Held-out success after training, by size of task.
    pub held_out_by_size: BTreeMap<String, f64>,
    /// The numbers of every evaluation that the recipe's stages name, by its name and theirs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evaluations: BTreeMap<String, BTreeMap<String, f64>>,
    /// How each model beside the policy did on what it had not learned from, by the stage that fitted it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fits: BTreeMap<String, BTreeMap<String, f64>>,
    pub recipe: String,
    /// Hash of the resolved recipe.
    pub recipe_hash: String,
    pub seed: u64,
    pub report: String,
}

/// Passes on what a rollout is waiting for, when it stalls or is asked.
pub(crate) fn stalls(watch: &mut dyn FnMut(Event)) -> impl FnMut(Progress) {
    move |progress| {
        if let Progress::Stalled(waiting) = progress {
            watch(Event::Stalled { waiting: waiting.to_string() });
        }
    }
}
