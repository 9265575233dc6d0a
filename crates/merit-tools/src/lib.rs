//! What happens when the agent acts on the outside? Tools with typed outcomes.
//!
//! A [`Tool`] is found by name in [`TOOLS`] or built from a [`ToolConfig`]; each episode opens its own [`ToolSession`]. What
//! the agent asked wrongly is [`ToolAnswer::Refused`] with a text that teaches; what broke on our side is
//! [`ToolAnswer::Broken`]. [`conformance::check_tool`] is the contract as checks that anybody may run on their own tool.

mod blocking;
mod calculator;
pub mod conformance;
mod faulty;
mod lookup;
mod rational;
mod registry;
mod tool;

pub use blocking::{NoAnswer, call_blocking};
pub use calculator::{Calculator, MAX_DEPTH, MAX_LENGTH, evaluate};
pub use faulty::{FaultPlan, Faulty, FaultyConfig, MAX_LATENCY_MS};
pub use lookup::{Lookup, MAX_KEY_LENGTH};
pub use rational::Rational;
pub use registry::{NoOptions, TOOLS, ToolConfig, ToolEntry, tool};
pub use tool::{Pace, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession};
