//! Every term and combinator, in two plain lists. Help texts and the conformance test read them.

use crate::combinators::{clip, gate, product, schedule, solved_by, sum, veto};
use crate::terms::{cost, exact_answer, format, tool_success};
use merit_core::About;

/// What a registered part of the reward algebra says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// Name (its `type`), one line of help, paper.
    pub about: About,
    /// A whole reward in TOML that uses it.
    pub example: &'static str,
}

/// Every term.
pub const TERMS: &[Component] =
    &[exact_answer::EXACT_ANSWER, format::FORMAT, tool_success::TOOL_SUCCESS, cost::COST];

/// Every combinator.
pub const COMBINATORS: &[Component] = &[
    sum::SUM,
    product::PRODUCT,
    gate::GATE,
    veto::VETO,
    clip::CLIP,
    schedule::SCHEDULE,
    solved_by::SOLVED_BY,
];
