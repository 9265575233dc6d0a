//! Every tool by name. A new tool is one file with an `ENTRY` and a config, and one line in [`TOOLS`]' list below.

use crate::calculator::{self, CalcConfig};
use crate::convert::{self, ConvertConfig};
use crate::faulty::{self, FaultyConfig};
use crate::http_fixture::{self, HttpConfig};
use crate::lookup::{self, LookupConfig};
use crate::mcp::{self, McpConfig};
use crate::python::{self, PythonConfig};
use crate::search::{self, SearchConfig};
use crate::simulated::{self, SimulatedConfig};
use crate::sql::{self, SqlToolConfig};
use crate::workspace::{self, WorkspaceConfig};
use crate::{Tool, ToolError};
use merit_core::About;
use merit_core::registry::{UnknownName, find};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A registered tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolEntry {
    /// Name, one line of help, paper.
    pub about: About,
    /// Settings as they stand in a recipe, without the name. Empty: it has none that must be given.
    pub example: &'static str,
    /// What the example needs that is not part of merit. Empty: nothing, and the conformance checks run it.
    pub needs: &'static str,
}

/// The settings of a tool, or of a source of several.
pub trait ToolSettings {
    /// The tools they describe. An error names the setting and what to do.
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError>;
}

macro_rules! tools {
    ($( $(#[$doc:meta])* $variant:ident($config:ty) in $module:ident, )*) => {
        /// All tools.
        pub const TOOLS: &[ToolEntry] = &[$( $module::ENTRY, )*];

        /// A tool in a recipe, chosen by `name`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum ToolConfig { $( $(#[$doc])* $variant($config), )* }

        impl ToolConfig {
            fn settings(&self) -> &dyn ToolSettings {
                match self { $( Self::$variant(config) => config, )* }
            }

            /// The entry in [`TOOLS`].
            pub fn entry(&self) -> &'static ToolEntry {
                match self { $( Self::$variant(_) => &$module::ENTRY, )* }
            }
        }
    };
}

tools! {
    /// [`Calculator`](crate::Calculator).
    Calc(CalcConfig) in calculator,
    /// [`Lookup`](crate::Lookup).
    Lookup(LookupConfig) in lookup,
    /// [`Converter`](crate::Converter).
    Convert(ConvertConfig) in convert,
    /// [`Sql`](crate::Sql).
    Sql(SqlToolConfig) in sql,
    /// [`Workspace`](crate::Workspace).
    Workspace(WorkspaceConfig) in workspace,
    /// [`Http`](crate::Http).
    Http(HttpConfig) in http_fixture,
    /// [`Simulated`](crate::Simulated).
    Simulated(SimulatedConfig) in simulated,
    /// [`Python`](crate::Python).
    Python(PythonConfig) in python,
    /// [`Search`](crate::Search).
    Search(SearchConfig) in search,
    /// [`McpTool`](crate::McpTool).
    Mcp(McpConfig) in mcp,
    /// [`Faulty`](crate::Faulty).
    Faulty(FaultyConfig) in faulty,
}

/// The tool called `name`, or an error that names the nearest.
///
/// ```
/// let calc = merit_tools::tool("calc").unwrap().config().unwrap().build().unwrap();
/// assert_eq!(calc.card().name, "calc");
/// assert!(merit_tools::tool("cacl").unwrap_err().to_string().contains("did you mean `calc`?"));
/// ```
pub fn tool(name: &str) -> Result<&'static ToolEntry, UnknownName> {
    find("tool", TOOLS, |entry| entry.about, name)
}

impl ToolEntry {
    /// Its example as settings.
    pub fn config(&self) -> Result<ToolConfig, toml::de::Error> {
        ToolConfig::from_toml(&format!("name = \"{}\"\n{}\n", self.about.name, self.example))
    }
}

impl ToolConfig {
    /// The settings that a TOML text describes.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// All tools it describes: one, or as many as a source offers.
    pub fn build_all(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        self.settings().build()
    }

    /// The one tool it describes.
    pub fn build(&self) -> Result<Arc<dyn Tool>, ToolError> {
        let mut tools = self.build_all()?;
        match (tools.pop(), tools.len()) {
            (Some(tool), 0) => Ok(tool),
            (last, rest) => Err(ToolError::Setting {
                tool: self.entry().about.name.to_owned(),
                why: format!("it offers {} tools where one is wanted", rest + usize::from(last.is_some())),
            }),
        }
    }
}
