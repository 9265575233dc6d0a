//! Worlds by name.

use crate::WORLDS;
use merit_api::WorldSettings;
use merit_core::registry::{Chosen, Components, Entry, UnknownName};
use merit_core::settings::{ReadError, from_toml};

/// Adds every world. Tools are added by `merit_tools::register`.
#[must_use]
pub fn register(components: Components) -> Components {
    components.with_all(WORLDS)
}

/// The world called `name`, or an error that names the nearest.
///
/// ```
/// assert_eq!(merit_env::world("ledger").unwrap().about.name, "ledger");
/// assert!(merit_env::world("leger").unwrap_err().to_string().contains("did you mean `ledger`?"));
/// ```
pub fn world(name: &str) -> Result<Entry<dyn WorldSettings>, UnknownName> {
    register(Components::default()).find(name)
}

/// The settings that a TOML text describes: `type` and whatever the world takes, its tools among it.
///
/// ```
/// use merit_env::{LiveTools, read_world};
/// let vault = read_world("type = \"vault\"\nboxes = 5").unwrap().build(&LiveTools).unwrap();
/// assert_eq!(vault.about().name, "vault");
/// ```
pub fn read_world(text: &str) -> Result<Chosen<dyn WorldSettings>, ReadError> {
    merit_tools::register(register(Components::default())).reading(|| from_toml(text))
}
