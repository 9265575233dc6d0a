//! What world is the agent in? Procedural worlds with exact oracles.
//!
//! An [`Env`] is found by name in [`ENVS`] or built from an [`EnvConfig`]; it makes tasks and opens them as [`World`]s. Worlds
//! here: [`ledger`], questions that need two tools over several turns, [`vault`], boxes whose state the actions
//! change, and [`tasks`], one's own questions from a file.
//! [`conformance::check_env`] is the contract as checks that anybody may run on their own world.

pub mod conformance;
pub mod ledger;
mod registry;
mod split;
pub mod tasks;
pub mod vault;
mod world;

pub use registry::{ENVS, EnvConfig, EnvEntry, env};
pub use split::{fingerprint, split_of};
pub use world::{DemoTurn, Demonstrator, Env, EnvError, Reaction, World, WorldEnd};
