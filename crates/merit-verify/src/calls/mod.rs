//! Tool calls: is each one well formed, and is the sequence what it should be?
//!
//! In: tool specifications, calls as the policy wrote them, and [`Rule`]s over the sequence of calls and observations. Out:
//! a [`CallVerdict`] per call (unknown tool, broken JSON, which argument is missing, unknown or ill typed) and a
//! [`RuleVerdict`] per rule with the index of the call that decided. A match with reference actions says which call
//! earned what, and how far things had come after each call. Pure and thread-safe; bounded by [`Limits`](crate::json::Limits).

mod arguments;
mod check;
mod grounding;
mod record;
mod reference;
mod rule;
mod spec;
mod trace;

pub use check::{CallChecker, CallProblem, CallVerdict, CheckError};
pub use grounding::Grounding;
pub use record::{CallsConfig, CallsDetail, CallsRecord, CallsVerifier};
pub use reference::{Alignment, CallMatch, Matching, ReferenceActions};
pub use rule::{AtMost, CallPattern, NoRepeat, Rule, RuleError};
pub use spec::{Call, Step, ToolSchema};
pub use trace::{RuleVerdict, TraceError, TraceRules};
