//! What world is the agent in? The worlds that come with merit.
//!
//! The seam is in merit-api: settings ([`WorldSettings`]) are built into a [`World`], which makes tasks and opens each as an
//! [`Env`]. Each world here is a module; [`WORLDS`] lists them.

pub mod boards;
pub mod catalogue;
pub mod command;
pub mod inquiry;
pub mod kbqa;
pub mod ledger;
pub mod lens;
pub mod look;
pub mod mix;
pub mod pairs;
pub mod places;
pub mod programs;
pub mod python;
mod registry;
pub mod rows;
mod script;
pub mod service;
pub mod sums;
pub mod tasks;
pub mod toolshelf;
pub mod vault;

pub use merit_api::conformance;
pub use merit_api::{
    Env, EnvError, Expert, ExpertTurn, LiveTools, StepResult, Termination, ToolBuilder, World, WorldSettings,
    fingerprint, split_of,
};
pub use registry::{WORLDS, read_world, register, world};
