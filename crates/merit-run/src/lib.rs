//! The driver: a recipe goes through the stations into a run folder.

pub mod toml_error;
