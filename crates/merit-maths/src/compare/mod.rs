//! Are two answers the same? Exact where it can be: rationals, normal forms, sets and relations; certain numerics where
//! it cannot.
//!
//! In: the reference and the response as [`Expr`], the [`MathsConfig`]. Out: a [`Decision`] with the rule that made it.
//! Every loop spends from the [`Budget`]; the same input gives the same decision on any thread.

mod answers;
mod applied;
mod assignment;
mod atoms;
mod calculus;
mod collections;
mod complex;
mod cross;
mod elementary;
mod endpoints;
mod evaluate;
mod exact;
mod expand;
mod exponent;
mod fraction;
mod functions;
mod identity;
mod inverse;
mod magnitude;
mod matrix;
mod normal;
mod notation;
mod opaque;
mod points;
mod poly;
mod powers;
mod primes;
mod quadrature;
mod quantities;
mod rational;
mod real;
mod real_set;
mod rebuild;
mod relations;
mod rounding;
mod samples;
mod scalar;
mod series;
mod sets;
mod settle;
mod solve;
mod text;
mod transcendental;
mod units;
mod verdict;

pub(crate) use cross::CROSS;
pub(crate) use normal::like_terms;
pub(crate) use points::any;
pub(crate) use samples::is_complex_name;
pub(crate) use units::is_known as is_known_unit;

pub use rational::rational_value;
pub use rounding::{Half, round_to};

use crate::{Budget, Exhausted, Expr, MathsConfig};

/// What a comparison came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the two are the same answer.
    pub equal: bool,
    /// The rule that decided, e.g. `exact-rational`.
    pub rule: &'static str,
    pub why: String,
}

/// Decides whether `response` is the same answer as `gold`.
pub fn compare(
    gold: &Expr,
    response: &Expr,
    config: &MathsConfig,
    budget: &mut Budget,
) -> Result<Decision, Exhausted> {
    budget.spend(1)?;
    Ok(answers::decide(gold, response, config, budget)?.decision())
}
