//! Is this the same answer? Extraction, parsing and exact comparison of mathematics, within hard limits.
//!
//! In: the text of a reference and of a response, and a [`MathsConfig`]. Out: a [`Verdict`]: equal or not, what was extracted
//! from each side, which rule decided. Pure and thread-safe: the same input and settings give the same verdict on any
//! thread. Every loop and recursion spends from a [`Budget`], so hostile input ends within its limit.

mod budget;
mod compare;
mod config;
mod expr;
mod extract;
mod form;
mod math_verify;
mod parse;
mod qualifiers;
pub mod units;
mod verdict;
mod verify;

pub use budget::{Budget, Exhausted, Limits};
pub use compare::{Decision, Half, compare, rational_value, round_to};
pub use config::{Compat, Extraction, MathsConfig, MathsConfigError, Percent, Several, Units};
pub use expr::{Constant, Expr, Function, Quantifier, Relation, Rounded};
pub use extract::tail;
pub use form::{Asked, Form};
pub use math_verify::{
    ExprTarget, ExtractionMode, FallbackMode, LatexTarget, MathVerifyOptions, StringTarget, Target,
};
pub use merit_core::Conclusion;
pub use parse::{ParseError, parse_latex, parse_plain};
pub use verdict::{Candidate, CandidateKind, Comparison, Side, Verdict};
pub use verify::{verify, verify_asked};
