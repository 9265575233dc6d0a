//! Everything that a term or a combinator is written with.

pub use crate::check::{Advice, Bound, Threshold};
pub use crate::compile::{Combinator, Compiler};
pub use crate::condition::{Condition, Deciding};
pub use crate::config::RewardConfig;
pub use crate::error::{Problem, RewardError};
pub use crate::expression::{
    BatchValues, Expression, Node, NodeContext, Slot, StateUpdate, add_by_turn, evaluate, evaluate_all,
    evaluate_as,
};
pub use crate::range::Range;
pub use crate::scorer::{ScoreContext, Scorer};
pub use crate::state::RewardState;
pub use crate::term::{
    AnnotationNeed, BatchCounts, CommonSettings, EvalContext, ParseFailurePath, PreparedTerm, Term, TermKind,
    TermResult,
};
pub use crate::terms::{ByTurn, Pay, Reading, Reference};
pub use crate::trace::Tracer;
pub use crate::value::{Value, numbers, stopper};
pub use merit_core::registry::{About, Component, Components, Refusal};
pub use merit_core::{
    Action, CallEnd, End, Episode, Evidence, Known, PolicyVersion, Provenance, Refresh, Role, Segment,
    TermOutcome, entry,
};
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
pub use std::sync::Arc;
