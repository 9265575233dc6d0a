//! Tasks one after another.

use super::{Ask, TaskSource, TaskState};
use crate::RunError;
use merit_core::registry::{About, Component};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The world's training tasks one after another, none twice.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {}

impl Component for Stream {
    const ABOUT: About = About {
        name: "stream",
        summary: "The world's training tasks one after another, none twice.",
        paper: "",
    };
}

impl TaskSource for Stream {
    fn draw(&self, ask: &Ask<'_>, state: &mut TaskState, count: usize) -> Result<Vec<u64>, RunError> {
        let first = state.next.max(ask.step * ask.groups);
        state.next = first + count as u64;
        Ok((first..state.next).collect())
    }
}
