//! What happens when the agent acts on the outside? Tools with typed outcomes.
//!
//! The seam is in merit-api: settings ([`ToolSettings`]) are built into [`Tool`]s, and each episode opens its own
//! [`ToolSession`]. What the agent asked wrongly is [`ToolAnswer::Refused`] with a text that teaches; what broke on our side is
//! [`ToolAnswer::Broken`]. Here are the tools that come with merit, listed in [`TOOLS`], the formats of calls, and the
//! [`Toolbox`] that records and replays calls.

mod decimal;
mod excerpt;
pub mod formats;
mod pure;
mod registry;
mod tape;

/// Declares the module of each tool, re-exports its settings and lists them: a new tool is one file, and one line here.
macro_rules! tools {
    ($($module:ident::$Settings:ident),+ $(,)?) => {
        $( mod $module; pub use $module::$Settings; )+

        /// The tools that come with merit; a caller may add others to [`merit_core::registry::Components`].
        pub static TOOLS: &[merit_core::registry::Entry<dyn ToolSettings>] =
            &[$( merit_core::entry!($module::$Settings as dyn ToolSettings) ),+];
    };
}

tools! {
    calculator::CalcConfig,
    lookup::LookupConfig,
    convert::ConvertConfig,
    sql::SqlToolConfig,
    workspace::WorkspaceConfig,
    http_fixture::HttpConfig,
    simulated::SimulatedConfig,
    python::PythonConfig,
    python_tool::PythonToolConfig,
    search::SearchConfig,
    mcp::McpConfig,
    faulty::FaultyConfig,
}

pub use merit_api::conformance;
pub use merit_api::{
    Arguments, EpisodeShared, ExecKind, NoAnswer, Tool, ToolAnswer, ToolBuilder, ToolError, ToolFuture,
    ToolSession, ToolSettings, ToolSpec, call_blocking, no_state,
};

pub use calculator::{Calculator, MAX_DEPTH, MAX_LENGTH, evaluate};
pub use convert::{Converter, convert};
pub use faulty::{FaultPlan, Faulty, MAX_LATENCY_MS};
pub use http_fixture::{Http, HttpFixture, HttpResponse};
pub use lookup::{Lookup, MAX_KEY_LENGTH};
pub use mcp::McpTool;
pub use python::Python;
pub use python_tool::PythonTool;
pub use registry::{example_settings, read_tool, register, tool};
pub use search::{EmbeddingConfig, Search};
pub use simulated::{Declaration, Example, PlayedCall, Remembered, RoleConfig, Simulated, ToolPlayer};
pub use sql::Sql;
pub use tape::{
    CallEntry, FORMAT as TAPE_FORMAT, Fingerprint, Match, Miss, Scope, Tape, TapeCounts, TapeError, TapeKind,
    TapedTool, Timing, Toolbox,
};
pub use workspace::Workspace;
