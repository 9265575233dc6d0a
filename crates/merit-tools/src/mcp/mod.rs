//! The tools of any server of the Model Context Protocol.
//!
//! In: how to start or reach a server. Out: its tools, with its own names, descriptions and schemas. What the server calls an error
//! of the caller is a refusal; a server that is gone, late or talks nonsense is broken. A server may keep state, so by default an
//! episode has a connection of its own, shared by all the server's tools; one that keeps none may be shared by everybody.

mod session;

use crate::{Arguments, EpisodeShared, ExecKind, Tool, ToolError, ToolSession, ToolSettings, ToolSpec};
use merit_core::canonical;
use merit_core::registry::{Component, Refusal, nearest};
use merit_core::{About, Task};
use merit_mcp::{Client, ServerConfig, ToolInfo, wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use session::{Connection, McpSession};
use std::sync::Arc;

const ABOUT: About =
    About { name: "mcp", summary: "The tools of a server of the Model Context Protocol.", paper: "" };

/// `mcp`: a server of the Model Context Protocol, and which of its tools are offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McpConfig {
    /// How it is started or reached.
    pub server: ServerConfig,
    /// The tools that are offered to agents. Empty: all.
    #[serde(default)]
    pub only: Vec<String>,
    /// Put before every name, where names would clash.
    #[serde(default)]
    pub prefix: String,
    /// The server keeps nothing between calls, so that all episodes may share one connection.
    #[serde(default)]
    pub stateless: bool,
    /// Longest text the agent is shown; what is longer is cut in the middle.
    #[serde(default = "shown_chars")]
    pub shown_chars: usize,
}

fn shown_chars() -> usize {
    4_000
}

impl Component for McpConfig {
    const ABOUT: About = ABOUT;
    const EXAMPLE: &'static str = "server = { command = [\"python3\", \"server.py\"] }";

    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless(self.shown_chars >= 100, "shown_chars", self.shown_chars, "at least 100")
    }
}

impl ToolSettings for McpConfig {
    /// Without the start of the server, which the first call of an episode may wait for.
    fn timeout_s(&self) -> Option<f64> {
        Some(self.server.timeout_s)
    }

    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let setting = |why: String| ToolError::Setting { tool: ABOUT.name.to_owned(), why };
        self.check().map_err(|refusal| ToolError::refused(ABOUT.name, refusal))?;
        let client = wait(Client::connect(&self.server)).map_err(|error| setting(error.to_string()))?;
        for wanted in &self.only {
            if !client.tools().iter().any(|tool| tool.name == *wanted) {
                let near = nearest(wanted, client.tools().iter().map(|tool| tool.name.as_str()));
                let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
                return Err(setting(format!(
                    "`only` names `{wanted}`, which the server does not offer{near}"
                )));
            }
        }
        let chosen = |tool: &&ToolInfo| self.only.is_empty() || self.only.contains(&tool.name);
        let infos: Vec<ToolInfo> = client.tools().iter().filter(chosen).cloned().collect();
        let shared = self.stateless.then(|| Arc::new(Connection::open_already(self.server.clone(), client)));
        let make = |info: &ToolInfo| {
            let card = card(info, &self.prefix);
            let (config, remote) = (self.clone(), info.name.clone());
            Arc::new(McpTool { card, remote, config, shared: shared.clone() }) as Arc<dyn Tool>
        };
        Ok(infos.iter().map(make).collect())
    }

    fn needs(&self) -> &'static str {
        "a server"
    }
}

fn card(info: &ToolInfo, prefix: &str) -> ToolSpec {
    ToolSpec {
        name: format!("{prefix}{}", info.name),
        summary: info.description.clone(),
        arguments: Arguments::Json { schema: info.input_schema.clone() },
        example: canonical(&json!({})),
    }
}

/// One tool of a server.
pub struct McpTool {
    card: ToolSpec,
    /// What the server calls it.
    remote: String,
    config: McpConfig,
    /// The connection of all episodes. Absent: each has its own.
    shared: Option<Arc<Connection>>,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.card
    }

    fn exec_kind(&self) -> ExecKind {
        ExecKind::Waiting
    }

    fn open(&self, task: &Task, state: Option<&Value>) -> Result<Arc<dyn ToolSession>, ToolError> {
        self.open_beside(&EpisodeShared::default(), task, state)
    }

    fn open_beside(
        &self,
        shared: &EpisodeShared,
        _task: &Task,
        state: Option<&Value>,
    ) -> Result<Arc<dyn ToolSession>, ToolError> {
        if state.is_some_and(|state| *state != Value::Null && *state != session::untouched()) {
            let why = "what a server keeps cannot be restored; repeat the calls that were made".to_owned();
            return Err(ToolError::Snapshot { tool: self.card.name.clone(), why });
        }
        let connection = match &self.shared {
            Some(shared) => Arc::clone(shared),
            None => {
                let server = &self.config.server;
                // Equal settings mean the same server, whichever of its tools is opened first.
                let key = format!("mcp {server:?}");
                shared.get_or(&key, || Connection::to(server.clone()))
            }
        };
        Ok(Arc::new(McpSession {
            connection,
            remote: self.remote.clone(),
            arguments: self.card.arguments.clone(),
            shown_chars: self.config.shown_chars,
            stateless: self.config.stateless,
        }))
    }
}
