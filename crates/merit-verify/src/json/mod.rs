//! Structured output: is it JSON, does it have the demanded shape, does it say the right thing?
//!
//! In: the text of an output, a [`JsonConfig`] and perhaps a reference. Out: a [`JsonVerdict`] of four layers (parse,
//! structure, types, content), each with the places that cost it. Credit is defined on slightly broken text, and a text
//! that does not parse is its own conclusion. Pure and thread-safe; every size and every loop over outside data is bounded
//! by [`Limits`].

pub(crate) mod canonical;
mod config;
mod content;
mod credit;
mod extract;
pub(crate) mod given;
mod lex;
pub(crate) mod limits;
pub(crate) mod matching;
mod nested;
pub(crate) mod number;
mod parse;
pub(crate) mod path;
mod record;
mod repair;
pub(crate) mod schema;
mod verdict;
mod verify;

pub use canonical::Numbers;
pub use config::{
    Compare, ConfigError, ContentConfig, Empty, ExtraFields, Extract, FieldRule, Gate, JsonConfig, Weights,
};
pub use limits::{BadLimits, Exhausted, Limits, MAX_DEPTH, TooLarge};
pub use parse::{FAULTS_KEPT, Fault, Parsed, parse};
pub use path::{BadPath, PathPattern};
pub use record::{JsonRecord, JsonRecords};
pub use schema::{Failure, FailureKind, Schema, SchemaError, UnknownKeywords};
pub use verdict::{JsonDetail, JsonVerdict, Layer};
pub use verify::JsonVerifier;
