//! Tools by name.

use crate::formats::CALL_FORMATS;
use crate::{TOOLS, ToolSettings};
use merit_core::registry::{Chosen, Components, Entry, UnknownName};
use merit_core::settings::{ReadError, from_toml};

/// Adds every tool and call format.
#[must_use]
pub fn register(components: Components) -> Components {
    components.with_all(TOOLS).with_all(CALL_FORMATS)
}

/// The tool called `name`, or an error that names the nearest.
///
/// ```
/// assert_eq!(merit_tools::tool("calc").unwrap().about.name, "calc");
/// assert!(merit_tools::tool("cacl").unwrap_err().to_string().contains("did you mean `calc`?"));
/// ```
pub fn tool(name: &str) -> Result<Entry<dyn ToolSettings>, UnknownName> {
    register(Components::default()).find(name)
}

/// The settings that a TOML text describes: `type` and whatever the tool takes.
///
/// ```
/// use merit_tools::{ToolSettings as _, read_tool};
/// assert_eq!(read_tool("type = \"calc\"").unwrap().build_one().unwrap().spec().name, "calc");
/// ```
pub fn read_tool(text: &str) -> Result<Chosen<dyn ToolSettings>, ReadError> {
    register(Components::default()).reading(|| from_toml(text))
}

/// The example of a tool as settings.
pub fn example_settings(entry: &Entry<dyn ToolSettings>) -> Result<Chosen<dyn ToolSettings>, ReadError> {
    read_tool(&format!("type = \"{}\"\n{}\n", entry.about.name, entry.example))
}
