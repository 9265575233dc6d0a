//! Tools in a recipe, and who builds them.

use crate::{Tool, ToolError};
use merit_core::registry::{Chosen, Kind, Refusal};
use std::sync::Arc;

/// The settings of a tool, or of a source of several. Implemented by the settings struct, which is also a
/// [`Component`](merit_core::registry::Component).
pub trait ToolSettings: Send + Sync {
    /// Opens what the tools need: files, indexes, servers. Never called by a check. An error names the setting and what to do.
    fn build(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError>;

    /// The longest that a call may take by the tool's own limit, in seconds. Absent: it has none of its own.
    fn timeout_s(&self) -> Option<f64> {
        None
    }

    /// The one tool that they describe; a source of several is refused.
    fn build_one(&self) -> Result<Arc<dyn Tool>, ToolError> {
        let mut tools = self.build()?;
        match (tools.pop(), tools.len()) {
            (Some(tool), 0) => Ok(tool),
            (last, _) => {
                let names: Vec<&str> =
                    tools.iter().chain(&last).map(|tool| tool.spec().name.as_str()).collect();
                let why = format!("it offers {} tools where one is wanted", names.len());
                Err(ToolError::Setting { tool: names.join(", "), why })
            }
        }
    }

    /// What the example needs that is not part of merit. Empty: nothing, and the conformance checks run it.
    fn needs(&self) -> &'static str {
        ""
    }
}

impl Kind for dyn ToolSettings {
    const KIND: &'static str = "tool";
}

/// Builds the tools of a world, and so decides how their calls are answered: by the tools themselves, recorded, or from a
/// recording.
pub trait ToolBuilder {
    /// The tools that these settings describe.
    fn build(&self, settings: &Chosen<dyn ToolSettings>) -> Result<Vec<Arc<dyn Tool>>, ToolError>;

    /// A tool that was built in code.
    fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool>;
}

/// Calls are answered by the tools themselves.
#[derive(Debug, Clone, Copy, Default)]
pub struct LiveTools;

impl ToolBuilder for LiveTools {
    fn build(&self, settings: &Chosen<dyn ToolSettings>) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        settings.build()
    }

    fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        tool
    }
}

/// The tools of several settings. Two of one name are refused, since a call could mean either.
pub fn build_tools(
    settings: &[Chosen<dyn ToolSettings>],
    builder: &dyn ToolBuilder,
) -> Result<Vec<Arc<dyn Tool>>, Refusal> {
    let mut tools: Vec<(String, Arc<dyn Tool>)> = Vec::new();
    for (at, settings) in settings.iter().enumerate() {
        let source = format!("`tools[{at}]` ({})", settings.about().name);
        let built = builder.build(settings).map_err(|error| Refusal::new(format!("{source}: {error}")))?;
        for tool in built {
            let name = &tool.spec().name;
            if let Some((other, _)) = tools.iter().find(|(_, known)| known.spec().name == *name) {
                return Err(Refusal::new(format!(
                    "two tools are called `{name}`: of {other} and of {source}; leave one out"
                )));
            }
            tools.push((source.clone(), tool));
        }
    }
    Ok(tools.into_iter().map(|(_, tool)| tool).collect())
}
