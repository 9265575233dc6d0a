//! Is this output right? Verifiers of structured output, queries, programs, text and state, within hard limits.

pub mod calls;
pub mod code;
pub mod json;
pub mod records;
pub mod similarity;
pub mod sql;
pub mod state;
pub mod text;

pub use merit_core::{Conclusion, Judgement, Verifier};
