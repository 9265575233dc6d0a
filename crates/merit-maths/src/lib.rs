//! Is this the same answer? Extraction, parsing and exact comparison of mathematics, within hard limits.
//!
//! In: the text of a reference and of a response, and a [`Policy`]. Out: a [`Verdict`]: equal or not, what was extracted
//! from each side, which rule decided. Pure and thread-safe: the same input and policy give the same verdict on any
//! thread. Every loop and recursion spends from a [`Budget`], so hostile input ends within its limit.

mod budget;
mod expr;
mod policy;
mod verdict;

pub use budget::{Budget, Exhausted, Limits};
pub use expr::{Constant, Expr, Function, Quantifier, Relation, Rounded};
pub use policy::{Compat, Extraction, Percent, Policy, Several, Units};
pub use verdict::{Candidate, CandidateKind, Conclusion, Side, Verdict};
