//! Is this output right? Verifiers of structured output, queries, programs, text and state, within hard limits.

pub mod calls;
pub mod code;
pub mod json;
pub mod similarity;
pub mod sql;
pub mod state;
pub mod text;
