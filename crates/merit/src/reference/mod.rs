//! The reference: every key of every document, as a JSON Schema for editors and as a page for people.
//!
//! In: the components that a document may name, ours and a caller's. Out: schemas that [`merit_core::registry::document`]
//! computes from the settings structs, and what [`keys`] reads out of them: key, type, default, meaning. `docs/reference.md`,
//! `docs/recipe.schema.json` and `merit list KIND NAME` are all written here.

pub mod keys;
mod page;
mod sheet;

pub use page::page;
pub use sheet::sheet;

use merit_core::Components;
use merit_core::registry::document;
use merit_lab::SystemFile;
use merit_reward::RewardConfig;
use merit_run::Recipe;
use serde_json::Value;

/// The JSON Schema of recipes.
///
/// ```
/// let schema = merit::reference::recipe_schema(&merit::built_in());
/// assert_eq!(schema["properties"]["budget"]["$ref"], "#/$defs/Budget");
/// ```
pub fn recipe_schema(components: &Components) -> Value {
    titled("A recipe", document::<Recipe>(components))
}

/// The JSON Schema of reward files.
pub fn reward_schema(components: &Components) -> Value {
    titled("A reward", document::<RewardConfig>(components))
}

/// The JSON Schema of system files.
pub fn system_schema() -> Value {
    titled("A system", document::<SystemFile>(&studies()))
}

/// What a system file may name.
pub fn studies() -> Components {
    Components::default().with_all(merit_lab::STUDIES)
}

fn titled(title: &str, mut schema: Value) -> Value {
    schema["title"] = title.into();
    schema
}
