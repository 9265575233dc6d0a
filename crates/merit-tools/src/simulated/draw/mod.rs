//! Values drawn from a JSON Schema: types, enums, constants, bounds, sizes, properties, alternatives and local references.
//!
//! Keywords that cannot be drawn from (`pattern`, `not`, `allOf` and the like) are refused when the schema is read. What is
//! drawn is checked against the schema before it leaves, so a bug here shows as an error and never as a wrong value.

mod number;
mod plan;
mod read;

use super::declared::verifier;
use merit_core::Stream;
use merit_verify::json::JsonVerifier;
use plan::Plan;
use serde_json::Value;

/// Values that are drawn until one fits.
const TRIES: usize = 8;

/// A schema to draw from.
#[derive(Debug)]
pub(super) struct Drawer {
    plan: Plan,
    check: JsonVerifier,
}

impl Drawer {
    /// Reads a schema; an error names the place and the keyword.
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let check = verifier(schema)?;
        Ok(Self { plan: read::read(schema)?, check })
    }

    /// Draws a value that fits.
    pub(super) fn draw(&self, stream: &mut Stream) -> Result<Value, String> {
        let mut failure = None;
        // Alternatives may exclude each other in ways that only the whole value shows.
        for _ in 0..TRIES {
            let value = self.plan.draw(stream);
            let verdict = self.check.verify(&value.to_string(), None);
            if verdict.valid == Some(true) {
                return Ok(value);
            }
            let detail = verdict.detail;
            failure = detail.structure.failures.into_iter().chain(detail.types.failures).next();
        }
        let place =
            failure.map_or_else(String::new, |failure| format!(" at `{}`: {}", failure.path, failure.why));
        Err(format!("contradicts itself or is too narrow to draw from{place}"))
    }
}
