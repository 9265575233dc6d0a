//! JSON Schema (2020-12, and what draft 7 adds) as a table of nodes, with bounded work.
//!
//! One table serves the verdict of validity and the walk of partial credit, so the two cannot disagree about what a
//! schema says. Keywords that are not understood are refused when the schema is compiled, never skipped in silence:
//! `unevaluatedProperties`, `unevaluatedItems`, `$dynamicRef` and references to other documents among them. `format` is an
//! annotation, as the standard has it by default. Validation spends from a budget; a schema that refers to itself without
//! descending into the value is refused.

mod compile;
mod keywords;
mod local;
mod node;
mod scope;
mod validate;

pub use compile::{SchemaError, UnknownKeywords};
pub(crate) use local::local_failure;
pub(crate) use node::NodeId;
pub use node::Schema;
pub(crate) use validate::Validation;
pub use validate::{Failure, FailureKind};
