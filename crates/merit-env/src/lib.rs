//! What world is the agent in? The worlds that come with merit.
//!
//! The seam is in merit-api: settings ([`WorldSettings`]) are built into a [`World`], which makes tasks and opens each as an
//! [`Env`]. Worlds here, listed in [`WORLDS`]: [`ledger`], questions that need two tools over several turns, [`vault`], boxes whose
//! state the actions change, [`sums`], arithmetic by a calculator or by written steps, [`inquiry`], a form for somebody who has to be
//! asked, [`places`], rooms or pages in which acts have preconditions, [`tasks`], one's own questions from a file, and [`command`], a
//! program in any language.

pub mod command;
pub mod inquiry;
pub mod ledger;
pub mod mix;
pub mod places;
mod registry;
pub mod rows;
pub mod sums;
pub mod tasks;
pub mod vault;

pub use merit_api::conformance;
pub use merit_api::{
    Env, EnvError, Expert, ExpertTurn, LiveTools, StepResult, Termination, ToolBuilder, World, WorldSettings,
    fingerprint, split_of,
};
pub use registry::{WORLDS, read_world, register, world};
