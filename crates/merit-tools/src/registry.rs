//! Every tool by name. A new tool is one file, one variant of [`ToolConfig`] and one line in [`TOOLS`].

use crate::faulty::{self, Faulty, FaultyConfig};
use crate::{Calculator, FaultPlan, Lookup, Tool, ToolError, calculator, lookup};
use merit_core::About;
use merit_core::registry::{UnknownName, find};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A registered tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolEntry {
    /// Name, one line of help.
    pub about: About,
    /// The settings it has when a recipe gives only its name.
    pub default: fn() -> ToolConfig,
}

impl ToolEntry {
    /// The tool with its default settings.
    pub fn build(&self) -> Result<Arc<dyn Tool>, ToolError> {
        (self.default)().build()
    }
}

/// All tools.
pub const TOOLS: &[ToolEntry] = &[
    ToolEntry { about: calculator::ABOUT, default: || ToolConfig::Calc(NoOptions {}) },
    ToolEntry { about: lookup::ABOUT, default: || ToolConfig::Lookup(NoOptions {}) },
    ToolEntry { about: faulty::ABOUT, default: default_faulty },
];

/// The tool called `name`, or an error that names the nearest.
///
/// ```
/// let calc = merit_tools::tool("calc").unwrap().build().unwrap();
/// assert_eq!(calc.about().name, "calc");
/// assert!(merit_tools::tool("cacl").unwrap_err().to_string().contains("did you mean `calc`?"));
/// ```
pub fn tool(name: &str) -> Result<&'static ToolEntry, UnknownName> {
    find("tool", TOOLS, |entry| entry.about, name)
}

/// A tool in a recipe, chosen by `name`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum ToolConfig {
    /// [`Calculator`].
    Calc(NoOptions),
    /// [`Lookup`].
    Lookup(NoOptions),
    /// [`Faulty`].
    Faulty(FaultyConfig),
}

/// The settings of a tool that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

impl ToolConfig {
    /// The tool it describes.
    pub fn build(&self) -> Result<Arc<dyn Tool>, ToolError> {
        Ok(match self {
            Self::Calc(NoOptions {}) => Arc::new(Calculator),
            Self::Lookup(NoOptions {}) => Arc::new(Lookup),
            Self::Faulty(config) => Arc::new(Faulty::new(config.inner.build()?, config.plan)?),
        })
    }
}

/// A fault plan has no natural tool of its own; calm weather around the calculator stands for all.
fn default_faulty() -> ToolConfig {
    let inner = Box::new(ToolConfig::Calc(NoOptions {}));
    ToolConfig::Faulty(FaultyConfig { inner, plan: FaultPlan::default() })
}
