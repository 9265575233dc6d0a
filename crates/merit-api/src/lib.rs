//! What may I bring of my own? The traits that anybody may implement, with their plain data.
//!
//! A program that adds a world, a tool, a sampler or a trainer depends on this crate and on merit-core, and compiles little. A world is settings
//! ([`WorldSettings`]) that are built into a [`World`], which makes tasks and opens each as an [`Env`] with Gymnasium's `reset` and
//! `step`. Most text worlds are only their rules: [`TextGame`]. A tool is settings ([`ToolSettings`]) that are built into
//! [`Tool`]s; each episode opens its own [`ToolSession`]. [`conformance`] is the contract of both as checks that anybody may run.
//!
//! The implementations that come with merit live to the right: worlds in merit-env, tools in merit-tools, samplers and
//! trainers in merit-model.
#![warn(missing_docs)]

pub mod annotator;
mod author;
mod blocking;
mod call_language;
mod command_card;
pub mod conformance;
mod derived;
mod env;
mod error;
mod expert;
mod game_world;
pub mod sampler;
mod shared;
mod split;
mod text_game;
mod tool;
mod tool_settings;
mod tool_spec;
pub mod trainer;
mod world;

pub use author::{Author, Context};
pub use blocking::{NoAnswer, call_blocking};
pub use call_language::CallLanguage;
pub use command_card::CommandCard;
pub use derived::Derived;
pub use env::{Env, StepResult, Termination};
pub use error::EnvError;
pub use expert::{Demonstration, Expert, ExpertTurn, Manner};
pub use game_world::{GameWorld, puzzle_of};
pub use shared::EpisodeShared;
pub use split::{fingerprint, split_of};
pub use text_game::{NoState, TextGame, line, sizes_of};
pub use tool::{ExecKind, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession, no_state};
pub use tool_settings::{LiveTools, ToolBuilder, ToolSettings, build_tools};
pub use tool_spec::{Arguments, ToolSpec};
pub use world::{Word, World, WorldLook, WorldSettings};
