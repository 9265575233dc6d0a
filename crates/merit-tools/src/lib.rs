//! What happens when the agent acts on the outside? Tools with typed outcomes.
//!
//! A [`Tool`] is found by name in [`TOOLS`] or built from a [`ToolConfig`]; each episode opens its own [`ToolSession`]. What
//! the agent asked wrongly is [`ToolAnswer::Refused`] with a text that teaches; what broke on our side is
//! [`ToolAnswer::Broken`]. [`conformance::check_tool`] is the contract as checks that anybody may run on their own tool.

mod blocking;
mod calculator;
mod card;
mod commons;
pub mod conformance;
mod convert;
mod decimal;
mod excerpt;
mod faulty;
pub mod formats;
mod http_fixture;
mod lookup;
mod mcp;
mod python;
mod registry;
mod search;
mod simulated;
mod sql;
mod tape;
mod tool;
mod workspace;

pub use blocking::{NoAnswer, call_blocking};
pub use calculator::{CalcConfig, Calculator, MAX_DEPTH, MAX_LENGTH, evaluate};
pub use card::{Arguments, ToolCard};
pub use commons::Commons;
pub use convert::{ConvertConfig, Converter, convert};
pub use faulty::{FaultPlan, Faulty, FaultyConfig, MAX_LATENCY_MS};
pub use http_fixture::{Http, HttpConfig, HttpFixture, HttpResponse};
pub use lookup::{Lookup, LookupConfig, MAX_KEY_LENGTH};
pub use mcp::{McpConfig, McpTool};
pub use python::{Python, PythonConfig};
pub use registry::{TOOLS, ToolConfig, ToolEntry, ToolSettings, tool};
pub use search::{EmbeddingConfig, Search, SearchConfig};
pub use simulated::{
    Declaration, Example, PlayedCall, Remembered, RoleConfig, Simulated, SimulatedConfig, ToolPlayer,
};
pub use sql::{Sql, SqlToolConfig};
pub use tape::{
    CallEntry, FORMAT as TAPE_FORMAT, Fingerprint, Match, Miss, Scope, Tape, TapeCounts, TapeError, TapeKind,
    TapedTool, Timing, Toolbox,
};
pub use tool::{Pace, Tool, ToolAnswer, ToolError, ToolFuture, ToolSession};
pub use workspace::{Workspace, WorkspaceConfig};
