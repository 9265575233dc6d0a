//! Components by name: what a component says of itself, lists of them, and how a document names one.
//!
//! A [`Component`] is a settings struct: it carries its name, one line of help, its paper, an example and its own checks. An
//! [`Entry`] reads such a struct out of a table and hands it over behind the trait it implements; a registry is a plain list
//! of entries, written with [`registry!`](crate::registry!). [`Components`] holds the lists of every kind, the shipped ones
//! and whatever a caller adds. A [`Chosen`] is a component as a document holds it: `{ type = "grpo", scale_by_std = false }`.
//!
//! [`document`] is the JSON Schema of a document: every key with type, default and meaning, read from the settings structs.
//!
//! To add a component: one file with the struct, and its name in the list.

mod chosen;
mod components;
mod entry;
mod names;
mod schema;

pub use chosen::Chosen;
pub use components::{Components, Kind, Listed};
pub use entry::{About, Component, Entry, Read, Refusal, read_settings};
pub use names::{UnknownName, find, nearest};
pub use schema::{AnyTable, definition, document};
pub use schemars::JsonSchema;
