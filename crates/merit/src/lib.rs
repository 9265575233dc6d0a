//! merit as a library: agentic reinforcement learning with parts of one's own.
//!
//! A recipe names a world, a model, a reward, a credit rule and an objective; [`built_in`] holds those that come with merit, and
//! [`Components::with`](prelude::Components::with) adds your own. [`Run`](prelude::Run) trains by a recipe into a folder;
//! [`Session`](prelude::Session) is the same loop by hand, step by step. A program that only adds a component needs less than this
//! crate: [`api`] for worlds and tools, [`reward`] for terms and combinators, [`credit`] for credit rules, [`learn`] for
//! objectives, each light to compile.
//!
//! ```
//! use merit::prelude::*;
//! let recipe = shipped::load("ledger-tools")?.with(&[("credit.scale_by_std".into(), "false".into())])?;
//! assert_eq!(recipe.credit.about().name, "grpo");
//! assert!(merit::built_in().find::<dyn CreditRule>("gae").is_ok());
//! # Ok::<(), merit::Error>(())
//! ```

pub use merit_api as api;
pub use merit_attack as attack;
pub use merit_core as core;
#[doc(hidden)]
pub use merit_core::schemars;
pub use merit_credit as credit;
pub use merit_learn as learn;
pub use merit_measure as measure;
pub use merit_reward as reward;
pub use merit_rollout as rollout;
pub use merit_run as run;
pub use merit_store as store;
#[doc(hidden)]
pub use serde;

pub use merit_core::{entry, registry};

mod cli;
mod commands;
mod display;
mod episode_text;
mod interrupt;
mod out;
pub mod program;
pub mod reference;

/// Every component that comes with merit: what recipes, rewards and system files may name, and the probes of audits. A caller adds
/// its own with [`Components::with`](prelude::Components::with).
#[must_use]
pub fn built_in() -> merit_core::Components {
    merit_run::built_in().with_all(merit_lab::STUDIES).with_all(merit_attack::PROBES)
}

/// Any error of a program that uses merit.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of a program that uses merit.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What most programs need. Derives of settings structs want `#[serde(crate = "merit::serde")]` and
/// `#[schemars(crate = "merit::schemars")]`, unless the program depends on serde and schemars itself.
pub mod prelude {
    pub use crate::{Error, Result, built_in, entry};
    pub use merit_api::{
        Demonstration, Env, EnvError, NoState, StepResult, TextGame, Tool, World, WorldSettings,
    };
    pub use merit_core::registry::{About, Chosen, Component, Components, Refusal};
    pub use merit_core::{
        Action, CallRecord, Episode, Evidence, Group, Message, Outcome, Phase, Role, Sample, ScoredEpisode,
        Seed, Split, Stream, Task,
    };
    pub use merit_credit::{Credit, CreditBatch, CreditError, CreditRule, Note, Properties};
    pub use merit_learn::{Learner, Objective};
    pub use merit_reward::prelude::{EvalContext, TermResult};
    pub use merit_reward::{RewardConfig, Scorer, Term, TermKind};
    pub use merit_run::{Event, Finished, Recipe, Run, Session, shipped};
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};
}
