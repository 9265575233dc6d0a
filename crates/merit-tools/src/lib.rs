//! What happens when the agent acts on the outside? Tools with typed outcomes.
//!
//! A [`Tool`] is found by name in [`TOOLS`] or built from a [`ToolConfig`]; each episode opens its own [`ToolSession`]. What
//! the agent asked wrongly is [`ToolAnswer::Refused`] with a text that teaches; what broke on our side is
//! [`ToolAnswer::Broken`]. [`conformance::check_tool`] is the contract as checks that anybody may run on their own tool.

mod blocking;
mod calculator;
mod card;
pub mod conformance;
mod faulty;
mod lookup;
mod rational;
mod registry;
mod tool;

pub use blocking::{NoAnswer, call_blocking};
pub use calculator::{CalcConfig, Calculator, MAX_DEPTH, MAX_LENGTH, evaluate};
pub use card::{Arguments, ToolCard, canonical};
pub use faulty::{FaultPlan, Faulty, FaultyConfig, MAX_LATENCY_MS};
pub use lookup::{Lookup, LookupConfig, MAX_KEY_LENGTH};
pub use rational::Rational;
pub use registry::{TOOLS, ToolConfig, ToolEntry, ToolSettings, tool};
pub use tool::{Pace, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession};
