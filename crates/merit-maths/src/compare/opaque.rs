//! Parts no value can be computed for, replaced by variables of their own so that the rest can be tested: unknown
//! functions, and sums, integrals and limits that do not unroll. Equal parts, by normal form, get the same variable.

use super::atoms::Atom;
use super::normal::Normalizer;
use super::points;
use super::real::Trouble;
use super::samples;
use crate::{Budget, Constant, Exhausted, Expr, Quantifier};
use std::sync::Arc;

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Replaced {
    /// An unknown function: any two are different unless their normal forms agree.
    pub(crate) unknown: bool,
    /// A sum, integral or limit, which does have a value: two may be equal without our seeing it.
    pub(crate) quantified: bool,
}

/// The expression with such parts replaced; `None` where there are none.
pub(crate) fn without_opaque(
    expr: &Expr,
    normalizer: &mut Normalizer,
    replaced: &mut Replaced,
    budget: &mut Budget,
) -> Result<Option<Expr>, Exhausted> {
    if !points::any(expr, &mut is_opaque, budget)? {
        return Ok(None);
    }
    rewrite(expr, normalizer, replaced, budget).map(Some)
}

fn is_opaque(expr: &Expr) -> bool {
    match expr {
        Expr::Unknown(..) => true,
        Expr::Quantified { what, body, from, to, .. } => {
            let whole = |end: &Option<Box<Expr>>| matches!(end.as_deref(), Some(Expr::Num(_)));
            match what {
                Quantifier::Sum if is_endless(expr) => !whole(from) || nests(body),
                Quantifier::Sum | Quantifier::Product => !(whole(from) && whole(to)),
                Quantifier::Integral => from.is_none() || to.is_none() || nests(body),
                Quantifier::Limit => from.is_none() || nests(body),
                Quantifier::Derivative => true,
            }
        }
        _ => false,
    }
}

/// Whether a sum goes on to infinity.
pub(crate) fn is_endless(expr: &Expr) -> bool {
    let Expr::Quantified { what: Quantifier::Sum, to: Some(to), .. } = expr else { return false };
    matches!(**to, Expr::Constant(Constant::Infinity))
}

/// Whether a body has parts of its own that no value can be computed for, or that would cost too much again and again.
fn nests(body: &Expr) -> bool {
    let mut found = false;
    let mut test = |part: &Expr| {
        found |= matches!(part, Expr::Unknown(..) | Expr::Quantified { .. });
        !found
    };
    // Nested no deeper than the parser allows; the body is walked again, and paid for, when it is computed.
    let enough = crate::Limits { depth: usize::MAX, ..crate::Limits::default() };
    points::walk(body, &mut test, &mut Budget::new(enough)).is_err() || found
}

fn rewrite(
    expr: &Expr,
    normalizer: &mut Normalizer,
    replaced: &mut Replaced,
    budget: &mut Budget,
) -> Result<Expr, Exhausted> {
    if is_opaque(expr) {
        match expr {
            Expr::Unknown(..) => replaced.unknown = true,
            _ => replaced.quantified = true,
        }
        return match normalizer.of(expr, budget) {
            Ok(fraction) if fraction.as_rational().is_some() => {
                Ok(Expr::Num(fraction.as_rational().unwrap_or_default()))
            }
            Ok(fraction) => {
                let id = match fraction.single() {
                    Some((monomial, coefficient)) if monomial.len() == 1 && coefficient.is_one() => {
                        monomial[0].0
                    }
                    _ => normalizer.atoms.id(Atom::Base(fraction)).unwrap_or(u32::MAX),
                };
                Ok(Expr::Symbol(format!("part {id}").into()))
            }
            Err(Trouble::Exhausted(limit)) => Err(limit),
            Err(_) => Ok(Expr::Symbol(format!("part {:x}", samples::seed(expr)).into())),
        };
    }
    budget.deeper(|b| {
        let mut all = |parts: &[Expr], b: &mut Budget| -> Result<Vec<Expr>, Exhausted> {
            parts.iter().map(|part| rewrite(part, normalizer, replaced, b)).collect()
        };
        Ok(match expr {
            Expr::Add(parts) => Expr::Add(all(parts, b)?),
            Expr::Mul(parts) => Expr::Mul(all(parts, b)?),
            Expr::Apply(function, parts) => Expr::Apply(*function, all(parts, b)?),
            Expr::Pow(base, exponent) => {
                let base = rewrite(base, normalizer, replaced, b)?;
                Expr::Pow(Box::new(base), Box::new(rewrite(exponent, normalizer, replaced, b)?))
            }
            Expr::Quantified { what, body, variable, from, to } => Expr::Quantified {
                what: *what,
                body: Box::new(rewrite(body, normalizer, replaced, b)?),
                variable: Arc::clone(variable),
                from: from.clone(),
                to: to.clone(),
            },
            other => other.clone(),
        })
    })
}
