//! What happens when the agent acts on the outside? Tools with typed outcomes.
//!
//! The seam is in merit-api: settings ([`ToolSettings`]) are built into [`Tool`]s, and each episode opens its own
//! [`ToolSession`]. What the agent asked wrongly is [`ToolAnswer::Refused`] with a text that teaches; what broke on our side is
//! [`ToolAnswer::Broken`]. Here are the tools that come with merit, listed in [`TOOLS`], the formats of calls, and the
//! [`Toolbox`] that records and replays calls.

mod calculator;
mod convert;
mod decimal;
mod excerpt;
mod faulty;
pub mod formats;
mod http_fixture;
mod lookup;
mod mcp;
mod pure;
mod python;
mod python_tool;
mod registry;
mod search;
mod simulated;
mod sql;
mod tape;
mod workspace;

pub use merit_api::conformance;
pub use merit_api::{
    Arguments, EpisodeShared, ExecKind, NoAnswer, Tool, ToolAnswer, ToolBuilder, ToolError, ToolFuture,
    ToolSession, ToolSettings, ToolSpec, call_blocking, no_state,
};

pub use calculator::{CalcConfig, Calculator, MAX_DEPTH, MAX_LENGTH, evaluate};
pub use convert::{ConvertConfig, Converter, convert};
pub use faulty::{FaultPlan, Faulty, FaultyConfig, MAX_LATENCY_MS};
pub use http_fixture::{Http, HttpConfig, HttpFixture, HttpResponse};
pub use lookup::{Lookup, LookupConfig, MAX_KEY_LENGTH};
pub use mcp::{McpConfig, McpTool};
pub use python::{Python, PythonConfig};
pub use python_tool::{PythonTool, PythonToolConfig};
pub use registry::{TOOLS, example_settings, read_tool, register, tool};
pub use search::{EmbeddingConfig, Search, SearchConfig};
pub use simulated::{
    Declaration, Example, PlayedCall, Remembered, RoleConfig, Simulated, SimulatedConfig, ToolPlayer,
};
pub use sql::{Sql, SqlToolConfig};
pub use tape::{
    CallEntry, FORMAT as TAPE_FORMAT, Fingerprint, Match, Miss, Scope, Tape, TapeCounts, TapeError, TapeKind,
    TapedTool, Timing, Toolbox,
};
pub use workspace::{Workspace, WorkspaceConfig};
